// Updates the schema: one process at a time, while others can still serve the previous one.
import { type Migration, Migrator } from 'kysely';
import { EXPANDING, MIGRATIONS } from '../migrations/index.ts';
import type { PostgresAddress } from './address.ts';
import type { PostgresConnection } from './connection.ts';
import { type PostgresError, postgresError, sqlState } from './errors.ts';

// Any number that never changes.
const LOCK = 4_209_921;
const LOCK_WAIT_MS_MAX = 30_000;
const LOCK_RETRY_MS = 100;
const DUPLICATE_TABLE = '42P07';
// A deadlock with other writers, or a table that they locked for too long.
const IN_THE_WAY = /^(?:40P01|55P03)$/;

/** The setting with the migration that a crm must know to serve the database. */
const NEEDED = 'migration_needed';

/** The migrations of a version of crm. */
export interface Versions {
  migrations: Readonly<Record<string, Migration>>;
  /** Migrations that a crm without them can ignore. */
  expanding: ReadonlySet<string>;
}

const OURS: Versions = { migrations: MIGRATIONS, expanding: EXPANDING };

/**
 * Updates the schema.
 * @param create whether an empty database gets one
 * @throws PostgresError if the database is empty and must not be filled, or needs a newer crm
 */
export async function migratePostgres(
  connection: PostgresConnection,
  address: PostgresAddress,
  create: boolean,
  versions: Versions = OURS,
): Promise<void> {
  const before = await appliedMigrations(connection);
  if (before.length === 0 && !create) {
    const nextSteps = [`create an organization and the tables: crm init --org NAME --db '${address.shown}'`];
    throw postgresError(address, 'does not contain crm tables', nextSteps);
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

// A newer crm could have been here; its setting says which version is needed.
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
  throw postgresError(address, `was written by a newer crm (it has the migration ${unknown})`, [
    'use the newer crm, or restore a backup made before the upgrade.',
  ]);
}

// False while another process has the lock; asked repeatedly, because a statement may not wait as long as that takes.
async function migrateAlone(
  connection: PostgresConnection,
  address: PostgresAddress,
  versions: Versions,
): Promise<boolean> {
  await connection.begin();
  try {
    const [row] = await connection.run('select pg_try_advisory_xact_lock($1) as is_mine', [LOCK]);
    // The previous holder of the lock could have done everything.
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
  // The final error can be a consequence of the first.
  if (error !== undefined) throw connection.progress.failure ?? error;
  const needed = Object.keys(migrations).findLast((name) => !expanding.has(name));
  await connection.run(
    `insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    [NEEDED, needed],
  );
}

function beingMigrated(address: PostgresAddress): PostgresError {
  const nextSteps = ['wait until that crm has finished, or check in pg_stat_activity what it waits for.'];
  const seconds = LOCK_WAIT_MS_MAX / 1_000;
  return postgresError(
    address,
    `is locked by another crm that has been updating its schema for more than ${seconds} s`,
    nextSteps,
  );
}

function otherTables(address: PostgresAddress, error: unknown): PostgresError {
  const said = error instanceof Error ? error.message : '';
  const nextSteps = ['create a separate database for crm: createdb NAME'];
  return postgresError(address, `contains tables of another program (${said})`, nextSteps, error);
}
