// Column values in the planner's statistics, which everyone who can read the tables can read as well.
import { withConnection } from './connect.ts';

const FOUND = `
  select tablename as "table", attname as "column" from pg_stats
  where schemaname = current_schema() and exists (
    select from unnest($1::text[]) as wanted
    where strpos(lower(coalesce(most_common_vals::text, '') || coalesce(histogram_bounds::text, '')), wanted) > 0)
  order by 1, 2`;

/**
 * The columns whose statistics contain one of the texts, in lower case.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export function findInPlannerStatistics(
  address: string,
  texts: readonly string[],
): Promise<{ table: string; column: string }[]> {
  return withConnection(address, 'migrating', async (connection) => {
    const array = `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
    const rows = await connection.run(FOUND, [array]);
    return rows.map(({ table, column }) => ({ table: String(table), column: String(column) }));
  });
}
