// All that a database holds, in short: what tests compare before and after what must change nothing.
import { CompiledQuery } from 'kysely';
import { listTables } from '../../db/maintenance.ts';
import type { Harness } from './harness.ts';

// When a key was last used is noted at any time; nobody waits for it.
const NOTED_LATER: Record<string, string> = { api_keys: 'last_used_at' };

const quoted = (name: string) => `"${name}"`;

/** What reads each table, made once: this is asked several times for each operation that there is. */
let queries: Promise<[name: string, query: CompiledQuery][]> | undefined;

async function makeQueries() {
  return (await listTables()).map(({ name, columns }): [string, CompiledQuery] => {
    const kept = columns.filter((column) => column !== NOTED_LATER[name]);
    return [name, CompiledQuery.raw(`select ${kept.map(quoted).join(', ')} from ${quoted(name)}`)];
  });
}

/** A digest of the rows of each table, those of a database's own run aside. */
export async function tableDigests({ store }: Pick<Harness, 'store'>): Promise<Record<string, string>> {
  queries ??= makeQueries();
  const digests = (await queries).map(async ([name, query]) => {
    const { rows } = await store.read.executeQuery<Record<string, unknown>>(query);
    const lines = rows.map((row) => JSON.stringify(Object.values(row).map(inShort))).toSorted();
    return [name, `${rows.length} rows, ${Bun.hash(lines.join('\n'))}`];
  });
  return Object.fromEntries(await Promise.all(digests));
}

// As JSON, bytes would be a list of numbers.
function inShort(value: unknown): unknown {
  return value instanceof Uint8Array ? `${value.length} bytes, ${Bun.hash(value)}` : value;
}
