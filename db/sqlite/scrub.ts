// Has a file forget what was erased from it: SQLite leaves it in pages that are free, and in its log.
import { closeSync, openSync, readSync } from 'node:fs';
import { sql } from 'kysely';
import { nextTurn } from '../event-loop.ts';
import type { Db } from '../schema.ts';
import type { Scope } from '../write-queue.ts';
import { Connection } from './connection.ts';
import { guarded } from './errors.ts';
import { realPath } from './file-check.ts';

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

const CHUNK_BYTES = 4 * 1024 * 1024;

/** In how many places a text stands in a database file and its log, whatever they count as there; ASCII in any case. */
export function countInFiles(path: string, texts: readonly string[]): number {
  const wanted = texts.map((text) => Buffer.from(text).toString('latin1').toLowerCase());
  const file = realPath(path);
  return [file, `${file}-wal`].reduce((sum, one) => sum + countInFile(one, wanted), 0);
}

function countInFile(path: string, wanted: readonly string[]): number {
  const descriptor = openIfThere(path);
  if (descriptor === null) return 0;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  let found = 0;
  try {
    for (let at = 0, rest = ''; ; ) {
      const bytes = readSync(descriptor, chunk, 0, CHUNK_BYTES, at);
      if (bytes === 0) return found;
      const text = rest + chunk.toString('latin1', 0, bytes).toLowerCase();
      for (const one of wanted) found += countIn(text, one, rest.length);
      rest = text.slice(Math.max(0, text.length - overlap));
      at += bytes;
    }
  } finally {
    closeSync(descriptor);
  }
}

// What lies in the rest of the chunk before was counted there.
function countIn(text: string, wanted: string, before: number): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    if (at + wanted.length > before) count += 1;
  return count;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
