// Removes an organization with all its rows, piece by piece, while servers use the database.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { changeOrganizationRow } from '../engine/organization-state.ts';
import type { OrganizationRow, Trx } from '../engine/schema.ts';
import { listTables, type TableShape } from '../maintenance.ts';
import type { Store } from '../store.ts';

// Entries of the audit log stay. So does the row of the clock, without any name: it keeps the number from being given
// again, and refuses what a request that began before the removal still wants to create.
const KEPT = ['audit_log', 'org_clocks'];

const ROWS_FIRST = 50;
const ROWS_MAX = 5_000;
// Requests of other organizations wait while a piece is removed, and have as long for themselves after it.
const PIECE_MS = 15;

export interface RemovalOptions {
  /** Receives the number of rows removed since the last call. */
  onProgress: (rows: number) => void;
  /** Runs in the transaction that removes the organization itself. */
  finish: (trx: Trx, rows: number) => Promise<void>;
}

/**
 * Removes an organization: first what its keys can do, last itself. After an interruption, running it again completes
 * the rest.
 */
export async function removeOrganization(
  store: Store,
  org: Pick<OrganizationRow, 'number' | 'id'>,
  { onProgress, finish }: RemovalOptions,
): Promise<void> {
  const tables = await tablesOfOrganizations();
  await store.write(org.number, (trx) => closeOrganization(trx, org.number));
  let total = 0;
  for (const table of tables) {
    await removePieces(store, org.number, table, (rows) => {
      total += rows;
      onProgress(rows);
    });
  }
  await store.write(org.number, async (trx) => {
    // What requests and background work wrote in the meantime.
    for (const { name } of tables)
      await sql`delete from ${sql.table(name)} where org_id = ${org.number}`.execute(trx);
    await trx.deleteFrom('organizations').where('number', '=', org.number).execute();
    await finish(trx, total);
  });
}

/** The number of rows of an organization in all tables. */
export async function countOrganizationRows(read: Store['read'], orgNumber: number): Promise<number> {
  let total = 0;
  for (const { name } of await tablesOfOrganizations()) {
    const counting = sql<{
      rows: number;
    }>`select count(*) as rows from ${sql.table(name)} where org_id = ${orgNumber}`;
    const { rows } = await counting.execute(read);
    total += Number(rows[0]?.rows ?? 0);
  }
  return total;
}

// In the order in which they can be emptied: each before those that it refers to.
async function tablesOfOrganizations(): Promise<TableShape[]> {
  const all = await listTables();
  return all.filter(({ name, columns }) => columns.includes('org_id') && !KEPT.includes(name)).toReversed();
}

// No key works any more, and nothing can be created.
async function closeOrganization(trx: Trx, orgNumber: number): Promise<void> {
  await trx.deleteFrom('api_key_secrets').where('org_id', '=', orgNumber).execute();
  const set = { count_id: null, records: 0, bytes: 0, records_max: 0, bytes_max: 0, answer_bytes: null };
  await changeOrganizationRow(trx, orgNumber, () =>
    trx.updateTable('org_clocks').set(set).where('org_id', '=', orgNumber).execute(),
  );
}

async function removePieces(
  store: Store,
  orgNumber: number,
  table: TableShape,
  onRemoved: (rows: number) => void,
): Promise<void> {
  for (const column of table.selfReferences) {
    const name = sql.ref(column);
    const rows = sql`${name} is not null`;
    const act = sql`update ${sql.table(table.name)} set ${name} = null`;
    await inPieces(store, orgNumber, { table, act, rows });
  }
  const act = sql`delete from ${sql.table(table.name)}`;
  await inPieces(store, orgNumber, { table, act, rows: sql`true` }, onRemoved);
}

type Fragment = ReturnType<typeof sql>;

async function inPieces(
  store: Store,
  orgNumber: number,
  { table, act, rows }: { table: TableShape; act: Fragment; rows: Fragment },
  onDone: (rows: number) => void = () => {},
): Promise<void> {
  const key = sql.join(table.key.map((column) => sql.ref(column)));
  for (let limit = ROWS_FIRST; ; ) {
    const some = sql`select ${key} from ${sql.table(table.name)} where org_id = ${orgNumber} and ${rows} limit ${limit}`;
    const startedAt = performance.now();
    const done = await store.write(orgNumber, async (trx) => {
      const { numAffectedRows = 0n } = await sql`${act} where (${key}) in (${some})`.execute(trx);
      return Number(numAffectedRows);
    });
    onDone(done);
    if (done < limit) return;
    const tookMs = performance.now() - startedAt;
    limit = tookMs < PIECE_MS ? Math.min(ROWS_MAX, limit * 2) : Math.max(1, Math.floor(limit / 2));
    await sleep(Math.max(1, tookMs));
  }
}
