// What SQLite's planner is to assume of every database: an organization with a million records. By itself it assumes ten.
import type { Connection } from './connection.ts';

const ROWS = 1_000_000;
// Rows of an index of what most records leave empty, as dates are that lists look for by range.
const ROWS_WITH_VALUE = 10_000;
// Rows with one value of a column: of one that has an index for lists by updated_at, as owners have, and of any other.
const ROWS_OF_MANY = 10_000;
const ROWS_OF_FEW = 10;

interface Index {
  tableName: string;
  /** As the statistics know it: that of a table without rowid goes by the table's name. */
  name: string;
  /** An expression, by which the key of a field is looked up, has no name. */
  columns: string[];
  /** Whether it leaves out rows whose column is null. */
  isPartial: boolean;
}

/**
 * Writes the statistics by which plans are made, the same for every database: with those of ANALYZE, or none, lists would
 * be searched by whatever suits the rows of the day, and gone through in their order where a filter has an index.
 */
export function tellPlanner(writer: Connection): void {
  writer.run('ANALYZE sqlite_schema');
  writer.run('DELETE FROM sqlite_stat1');
  const indexes = indexesOf(writer);
  const many = new Set(
    indexes.filter(({ columns }) => columns[2] === 'updated_at').map(({ columns }) => columns[1] ?? ''),
  );
  for (const { tableName, name, columns, isPartial } of indexes) {
    const all = isPartial && !many.has(columns[1] ?? '') ? ROWS_WITH_VALUE : ROWS;
    const rows = columns.map((column, place) => {
      if (column === 'org_id') return all;
      if (place === columns.length - 1) return 1;
      return many.has(column) ? ROWS_OF_MANY : ROWS_OF_FEW;
    });
    const values = [tableName, name, [all, ...rows].join(' ')];
    writer.run('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)', values);
  }
  // Reads them.
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
