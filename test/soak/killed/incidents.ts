// What else is under way when a server is killed: its start, a migration, an import, a backup by its schedule.
import { Database } from 'bun:sqlite';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, Migrator } from 'kysely';
import { BunSqliteDialect } from 'kysely-bun-sqlite/dist/index.js';
import * as initial from '../../../db/migrations/0001-initial.ts';
import { APPLICATION_ID } from '../../../db/sqlite/main-file.ts';
import { BINARY } from '../../support/command.ts';
import type { Random } from '../../support/random.ts';
import { type Node, runOnce } from '../service.ts';
import { ask } from './database.ts';
import type { Ledger } from './ledger.ts';

const START_MS_MAX = 250;
const ROWS = 300;
const BACKUP_MS_MAX = 60_000;
// Columns of the first tables that have other names today.
const RENAMED: Record<string, string> = { 'org_clocks.last_instant': 'instant' };

export interface KillTarget {
  db: string;
  folder: string;
  key: string;
  node: Node;
  ledger: Ledger;
}

/** Kills the server while it starts, a few times. */
export async function killInStart({ node }: KillTarget, _: number, random: Random): Promise<void> {
  for (let time = 0; time < 3; time++) {
    node.spawn();
    await Bun.sleep(random() * START_MS_MAX);
    await node.kill();
  }
}

/** Imports a file while the server is killed and started again, and at times the import too, which then resumes. */
export async function killInImport(
  { node, folder, key, db, ledger }: KillTarget,
  cycle: number,
  random: Random,
): Promise<void> {
  const file = join(folder, `import-${cycle}.csv`);
  const rows = Array.from({ length: ROWS }, (_, row) => `import ${cycle}-${row},Row ${row}`);
  await Bun.write(file, `First Name,Last Name\n${rows.join('\n')}\n`);
  const run = () =>
    Bun.spawn([BINARY, 'import', 'contacts', file, '--url', node.url, '--batch-size', '10', '--quiet'], {
      ...{ env: { CRM_API_KEY: key }, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    });
  await node.start();
  let child = run();
  await Bun.sleep(random() * 2 * START_MS_MAX);
  await node.kill();
  if (cycle % 2 === 0) {
    child.kill('SIGKILL');
    await child.exited;
    await node.start();
    child = run();
  } else await node.start();
  const [said, code] = [await new Response(child.stderr as ReadableStream).text(), await child.exited];
  await node.kill();
  if (code !== 0) ledger.note(`import ${cycle}: exit code ${code}: ${said}`);
  const of = `from contacts where first_name like 'import ${cycle}-%'`;
  const [found] = await ask(db, `select count(*) as rows, count(distinct first_name) as names ${of}`);
  if (Number(found?.names) < ROWS) ledger.lost += 1;
  if (Number(found?.rows) > ROWS) ledger.doubled += 1;
  if (Number(found?.rows) !== ROWS) ledger.note(`import ${cycle}: ${JSON.stringify(found)}`);
  ledger.acknowledged += ROWS;
}

/** Kills the server amid the backup that it makes as it starts: what lies there then is whole. */
export async function killInBackup(
  { node, folder, db, ledger }: KillTarget,
  cycle: number,
  random: Random,
): Promise<void> {
  const backups = join(folder, `backups-${cycle}`);
  mkdirSync(backups);
  const before = Number((await ask(db, 'select count(*) as rows from contacts'))[0]?.rows);
  await node.start(['--backup-every', '1m', '--backup-dir', backups]);
  await Bun.sleep(random() * 2 * START_MS_MAX);
  await node.kill();
  // The backup is a process of its own, and may go on to its end.
  const until = performance.now() + BACKUP_MS_MAX;
  const isUnderWay = () => [...new Bun.Glob('.*part*').scanSync({ cwd: backups, dot: true })].length > 0;
  for (let quiet = 0; quiet < 10 && performance.now() < until; quiet++) {
    if (isUnderWay()) quiet = 0;
    await Bun.sleep(20);
  }
  for (const name of new Bun.Glob('crm-*.db').scanSync(backups)) {
    const restored = join(backups, 'restored.db');
    await runOnce(['restore', join(backups, name), '--confirm', '--db', restored]);
    const rows = Number((await ask(restored, 'select count(*) as rows from contacts'))[0]?.rows);
    if (rows < before) ledger.note(`backup ${cycle}: ${rows} contacts of ${before}`);
  }
  rmSync(backups, { recursive: true });
}

/** Kills a server while it brings an older database up to date: then that is whole, and has all that it had. */
export async function killInMigration(
  { folder, db, ledger }: KillTarget,
  start: (db: string) => Promise<Node>,
  random: Random,
): Promise<void> {
  const older = join(folder, 'older.db');
  if (!existsSync(older)) await makeOlder(older, db);
  const copy = join(folder, 'migrated.db');
  for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
  copyFileSync(older, copy);
  const node = await start(copy);
  for (let time = 0; time < 4; time++) {
    node.spawn();
    await Bun.sleep(random() * START_MS_MAX);
    await node.kill();
  }
  await node.start();
  await node.kill();
  for (const table of ['contacts', 'pipeline_stages', 'idempotency_keys', 'api_keys', 'organizations']) {
    const count = `select count(*) as rows from ${table}`;
    const [was, is] = [(await ask(older, count))[0]?.rows, (await ask(copy, count))[0]?.rows];
    if (was !== is) ledger.note(`migration: ${is} rows of ${was} in ${table}`);
  }
}

// As the first crm had it: its tables alone, with what stands in those of today.
async function makeOlder(older: string, db: string): Promise<void> {
  const database = new Database(older, { create: true });
  const kysely = new Kysely<unknown>({ dialect: new BunSqliteDialect({ database }) });
  const provider = { getMigrations: async () => ({ '0001-initial': initial }) };
  const { error } = await new Migrator({ db: kysely, provider }).migrateToLatest();
  if (error !== undefined) throw error;
  database.run(`pragma application_id = ${APPLICATION_ID}`);
  database.run('pragma foreign_keys = off');
  database.run(`attach '${db}' as new`);
  const tables = database.query(
    `select name from sqlite_master where type = 'table' and name not like 'kysely%'`,
  );
  const columnsOf = (schema: 'main' | 'new', table: string) =>
    database
      .query(`select name from pragma_table_info('${table}', '${schema}')`)
      .all()
      .map((column) => (column as { name: string }).name);
  for (const { name } of tables.all() as { name: string }[]) {
    const [older, newer] = [columnsOf('main', name), new Set(columnsOf('new', name))];
    const values = older.map((column) => {
      const now = RENAMED[`${name}.${column}`] ?? column;
      if (!newer.has(now)) throw new Error(`${name}.${column} has another name today; add it to RENAMED`);
      return now;
    });
    database.run(`insert or ignore into ${name} (${older}) select ${values} from new.${name}`);
  }
  database.run('detach new');
  await kysely.destroy();
}
