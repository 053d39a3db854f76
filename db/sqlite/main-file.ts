// The database file by itself, without its write-ahead log: whose it is, and which state of the database it holds.
import { fstatSync } from 'node:fs';
import type { HeldFile } from './raw-file.ts';

/** "CRM1", so that another program's database is told from ours before anything is written. */
export const APPLICATION_ID = 0x43524d31;

// The mark is SQLite's user_version. It starts at random, and goes up by one with the first commit after each checkpoint and
// with the last before one, so that a log can tell the states it was written on from all others. SQLite's own change
// counter cannot: in WAL mode it stays the same for as long as one connection writes.
const FIRST_MARK_MAX = 2 ** 30;

/** What the first page of a database tells: https://sqlite.org/fileformat2.html#the_database_header. */
export interface FirstPage {
  applicationId: number;
  mark: number;
  /** Goes up with every change of the schema, and when SQLite copies a database with VACUUM INTO. */
  schemaVersion: number;
}

export interface MainFile extends FirstPage {
  pageSize: number;
  /** Whether its first page tells of pages that are not there: it was cut short, or a checkpoint has not got further. */
  isShort: boolean;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const LARGEST_PAGE_BYTES = 65_536;

/** Reads the first page of a database, which lies at `start`. */
export function readFirstPage(page: DataView, start = 0): FirstPage {
  return {
    applicationId: page.getUint32(start + 68),
    mark: page.getUint32(start + 60),
    schemaVersion: page.getUint32(start + 40),
  };
}

/** Reads a file as it lies there, with a log or without one; null if it is no database. */
export function readMainFile(file: HeldFile): MainFile | null {
  const read = file.read(HEADER_BYTES);
  const header = read && headerOf(new Uint8Array(read.buffer));
  if (header === null) return null;
  const { bytes, ...main } = header;
  return { ...main, isShort: fstatSync(file.descriptor).size < bytes };
}

/** What the beginning of a database tells, and how many bytes it should have, 0 where it does not say; null of anything else. */
export function headerOf(
  beginning: Uint8Array,
): (FirstPage & Pick<MainFile, 'pageSize'> & { bytes: number }) | null {
  if (beginning.length < HEADER_BYTES) return null;
  if (Buffer.from(beginning.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) return null;
  const header = new DataView(beginning.buffer, beginning.byteOffset, HEADER_BYTES);
  const pageSize = header.getUint16(16) === 1 ? LARGEST_PAGE_BYTES : header.getUint16(16);
  // The number of pages counts if it was written together with the change counter.
  const pages = header.getUint32(24) === header.getUint32(92) ? header.getUint32(28) : 0;
  return { ...readFirstPage(header), pageSize, bytes: pages * pageSize };
}

/** The mark that a database begins with. */
export function firstMark(): number {
  return 1 + Math.floor(Math.random() * FIRST_MARK_MAX);
}
