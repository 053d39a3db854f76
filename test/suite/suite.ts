// The whole suite, as `bun run verify` runs it: on SQLite and, beside it, whatever keeps records on PostgreSQL too.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { findTestFiles, timings } from './files.ts';
import { addUp, closing, type Tally } from './tally.ts';
import { running, runTests } from './tests-run.ts';

const ROOT = join(import.meta.dir, '../..');
// Tests wait for servers, processes and time-outs more than they count: with two at a time on each engine, two cores are busy.
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

/** Has the server that CRM_TEST_DB names, or one made for it, as long as the job takes; none if there cannot be one. */
async function withPostgres(job: (address: string) => Promise<Tally>): Promise<Tally> {
  const given = process.env.CRM_TEST_DB ?? '';
  if (given !== '') return job(given);
  const skip = (why: string): Tally => {
    console.log(`postgresql | skipped: ${why}`);
    return addUp([]);
  };
  if (postgresPrograms === null)
    return skip('no initdb that can be run, neither in /usr/lib/postgresql nor on the PATH');
  let server: PostgresServer;
  try {
    server = await PostgresServer.start({ settings: SETTINGS });
  } catch (error) {
    return skip(error instanceof Error ? error.message : String(error));
  }
  try {
    return await job(server.address());
  } finally {
    await server.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'crm-suite-'));
const timingsPath = join(folder, 'timings.json');
writeFileSync(timingsPath, timings());

const files = findTestFiles(ROOT, process.argv.slice(2));
const env = { CRM_TEST_DB: '', CRM_BIN: process.env.CRM_BIN ?? join(ROOT, 'dist/crm') };
const beside = { workers: WORKERS, timings: timingsPath, env };
const tallies = await Promise.all([
  runTests({ ...beside, name: 'sqlite', files: files.sqlite }),
  withPostgres(async (address) => {
    if (interruption !== null) return addUp([]);
    const onPostgres = { ...env, CRM_TEST_DB: address };
    return runTests({ ...beside, name: 'postgresql', files: files.postgres, env: onPostgres });
  }),
]);
if (interruption === null)
  tallies.push(await runTests({ ...beside, name: 'quiet', files: files.quiet, workers: 1 }));

rmSync(folder, { recursive: true });
const total = addUp(tallies);
if (interruption !== null) console.log(`ended by ${interruption}`);
console.log(`\n${closing(total)}`);
process.exit(total.failed === 0 && interruption === null ? 0 : 1);
