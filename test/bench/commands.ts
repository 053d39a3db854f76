// Operations that are commands of crm: the export of all contacts, and the import of a CSV of new ones.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation, RoundResult, Server } from './operation.ts';
import { cpuMicros } from './process.ts';
import { addressOf, nextSerial, phoneOf } from './seed.ts';

type Prepare = Operation['prepare'];

const NEWLINE = 0x0a;
// Of what is there: a round then takes about a second.
const IMPORTED_SHARE = 0.1;
const HEADER = 'Email,First Name,Last Name,Job Title,Phone';

/** Exports all contacts as NDJSON. */
export const exports: Prepare = (server) => async () => {
  const file = join(server.build.folder, 'contacts.ndjson');
  const ended = await run(server, ['export', 'contacts', '--out', file]);
  const bytes = await Bun.file(file).bytes();
  rmSync(file);
  return ended(bytes.reduce((rows, byte) => (byte === NEWLINE ? rows + 1 : rows), 0));
};

/** Imports contacts that are not there from a CSV. */
export const imports: Prepare = (server) => async () => {
  const rows = Math.ceil(server.seeds.contacts.length * IMPORTED_SHARE);
  const lines = Array.from({ length: rows }, () => {
    const number = nextSerial();
    return `${addressOf(number)},First${number},Last${number},Engineer,${phoneOf(number)}\n`;
  });
  const file = join(server.build.folder, `${nextSerial()}.csv`);
  await Bun.write(file, `${HEADER}\n${lines.join('')}`);
  const ended = await run(server, ['import', 'contacts', file]);
  return ended(rows);
};

/** Runs a command against a server; what it gives tells what that cost, once the rows are counted. */
async function run(
  { build, port, pid }: Server,
  args: readonly string[],
): Promise<(rows: number) => RoundResult> {
  const env = { CRM_URL: `http://127.0.0.1:${port}`, CRM_API_KEY: build.key, HOME: build.folder };
  const cpuBefore = cpuMicros(pid);
  const startedAt = performance.now();
  const child = Bun.spawn([build.binary, ...args], {
    env,
    cwd: build.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [code, stderr] = await Promise.all([child.exited, child.stderr.text()]);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = cpuMicros(pid) - cpuBefore;
  if (code !== 0) throw new Error(`crm ${args.join(' ')} ended with ${code}: ${stderr}`);
  const own = Number(child.resourceUsage()?.cpuTime.total ?? 0);
  return (rows) => ({
    count: rows,
    perSecond: rows / seconds,
    cpuMicros: cpu / rows,
    clientCpuMicros: own / rows,
    latency: undefined,
    bodyBytes: 0,
    failure: undefined,
  });
}
