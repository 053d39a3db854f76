// Column values in the planner's statistics, which everyone who can read the tables can read as well.
import { withConnection } from './connect.ts';

const FOUND = `
  select tablename as "table", attname as "column", value
  from pg_stats, unnest(most_common_vals::text::text[] || histogram_bounds::text::text[]) as value
  where schemaname = current_schema() and exists (
    select from unnest($1::text[]) as wanted where strpos(lower(value), wanted) > 0)
  order by 1, 2`;

/** A value of a column that the statistics contain. */
export interface PlannerValue {
  table: string;
  column: string;
  value: string;
}

/**
 * The values in the statistics that contain one of the texts, in lower case.
 * @throws DatabaseAddressError if the URL is not valid; PostgresError if the database cannot be used
 */
export function findInPlannerStatistics(address: string, texts: readonly string[]): Promise<PlannerValue[]> {
  return withConnection(address, 'migrating', async (connection) => {
    const array = `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
    const rows = await connection.run(FOUND, [array]);
    return rows.map(({ table, column, value }) => ({
      table: String(table),
      column: String(column),
      value: String(value),
    }));
  });
}
