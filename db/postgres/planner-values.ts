// Column values in the planner's statistics, which everyone who can read the tables can read as well.

import { withConnection } from './connect.ts';
import type { PostgresConnection } from './connection.ts';

// Only values that can contain an address, plain or escaped. Statistics of an expression have the name of its index.
const FOUND = `
  select tablename as "table", attname as "column", value, relkind = 'i' as "isIndex", reltuples = 0 as "isStale"
  from pg_stats
  join pg_namespace on nspname = schemaname
  join pg_class on relname = tablename and relnamespace = pg_namespace.oid,
    unnest(most_common_vals::text::text[] || histogram_bounds::text::text[]) as value
  where schemaname = current_schema() and (value ~ '[@%&=\\\\]' or octet_length(value) > length(value))
  order by 1, 2`;

/** A value of a column, or of an expression of an index, that the statistics contain. */
export interface PlannerValue {
  table: string;
  column: string;
  value: string;
  /** Whether `table` is the name of an index. */
  isIndex: boolean;
  /** Whether it has no rows: PostgreSQL then keeps the statistics that it had. */
  isStale: boolean;
}

/**
 * The values in the statistics that a test accepts, once the tables are analyzed. Where no row is left, analyzing keeps the
 * old values, so these statistics are removed if the database lets this user do that.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export function findInPlannerStatistics(
  address: string,
  isWanted: (value: PlannerValue) => boolean,
): Promise<PlannerValue[]> {
  return withConnection(address, 'migrating', async (connection) => {
    const find = async () => ((await connection.run(FOUND)) as unknown as PlannerValue[]).filter(isWanted);
    await connection.run('analyze');
    const found = await find();
    // A table takes the statistics of its indexes with it.
    for (const one of columnsOf(found, false)) await forget(connection, one);
    for (const one of columnsOf(await find(), true)) await forget(connection, one);
    return find();
  });
}

const REMOVALS = {
  // A column loses its statistics when it gets a type, even the one that it has.
  table: `
    select format('alter table %I alter column %I type %s', $1::text, attname, format_type(atttypid, atttypmod)) ||
      coalesce((select format(' collate %I.%I', nspname, collname) from pg_collation
        join pg_namespace on pg_namespace.oid = collnamespace where pg_collation.oid = attcollation), '')
    from pg_attribute where attrelid = format('%I', $1::text)::regclass and attname = $2`,
  index: `
    select format('drop index %I', $1::text) as first, pg_get_indexdef(format('%I', $1::text)::regclass) as second
    where $2::text is not null`,
};

function columnsOf(found: readonly PlannerValue[], isIndex: boolean): Iterable<PlannerValue> {
  const stale = found.filter((one) => one.isStale && one.isIndex === isIndex);
  return new Map(stale.map((one) => [`${one.table} ${one.column}`, one])).values();
}

async function forget(
  connection: PostgresConnection,
  { table, column, isIndex }: PlannerValue,
): Promise<void> {
  const removal = isIndex ? REMOVALS.index : REMOVALS.table;
  const [row] = await connection.run(removal, [table, column]);
  if (row === undefined) return;
  await connection.begin();
  try {
    for (const statement of Object.values(row)) await connection.run(String(statement));
    await connection.commit();
  } catch {
    // Such as a view that uses the column, or another owner: the caller says what is left, and what to do.
    await connection.rollback();
  }
}
