// Checks a file before it is restored, and explains in terms of its name what is wrong with it.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import { APPLICATION_ID, headerOf } from './main-file.ts';

const LOOKED_AT_BYTES = 4_096;
const MAGIC = 'SQLite format 3\0';

/** Files that are often mistaken for a backup, by their first bytes, and what to do about them. */
const OTHERS: readonly [bytes: string, what: string, nextStep: string][] = [
  ['\x1f\x8b', 'is compressed (gzip)', 'unpack it first: gunzip --keep FILE'],
  ['\x28\xb5\x2f\xfd', 'is compressed (zstd)', 'unpack it first: zstd --decompress --keep FILE'],
  ['\xfd7zXZ\0', 'is compressed (xz)', 'unpack it first: unxz --keep FILE'],
  ['BZh', 'is compressed (bzip2)', 'unpack it first: bunzip2 --keep FILE'],
  ['PK\x03\x04', 'is a ZIP archive', 'unpack it first, and use the database in it.'],
  ['age-encryption.org/', 'is encrypted (age)', 'decrypt it first: age --decrypt --output NEWFILE FILE'],
  [
    'PGDMP',
    'is a dump of PostgreSQL',
    'restore it with PostgreSQL: pg_restore --clean --if-exists FILE -d URL',
  ],
];
const NAME_A_BACKUP = 'use a file that "crm backup FILE" wrote.';

/**
 * Rejects a file that is not a complete SQLite database of crm, as far as its beginning and its length show.
 * @throws DatabaseError with the name of the file, or the system's error if it cannot be read
 */
export function assertRestorable(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, LOOKED_AT_BYTES));
    readSync(descriptor, bytes, 0, bytes.length, 0);
    const fault = faultOf(path, bytes, size);
    if (fault !== null) throw fault;
  } finally {
    closeSync(descriptor);
  }
}

function faultOf(path: string, bytes: Buffer, size: number): DatabaseError | null {
  const wrong = (what: string, ...steps: string[]) =>
    new DatabaseError(
      `${path} ${what}.`,
      steps.map((step) => step.replace(/\bFILE\b(?!")/g, () => quoted(path))),
    );
  if (size === 0) return wrong('is empty', 'copy the backup again, or use another one.');
  const text = bytes.toString('latin1');
  const other = OTHERS.find(([start]) => text.startsWith(start));
  if (other !== undefined) return wrong(other[1], other[2]);
  const header = headerOf(bytes);
  if (header === null && MAGIC.startsWith(text.slice(0, MAGIC.length)))
    return wrong(`is truncated after ${size} bytes`, 'copy the complete backup again, or use another one.');
  if (header === null && isText(bytes))
    return wrong(
      'is a text file, not a backup',
      NAME_A_BACKUP,
      'to import a CSV, JSON or vCard file, run: crm import RESOURCE FILE',
    );
  if (header === null) return wrong('is not an SQLite database', NAME_A_BACKUP);
  if (header.applicationId !== APPLICATION_ID)
    return wrong('is an SQLite database that belongs to another program', NAME_A_BACKUP);
  if (size >= header.bytes) return null;
  const part = `it has ${size.toLocaleString('en')} of ${header.bytes.toLocaleString('en')} bytes`;
  return wrong(`is truncated: ${part}`, 'copy the complete backup again, or use another one.');
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

// For use in a shell.
function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
