// Removes erased data from a file: SQLite leaves it in free pages and in its log.
import { sql } from 'kysely';
import type { Db, Trx } from '../engine/schema.ts';
import type { Scope } from '../engine/write-queue.ts';
import { nextTurn } from '../event-loop.ts';
import { Connection } from './connection.ts';
import { withFileErrors } from './errors.ts';

interface ScrubbedStore {
  read: Db;
  write<T>(scope: Scope, job: (trx: Trx) => Promise<T>): Promise<T>;
}

// Blanks, in rows that exist only for a moment.
const NAME = 'blanks:';
const PAGES_PER_JOB = 256;
// Bytes of each overflow page that point to the next one.
const LINK_BYTES = 4;
// The beginning of a long row is not in those pages. If it takes this part of a page, the rest fills them to the last byte;
// otherwise the end of the last one keeps what it had (https://sqlite.org/fileformat2.html#b_tree_pages).
const FIRST_PART = 0.2;

/**
 * Overwrites free pages: fills them with blanks, a few at a time, and frees them again. Free space within used pages is
 * overwritten whenever something is deleted from them.
 * @param onProgress receives the number of pages done
 */
export async function scrubFreePages(
  { read, write }: ScrubbedStore,
  onProgress: (pages: number) => void,
): Promise<void> {
  const remove = () =>
    write('accounts', (trx) => trx.deleteFrom('settings').where('name', 'like', `${NAME}%`).execute());
  // Rows of a run that was killed.
  await remove();
  const pageBytes = await pragma(read, sql`page_size`);
  try {
    // Others can free some in the meantime, but hardly as many as are filled.
    for (let count = 0, most = (await freePages(read)) + 1; most > 0; count++) {
      const pages = Math.min(PAGES_PER_JOB, await freePages(read));
      if (pages === 0) break;
      const value = ' '.repeat(pages * (pageBytes - LINK_BYTES) + Math.floor(pageBytes * FIRST_PART));
      await write('accounts', (trx) =>
        trx
          .insertInto('settings')
          .values({ name: `${NAME}${count}`, value })
          .execute(),
      );
      onProgress(pages);
      most -= pages;
      await nextTurn();
    }
  } finally {
    await remove();
  }
}

/** Number of free pages in a file. */
export function freePages(read: Db): Promise<number> {
  return pragma(read, sql`freelist_count`);
}

async function pragma(read: Db, name: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<Record<string, number>>`pragma ${name}`.execute(read);
  return Number(Object.values(rows[0] ?? {})[0] ?? 0);
}

/** Moves the whole log into the file and empties it; false if a reader has kept an older state for seconds. */
export function emptyWal(path: string): boolean {
  return withFileErrors(path, () => {
    const connection = new Connection(path, { readwrite: true, create: false });
    try {
      using statement = connection.prepare<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)');
      return statement.get()?.busy === 0;
    } finally {
      connection.close();
    }
  });
}
