// A number that SQLite changes for a connection with each commit of another connection.
import { CompiledQuery } from 'kysely';
import type { Connection } from './connection.ts';

const DATA_VERSION = CompiledQuery.raw('PRAGMA data_version') as CompiledQuery<{ data_version: number }>;

/** Returns the number; undefined if it is unavailable right now, for example while another process recovers the log. */
export function dataVersionOf(connection: Connection): () => number | undefined {
  const versions = connection.bind(DATA_VERSION);
  return () => {
    try {
      const [row] = versions([]) as { data_version: number }[];
      return row?.data_version;
    } catch {
      return undefined;
    }
  };
}
