// `bun run bench`: the compiled service against a bare server, both in this run, in turns; what counts are the ratios.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpRequest, type LoadResult, runLoad } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DURATION_MS = Number(process.env.BENCH_MS ?? 1_500);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 32);
const SEED_BATCHES = 20;

interface Target {
  name: string;
  port: number;
  key: string;
  root: string;
  ids: string[];
  stop: () => void;
}

let serial = 0;

function contact(): string {
  const number = ++serial;
  const [first_name, last_name] = [`First${number}`, `Last${number}`];
  return JSON.stringify({
    email: `p${number}-${process.pid}@bench.example`,
    first_name,
    last_name,
    title: 'Engineer',
  });
}

const batch = () => `[${Array.from({ length: 100 }, contact).join(',')}]`;
const pick = (ids: string[]) => ids[Math.floor(Math.random() * ids.length)];

const JOBS: [name: string, request: (target: Target) => string][] = [
  ['GET by id', ({ root, key, ids }) => httpRequest('GET', `${root}/contacts/${pick(ids)}`, key)],
  ['list 100', ({ root, key }) => httpRequest('GET', `${root}/contacts?limit=100`, key)],
  ['create', ({ root, key }) => httpRequest('POST', `${root}/contacts`, key, contact())],
  ['batch of 100', ({ root, key }) => httpRequest('POST', `${root}/contacts/batch`, key, batch())],
];

async function startService(folder: string): Promise<Target> {
  const binary = process.env.CRM_BIN ?? join(import.meta.dir, '../../dist/crm');
  const db = join(folder, 'crm.db');
  const init = Bun.spawnSync([binary, 'init', '--org', 'Bench', '--db', db]);
  const key = init.stdout.toString().trim();
  const port = freePort();
  const limits = ['--key-limit', '100000000', '--org-limit', '100000000'];
  const child = Bun.spawn([binary, 'serve', '--db', db, '--port', String(port), '--log', 'off', ...limits], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(port);
  return seeded({ name: 'crm', port, key, root: '/api/v2', ids: [], stop: () => child.kill('SIGKILL') });
}

async function startBare(folder: string): Promise<Target> {
  const port = freePort();
  const script = join(import.meta.dir, 'bare.ts');
  const child = Bun.spawn([process.execPath, script, join(folder, 'bare.db'), String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(port);
  return seeded({ name: 'bare', port, key: 'none', root: '', ids: [], stop: () => child.kill('SIGKILL') });
}

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  probe.stop(true);
  return probe.port;
}

async function untilReady(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer !== undefined) return;
    await Bun.sleep(25);
  }
  throw new Error(`nothing answers on port ${port}`);
}

async function seeded(target: Target): Promise<Target> {
  const url = `http://127.0.0.1:${target.port}${target.root}/contacts`;
  const headers = { Authorization: `Bearer ${target.key}`, 'Content-Type': 'application/json' };
  for (let round = 0; round < SEED_BATCHES; round++) {
    const answer = await fetch(`${url}/batch`, { method: 'POST', headers, body: batch() });
    if (!answer.ok) throw new Error(`seeding ${target.name} failed: ${await answer.text()}`);
  }
  const page = (await (await fetch(`${url}?limit=200`, { headers })).json()) as { data: { id: string }[] };
  return { ...target, ids: page.data.map((row) => row.id) };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function measure(
  target: Target,
  request: (target: Target) => string,
  durationMs: number,
): Promise<LoadResult> {
  return runLoad({ port: target.port, next: () => request(target), connections: CONNECTIONS, durationMs });
}

async function compare(name: string, request: (target: Target) => string, service: Target, bare: Target) {
  const results: Record<string, LoadResult[]> = { crm: [], bare: [] };
  for (const target of [service, bare]) await measure(target, request, DURATION_MS / 3);
  for (let round = 0; round < ROUNDS; round++) {
    // Turn and turn about, so that a slow moment of the machine harms both.
    for (const target of round % 2 === 0 ? [service, bare] : [bare, service]) {
      results[target.name]?.push(await measure(target, request, DURATION_MS));
    }
  }
  const { crm = [], bare: plain = [] } = results;
  const ratios = crm.map((one, round) => one.requestsPerSecond / (plain[round]?.requestsPerSecond ?? 1));
  const failures = [...crm, ...plain].reduce((sum, one) => sum + one.failures, 0);
  const rate = (all: LoadResult[]) => Math.round(median(all.map((one) => one.requestsPerSecond)));
  console.log(
    [
      name.padEnd(13),
      String(rate(crm)).padStart(9),
      String(rate(plain)).padStart(9),
      median(ratios).toFixed(2).padStart(7),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`.padStart(12),
      median(crm.map((one) => one.p50))
        .toFixed(2)
        .padStart(9),
      median(crm.map((one) => one.p99))
        .toFixed(2)
        .padStart(9),
      failures === 0 ? '' : `  ${failures} failed`,
    ].join(''),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'crm-bench-'));
const service = await startService(folder);
const bare = await startBare(folder);
try {
  console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${DURATION_MS} ms; requests/s, median\n`);
  console.log('                   crm     bare  ratio     min–max  p50 ms   p99 ms');
  for (const [name, request] of JOBS) await compare(name, request, service, bare);
} finally {
  service.stop();
  bare.stop();
  rmSync(folder, { recursive: true, force: true });
}
