// The whole suite, as `bun run verify` runs it: on SQLite and, beside it, whatever keeps records on PostgreSQL too.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../db/store.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { type Result, runFailedAgain } from './again.ts';
import { byPlace, type EngineFiles, findTestFiles } from './files.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { addUp, closing } from './tally.ts';
import { type Run, running, runTests } from './tests-run.ts';
import { soloTasksOf, type Task, tasksOf } from './work.ts';

const ROOT = join(import.meta.dir, '../..');
// Tests wait for servers, processes and time-outs while others count: some more lines than cores keep all cores busy.
const CORES = availableParallelism();
const LINES = CORES + 3;
// Each line has some servers, and each of those a dozen connections.
const SETTINGS = { max_connections: '500', max_wal_size: '1GB', checkpoint_timeout: '1h' };

let interruption: NodeJS.Signals | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruption = signal;
    for (const child of running) child.kill(signal);
  });
}

const disk = tmpdir();
// A run that is given a folder for temporary files has them there.
const memory = process.env.TMPDIR ? null : makeMemoryFolder();
if (memory !== null) process.env.TMPDIR = memory;

// What every process starts from, made once.
const shared = mkdtempSync(join(tmpdir(), 'crm-shared-'));
const migratedFile = join(shared, 'migrated.db');
await (await openStore(migratedFile)).close();

/** A server of the run's own; null, and a word, if there cannot be one. */
async function startPostgres(): Promise<PostgresServer | null> {
  let why = 'no initdb that can be run, neither in /usr/lib/postgresql nor on the PATH';
  try {
    if (postgresPrograms !== null)
      return await PostgresServer.start({ settings: SETTINGS, keepsInitialized: true });
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  console.log(`postgresql | skipped: ${why}`);
  return null;
}

const given = process.env.CRM_TEST_DB ?? '';
const server = given === '' ? await startPostgres() : null;
const address = server?.address() ?? given;

interface Engine {
  name: string;
  /** What CRM_TEST_DB is there. */
  database: string;
  /** Where temporary files are. */
  folder: string;
  files: EngineFiles;
}

const found = findTestFiles(ROOT, process.argv.slice(2));
const databases = [
  { name: 'sqlite', database: '', files: found.sqlite },
  ...(address === '' ? [] : [{ name: 'postgresql', database: address, files: found.postgres }]),
  { name: 'servers', database: '', files: found.servers },
];
const engines: Engine[] = databases.flatMap(({ files, ...engine }) => {
  const { inMemory, onDisk } = byPlace(files);
  return [
    { ...engine, folder: memory ?? disk, files: inMemory },
    { ...engine, folder: disk, files: onDisk },
  ];
});

const results: Result<Engine>[] = [];

function run({ engine: { name, database, folder }, files }: Task<Engine>): Promise<Run> {
  const env = {
    CRM_TEST_DB: database,
    CRM_TEST_FILE: migratedFile,
    CRM_TEST_INITDB: server?.initialized ?? '',
    TMPDIR: folder,
    CRM_BIN: process.env.CRM_BIN ?? join(ROOT, 'dist/crm'),
  };
  return runTests({ name, files, env });
}

/** Runs tasks, some at a time. */
async function runAll(tasks: Iterable<Task<Engine>>, lines: number): Promise<void> {
  const left = tasks[Symbol.iterator]();
  const line = async () => {
    for (let next = left.next(); interruption === null && next.done !== true; next = left.next())
      results.push({ task: next.value, run: await run(next.value) });
  };
  await Promise.all(Array.from({ length: lines }, line));
}

const startedMs = performance.now();
try {
  const parallel = engines.map((engine) => ({ engine, files: engine.files.parallel }));
  await runAll(tasksOf(parallel, LINES), LINES);
  await runAll(soloTasksOf(engines.map((engine) => ({ engine, files: engine.files.alone }))), CORES);
  const passedAgain = interruption === null ? await runFailedAgain(results, run) : [];
  for (const { engine, files } of passedAgain)
    console.log(`${engine.name} | FAILED AT FIRST, PASSED BY THEMSELVES: ${files.join(' ')}`);
} finally {
  await server?.close();
  rmSync(shared, { recursive: true, force: true });
  if (memory !== null) rmSync(memory, { recursive: true, force: true });
}
for (const { name } of databases) {
  const ofEngine = results.filter(({ task }) => task.engine.name === name);
  const { passed, skipped, failed } = addUp(ofEngine.map(({ run: { tally } }) => tally));
  console.log(`${name} | ${passed} passed, ${skipped} skipped, ${failed} failed`);
}
const total = addUp(results.map(({ run: { tally } }) => tally));
if (interruption !== null) console.log(`ended by ${interruption}`);
else console.log(`in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
console.log(`\n${closing(total)}`);
process.exit(total.failed === 0 && interruption === null ? 0 : 1);
