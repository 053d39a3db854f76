// What PostgreSQL's planner keeps of the values of columns, which whoever may read the tables can read there too.
import { withConnection } from './connect.ts';

const FOUND = `
  select tablename as "table", attname as "column" from pg_stats
  where schemaname = current_schema() and exists (
    select from unnest($1::text[]) as wanted
    where strpos(lower(coalesce(most_common_vals::text, '') || coalesce(histogram_bounds::text, '')), wanted) > 0)
  order by 1, 2`;

/**
 * The columns in whose statistics one of the texts stands, in lower case.
 * @throws DatabaseAddressError if the address is none; PostgresError if the database cannot be used
 */
export function findInStatistics(
  address: string,
  texts: readonly string[],
): Promise<{ table: string; column: string }[]> {
  return withConnection(address, 'migrating', async (connection) => {
    const array = `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
    const rows = await connection.run(FOUND, [array]);
    return rows.map(({ table, column }) => ({ table: String(table), column: String(column) }));
  });
}
