// The tables of a crm database, on any engine: read from an empty database in memory made by the same migrations.
import { Migrator } from 'kysely';
import { MIGRATIONS } from '../migrations/index.ts';
import { Connection } from './connection.ts';

export interface TableShape {
  name: string;
  columns: readonly string[];
  /** The columns of its primary key, in order. */
  key: readonly string[];
  /** Columns with the ID of another row of the same table. */
  selfReferences: readonly string[];
}

/** All tables in order of creation, so that each comes after those it refers to. */
export async function listTables(): Promise<TableShape[]> {
  return withNewDatabase(tablesOf);
}

/** The result of the migrations: the names of all indexes, and the number of migrations. */
export async function schemaShape(): Promise<{ indexes: string[]; migrations: number }> {
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

/** The tables of a database, in order of creation. */
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
    // Not one of ours, but for example Litestream's.
    const isKeyless = key.length === 0;
    return {
      name,
      columns: [...(isKeyless ? ['rowid'] : []), ...all.map(nameOf)],
      key: isKeyless ? ['rowid'] : key.map(nameOf),
      selfReferences: selfReferences.all(name, name).map(nameOf),
    };
  });
}

/** The names of a database's indexes. */
export function indexesOf(connection: Connection): string[] {
  const indexes = connection.prepare<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name",
  );
  return indexes.all().map(({ name }) => name);
}
