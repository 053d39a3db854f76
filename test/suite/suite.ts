// The whole suite, as `bun run verify` runs it: on SQLite and, beside it, whatever keeps records on PostgreSQL too.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { type EngineFiles, findTestFiles, timings } from './files.ts';
import { addUp, closing, type Tally } from './tally.ts';
import { running, runTests } from './tests-run.ts';

const ROOT = join(import.meta.dir, '../..');
// Tests wait for servers, processes and time-outs more than they count: two at a time in each line keep two cores busy.
const WORKERS = 2;
// Each worker has some servers, and each of those a dozen connections.
const SETTINGS = { max_connections: '500', max_wal_size: '4GB', checkpoint_timeout: '1h' };

let interruption: NodeJS.Signals | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruption = signal;
    for (const child of running) child.kill(signal);
  });
}

/** A server of the run's own; null, and a word, if there cannot be one. */
async function startPostgres(): Promise<PostgresServer | null> {
  let why = 'no initdb that can be run, neither in /usr/lib/postgresql nor on the PATH';
  try {
    if (postgresPrograms !== null) return await PostgresServer.start({ settings: SETTINGS });
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  console.log(`postgresql | skipped: ${why}`);
  return null;
}

const given = process.env.CRM_TEST_DB ?? '';
const server = given === '' ? await startPostgres() : null;
const address = server?.address() ?? given;

const folder = mkdtempSync(join(tmpdir(), 'crm-suite-'));
interface Engine {
  name: string;
  /** What CRM_TEST_DB is there. */
  database: string;
  files: EngineFiles;
}

const found = findTestFiles(ROOT, process.argv.slice(2));
const timingsPath = join(folder, 'timings.json');
writeFileSync(timingsPath, timings(Object.values(found).flatMap(({ parallel }) => parallel)));
const sqlite: Engine = { name: 'sqlite', database: '', files: found.sqlite };
const servers: Engine = { name: 'servers', database: '', files: found.servers };
const postgres: Engine[] =
  address === '' ? [] : [{ name: 'postgresql', database: address, files: found.postgres }];
// Those of a line one after another, which takes both lines about as long.
const lines: Engine[][] = [[sqlite], [...postgres, servers]];

async function run({ name, database }: Engine, files: readonly string[], workers: number): Promise<Tally> {
  if (interruption !== null) return addUp([]);
  const env = { CRM_TEST_DB: database, CRM_BIN: process.env.CRM_BIN ?? join(ROOT, 'dist/crm') };
  return runTests({ name, files, workers, timings: timingsPath, env });
}

const tallies: Tally[] = [];
try {
  await Promise.all(
    lines.map(async (line) => {
      for (const engine of line) tallies.push(await run(engine, engine.files.parallel, WORKERS));
    }),
  );
  for (const engine of lines.flat()) tallies.push(await run(engine, engine.files.alone, 1));
} finally {
  rmSync(folder, { recursive: true });
  await server?.close();
}
const total = addUp(tallies);
if (interruption !== null) console.log(`ended by ${interruption}`);
console.log(`\n${closing(total)}`);
process.exit(total.failed === 0 && interruption === null ? 0 : 1);
