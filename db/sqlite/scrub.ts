// Has a file forget what was erased from it: SQLite leaves it in pages that are free, and in its log.
import { sql } from 'kysely';
import type { Db } from '../engine/schema.ts';
import type { Scope } from '../engine/write-queue.ts';
import { nextTurn } from '../event-loop.ts';
import { Connection } from './connection.ts';
import { guarded } from './errors.ts';

interface ScrubbedStore {
  read: Db;
  write<T>(scope: Scope, job: (trx: Db) => Promise<T>): Promise<T>;
}

// Blanks, in rows that are there for a moment only.
const NAME = 'blanks:';
const PAGES_PER_JOB = 256;
// Of each page of a long row so many bytes say which is the next.
const LINK_BYTES = 4;

/**
 * Writes over the pages that are free: fills them with blanks, some at a time, and gives them back. What is free within
 * pages that are in use is written over whenever something is deleted from them.
 * @param onProgress told how many pages more are done
 */
export async function scrubFreePages(
  { read, write }: ScrubbedStore,
  onProgress: (pages: number) => void,
): Promise<void> {
  const remove = () =>
    write('accounts', (trx) => trx.deleteFrom('settings').where('name', 'like', `${NAME}%`).execute());
  // Those of a run that was killed.
  await remove();
  const pageBytes = await pragma(read, sql`page_size`);
  try {
    // Others may free some meanwhile, but hardly as many as are taken.
    for (let count = 0, most = (await freePages(read)) + 1; most > 0; count++) {
      const pages = Math.min(PAGES_PER_JOB, await freePages(read));
      if (pages === 0) break;
      const value = ' '.repeat(pages * (pageBytes - LINK_BYTES));
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

/** How many pages of a file are free. */
export function freePages(read: Db): Promise<number> {
  return pragma(read, sql`freelist_count`);
}

async function pragma(read: Db, name: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<Record<string, number>>`pragma ${name}`.execute(read);
  return Number(Object.values(rows[0] ?? {})[0] ?? 0);
}

/** Moves the whole log into the file and empties it; false where somebody has read an older state for seconds. */
export function emptyLog(path: string): boolean {
  return guarded(path, () => {
    const connection = new Connection(path, { readwrite: true, create: false });
    try {
      using statement = connection.prepare<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)');
      return statement.get()?.busy === 0;
    } finally {
      connection.close();
    }
  });
}
