// `bun run soak:imports`: imports that are killed at any moment and run again, and what memory large ones take.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { KINDS, type Kind, writeRows } from './imported/files.ts';
import { killImport } from './imported/kills.ts';
import { startImport } from './imported/run.ts';
import { NO_LIMITS, Node, runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:imports [--imports N] [--rows N] [--seed N] [--memory N] [--only kills|memory] [--postgres]
  --imports   how many imports are killed (10)
  --rows      rows of each (50000)
  --seed      of the moments at which they are (1)
  --memory    rows of the large file, whose memory is checked against that of a tenth of them (300000)
  --only      one of the two
  --postgres  on a PostgreSQL server of its own`;

const KILL_MS_PER_ROW = 0.3;
const MEMORY_RATIO_MAX = 1.3;
const MIB = 1_024 * 1_024;

interface Service {
  db: string;
  node: Node;
  folder: string;
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      imports: { ...text, default: '10' },
      rows: { ...text, default: '50000' },
      seed: { ...text, default: '1' },
      memory: { ...text, default: '300000' },
      only: text,
      ...{ postgres: flag, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  const [imports, rows, seed, large] = [values.imports, values.rows, values.seed, values.memory].map(Number);
  console.log(`${BINARY}: ${await runOnce(['version'])}`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  let node: Node | null = null;
  try {
    const db = server?.address() ?? join(folder, 'crm.db');
    await runOnce(['init', '--org', 'Imports', '--db', db]);
    node = await Node.start(db, NO_LIMITS);
    const service = { db, node, folder };
    if (values.only !== 'memory') await killAll(service, imports ?? 0, rows ?? 0, seed ?? 0);
    if (values.only !== 'kills') await compareMemory(service, large ?? 0);
  } finally {
    await node?.kill();
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

async function newOrganization(
  { db, folder }: Service,
  name: string,
): Promise<{ key: string; folder: string }> {
  await runOnce(['orgs', 'create', name, '--db', db]);
  const key = await runOnce(['keys', 'issue', '--org', name, '--all-scopes', '--db', db]);
  const own = join(folder, name);
  mkdirSync(own);
  return { key, folder: own };
}

async function killAll(service: Service, imports: number, rows: number, seed: number): Promise<void> {
  for (let number = 0; number < imports; number++) {
    const kind = KINDS[number % KINDS.length] as Kind;
    const place = await newOrganization(service, `import-${number}`);
    const startedAt = performance.now();
    const trial = { ...place, node: service.node, kind, rows, killMsMax: rows * KILL_MS_PER_ROW };
    const { kills, serverKills, faults } = await killImport({ ...trial, seed: seed * 1_000 + number });
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const told = `${rows} rows, killed ${kills} times, the server ${serverKills} times; ${faults.length} faults; ${seconds} s`;
    report(`${kind.name} (${number + 1})`, faults.length === 0, told);
    show(faults);
  }
}

async function compareMemory(service: Service, rows: number): Promise<void> {
  for (const kind of [KINDS[0], KINDS[3]] as [Kind, Kind]) {
    for (const isOnTerminal of [false, true]) {
      const peaks: number[] = [];
      for (const count of [rows / 10, rows]) {
        const where = isOnTerminal ? 'terminal' : 'pipe';
        const place = await newOrganization(service, `memory-${kind.name}-${where}-${count}`);
        await writeRows(join(place.folder, kind.name), kind, count);
        const { url } = service.node;
        // --yes leaves out the screen with the mapping.
        const args = ['import', kind.resource, kind.name, ...kind.args, '--yes'];
        const { code, said, memoryMax } = await startImport(args, { ...place, url, isOnTerminal }).ended;
        if (code !== 3) report(kind.name, false, `ended with ${code}: ${said}`);
        peaks.push(memoryMax / MIB);
      }
      const [small = 0, large = 0] = peaks;
      const told = `${small.toFixed(0)} MiB for ${rows / 10} rows, ${large.toFixed(0)} MiB for ${rows}`;
      const name = `memory, ${kind.name}, ${isOnTerminal ? 'terminal' : 'pipe'}`;
      report(name, large <= MEMORY_RATIO_MAX * small, `${told}: ${(large / small).toFixed(2)} times`);
    }
  }
}

await main();
