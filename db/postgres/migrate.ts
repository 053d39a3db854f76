// Brings the schema up to date: one process at a time, while others may serve what was there before.
import { type Migration, Migrator } from 'kysely';
import { EXPANDING, MIGRATIONS } from '../migrations/index.ts';
import type { PostgresAddress } from './address.ts';
import type { PostgresConnection } from './connection.ts';
import { type PostgresError, sqlState, told } from './errors.ts';

// Any number that is always the same.
const LOCK = 4_209_921;
const LOCK_WAIT_MS_MAX = 30_000;
const LOCK_RETRY_MS = 100;
const DUPLICATE_TABLE = '42P07';
// A deadlock with what others write, and a table that they did not let go in time.
const IN_THE_WAY = /^(?:40P01|55P03)$/;

/** The name of the migration that a crm must know to serve the database, among its settings. */
const NEEDED = 'migration_needed';

/** What a version of crm makes of a database. */
export interface Versions {
  migrations: Readonly<Record<string, Migration>>;
  /** Those beside which a crm that does not know them can serve. */
  expanding: ReadonlySet<string>;
}

const OURS: Versions = { migrations: MIGRATIONS, expanding: EXPANDING };

/**
 * Brings the schema up to date.
 * @param create whether an empty database gets one
 * @throws PostgresError if the database is empty and is not to be filled, or needs a newer crm
 */
export async function migratePostgres(
  connection: PostgresConnection,
  address: PostgresAddress,
  create: boolean,
  versions: Versions = OURS,
): Promise<void> {
  const before = await appliedMigrations(connection);
  if (before.length === 0 && !create) {
    const nextSteps = [
      `make an organization, and the tables with it: crm init --org NAME --db '${address.shown}'`,
    ];
    throw told(address, 'has no tables of crm', nextSteps);
  }
  if (isUpToDate(before, versions)) return assertServable(connection, address, before, versions);
  const endsAt = performance.now() + LOCK_WAIT_MS_MAX;
  const isLate = () => performance.now() > endsAt;
  const isDone = () =>
    migrateAlone(connection, address, versions).catch((error) => {
      if (isLate() || !IN_THE_WAY.test(sqlState(error))) throw error;
      return false;
    });
  while (!(await isDone())) {
    if (isLate()) throw beingMigrated(address);
    await Bun.sleep(LOCK_RETRY_MS);
  }
}

function isUpToDate(applied: readonly string[], { migrations }: Versions): boolean {
  return Object.keys(migrations).every((name) => applied.includes(name));
}

async function appliedMigrations(connection: PostgresConnection): Promise<string[]> {
  const [table] = await connection.run(`select to_regclass('kysely_migration') is not null as is_there`);
  if (table?.is_there !== true) return [];
  const rows = await connection.run('select name from kysely_migration');
  return rows.map(({ name }) => String(name));
}

// A newer crm may have been here, and says which version at least can serve beside it.
async function assertServable(
  connection: PostgresConnection,
  address: PostgresAddress,
  applied: readonly string[],
  { migrations }: Versions,
): Promise<void> {
  const unknown = applied.find((name) => migrations[name] === undefined);
  if (unknown === undefined) return;
  const [row] = await connection.run('select value from settings where name = $1', [NEEDED]);
  if (migrations[String(row?.value)] !== undefined) return;
  throw told(address, `was written by a newer crm (it has the migration ${unknown})`, [
    'use the newer crm with it, or restore a backup made before the upgrade.',
  ]);
}

// False while another has the lock, which is asked for again and again: a statement has less time than that may take.
async function migrateAlone(
  connection: PostgresConnection,
  address: PostgresAddress,
  versions: Versions,
): Promise<boolean> {
  await connection.begin();
  try {
    const [row] = await connection.run('select pg_try_advisory_xact_lock($1) as is_mine', [LOCK]);
    // Whoever had the lock may have done it all.
    const applied = row?.is_mine === true ? await appliedMigrations(connection) : null;
    if (applied !== null && isUpToDate(applied, versions))
      await assertServable(connection, address, applied, versions);
    else if (applied !== null) await migrate(connection, versions);
    await connection.commit();
    return applied !== null;
  } catch (error) {
    await connection.rollback();
    throw sqlState(error) === DUPLICATE_TABLE ? otherTables(address, error) : error;
  }
}

async function migrate(connection: PostgresConnection, { migrations, expanding }: Versions): Promise<void> {
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const migrator = new Migrator({ db: connection.db, provider, disableTransactions: true });
  const { error } = await migrator.migrateToLatest();
  // What it fails with in the end may well be that nothing can be done any more.
  if (error !== undefined) throw connection.progress.failure ?? error;
  const needed = Object.keys(migrations).findLast((name) => !expanding.has(name));
  await connection.run(
    `insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    [NEEDED, needed],
  );
}

function beingMigrated(address: PostgresAddress): PostgresError {
  const nextSteps = [
    'wait until the crm that does it has finished, or see in pg_stat_activity what it waits for.',
  ];
  const seconds = LOCK_WAIT_MS_MAX / 1_000;
  return told(address, `is being brought up to date by another crm, for more than ${seconds} s`, nextSteps);
}

function otherTables(address: PostgresAddress, error: unknown): PostgresError {
  const said = error instanceof Error ? error.message : '';
  const nextSteps = ['give crm a database of its own: createdb NAME'];
  return told(address, `has tables of another program (${said})`, nextSteps, error);
}
