// Makes SQLite's planner assume an organization with a million records in every database; by default it assumes ten.
import type { Connection } from './connection.ts';

const ROWS = 1_000_000;
// Rows of an index on a column that most records leave empty, such as dates that lists filter by range.
const ROWS_WITH_VALUE = 10_000;
// Columns that have the same value in all rows of an organization, or in many of them.
const OF_ALL = new Set(['org_id', 'resource']);
const OF_MANY = ['source'];
// Rows with the same value of a column: of one with an index for lists by updated_at, such as owners, and of any other.
const ROWS_OF_MANY = 10_000;
const ROWS_OF_FEW = 10;

interface Index {
  tableName: string;
  /** The name in the statistics: for a table without rowid, the table's name. */
  name: string;
  /** An expression, used to look up a field by its key, has no name. */
  columns: string[];
  /** Whether it leaves out rows whose column is null. */
  isPartial: boolean;
}

/**
 * Writes the planner's statistics, the same for every database: with those of ANALYZE, or none, the plans of lists would
 * depend on the current rows, and could scan everything in order although a filter has an index.
 */
export function setPlannerStatistics(writer: Connection): void {
  writer.run('ANALYZE sqlite_schema');
  writer.run('DELETE FROM sqlite_stat1');
  const indexes = indexesOf(writer);
  const many = new Set([
    ...OF_MANY,
    ...indexes.filter(({ columns }) => columns[2] === 'updated_at').map(({ columns }) => columns[1] ?? ''),
  ]);
  for (const { tableName, name, columns, isPartial } of indexes) {
    const all = isPartial && !many.has(columns[1] ?? '') ? ROWS_WITH_VALUE : ROWS;
    const rows = columns.map((column, place) => {
      if (OF_ALL.has(column)) return all;
      if (place === columns.length - 1) return 1;
      return many.has(column) ? ROWS_OF_MANY : ROWS_OF_FEW;
    });
    const values = [tableName, name, [all, ...rows].join(' ')];
    writer.run('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)', values);
  }
  // Loads them.
  writer.run('ANALYZE sqlite_schema');
}

function indexesOf(writer: Connection): Index[] {
  const indexes = writer.prepare<{ tableName: string; name: string; columns: string; partial: number }, []>(`
    SELECT t.name AS tableName, iif(i.origin = 'pk' AND t.wr, t.name, i.name) AS name, i.partial,
      (SELECT group_concat(coalesce(c.name, '(key)'), ' ' ORDER BY c.seqno) FROM pragma_index_info(i.name) AS c) AS columns
    FROM pragma_table_list AS t, pragma_index_list(t.name) AS i
    WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!'
  `);
  return indexes.all().map(({ columns, partial, ...index }) => ({
    ...index,
    columns: columns.split(' '),
    isPartial: partial === 1,
  }));
}
