// What tables a database of crm has, whatever its engine: asked of an empty one in memory, which the same migrations made.
import { Migrator } from 'kysely';
import { MIGRATIONS } from '../migrations/index.ts';
import { Connection } from './connection.ts';

export interface TableShape {
  name: string;
  columns: readonly string[];
  /** The columns of its primary key, in their order. */
  key: readonly string[];
  /** Columns that hold the id of another row of the table. */
  selfReferences: readonly string[];
}

/** All tables in the order in which they were made, so that each comes after those that it refers to. */
export async function listTables(): Promise<TableShape[]> {
  return withNewDatabase(tablesOf);
}

/** What the migrations make: the names of all indexes, and how many migrations there are. */
export async function shapeOfSchema(): Promise<{ indexes: string[]; migrations: number }> {
  const indexes = await withNewDatabase(indexesOf);
  return { indexes, migrations: Object.keys(MIGRATIONS).length };
}

async function withNewDatabase<T>(look: (connection: Connection) => T): Promise<T> {
  const connection = new Connection(':memory:', { readwrite: true, create: true });
  try {
    const migrator = new Migrator({ db: connection.db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return look(connection);
  } finally {
    connection.close();
  }
}

/** The tables that a database has, in the order in which they were made. */
export function tablesOf(connection: Connection): TableShape[] {
  const tables = connection.prepare<{ name: string }, []>(`
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE 'kysely!_%' ESCAPE '!'
    ORDER BY rowid
  `);
  const columns = connection.prepare<{ name: string; pk: number }, [string]>(
    'SELECT name, pk FROM pragma_table_info(?)',
  );
  const selfReferences = connection.prepare<{ name: string }, [string, string]>(
    `SELECT "from" AS name FROM pragma_foreign_key_list(?) WHERE "table" = ? AND "to" = 'id'`,
  );
  const nameOf = ({ name }: { name: string }): string => name;
  return tables.all().map(({ name }) => {
    const all = columns.all(name);
    const key = all.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    // None of ours: another program's, such as Litestream's.
    const isKeyless = key.length === 0;
    return {
      name,
      columns: [...(isKeyless ? ['rowid'] : []), ...all.map(nameOf)],
      key: isKeyless ? ['rowid'] : key.map(nameOf),
      selfReferences: selfReferences.all(name, name).map(nameOf),
    };
  });
}

/** The names of the indexes that a database has. */
export function indexesOf(connection: Connection): string[] {
  const indexes = connection.prepare<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name",
  );
  return indexes.all().map(({ name }) => name);
}
