// Reads the database file itself, without its write-ahead log: whose it is, and which state it contains.
import { fstatSync } from 'node:fs';
import type { RawFile } from './raw-file.ts';

/** "CRM1", which distinguishes our databases from those of other programs before anything is written. */
export const APPLICATION_ID = 0x43524d31;

// The mark is SQLite's user_version. It starts at random, and increases with the first commit after each checkpoint and with
// the last before one, so that a log can identify the states it was written for. SQLite's own change counter cannot: in
// WAL mode it stays the same as long as one connection writes.
const FIRST_MARK_MAX = 2 ** 30;

/** The content of a database's first page: https://sqlite.org/fileformat2.html#the_database_header. */
export interface FirstPage {
  applicationId: number;
  mark: number;
  /** Increases with every change of the schema, and when SQLite copies a database with VACUUM INTO. */
  schemaVersion: number;
}

export interface MainFile extends FirstPage {
  pageSize: number;
  /** Whether the file has fewer pages than its first page says: it was truncated, or a checkpoint is incomplete. */
  isShort: boolean;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const LARGEST_PAGE_BYTES = 65_536;

/** Reads the first page of a database, which begins at `start`. */
export function readFirstPage(page: DataView, start = 0): FirstPage {
  return {
    applicationId: page.getUint32(start + 68),
    mark: page.getUint32(start + 60),
    schemaVersion: page.getUint32(start + 40),
  };
}

/** Reads a file, ignoring any log; null if it is not a database. */
export function readMainFile(file: RawFile): MainFile | null {
  const read = file.read(HEADER_BYTES);
  const header = read && headerOf(new Uint8Array(read.buffer));
  if (header === null) return null;
  const { bytes, ...main } = header;
  return { ...main, isShort: fstatSync(file.descriptor).size < bytes };
}

/** The header of a database, and how many bytes it should have (0 if unknown); null if it is not a database. */
export function headerOf(
  beginning: Uint8Array,
): (FirstPage & Pick<MainFile, 'pageSize'> & { bytes: number }) | null {
  if (beginning.length < HEADER_BYTES) return null;
  if (Buffer.from(beginning.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) return null;
  const header = new DataView(beginning.buffer, beginning.byteOffset, HEADER_BYTES);
  const pageSize = header.getUint16(16) === 1 ? LARGEST_PAGE_BYTES : header.getUint16(16);
  // The number of pages is valid if it was written together with the change counter.
  const pages = header.getUint32(24) === header.getUint32(92) ? header.getUint32(28) : 0;
  return { ...readFirstPage(header), pageSize, bytes: pages * pageSize };
}

/** The first mark of a database. */
export function firstMark(): number {
  return 1 + Math.floor(Math.random() * FIRST_MARK_MAX);
}
