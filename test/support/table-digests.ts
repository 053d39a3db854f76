// All that a database holds, in short: what tests compare before and after what must change nothing.
import { sql } from 'kysely';
import { listTables } from '../../db/maintenance.ts';
import type { Harness } from './harness.ts';

// When a key was last used is noted at any time; nobody waits for it.
const NOTED_LATER: Record<string, string> = { api_keys: 'last_used_at' };

let tables: ReturnType<typeof listTables> | undefined;

/** A digest of the rows of each table, those of a database's own run aside. */
export async function tableDigests({ store }: Pick<Harness, 'store'>): Promise<Record<string, string>> {
  tables ??= listTables();
  const digests = (await tables).map(async ({ name, columns }) => {
    const kept = columns.filter((column) => column !== NOTED_LATER[name]);
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(kept.map((column) => sql.ref(column)))} from ${sql.table(name)}`.execute(store.read);
    const lines = rows.map((row) => JSON.stringify(Object.values(row))).toSorted();
    return [name, `${rows.length} rows, ${Bun.hash(lines.join('\n'))}`];
  });
  return Object.fromEntries(await Promise.all(digests));
}
