// What a table holds, in short: how many rows, and a digest of every value in all of them.
import type { StoredValue } from '../engine/engine.ts';
import type { CopySource } from './database.ts';
import { type CopiedTable, readRows } from './rows.ts';

export interface TableDigest {
  rows: number;
  /** SHA-256, hex, of the rows as JSON in the order of the key. */
  digest: string;
}

/** Reads a whole table; `onRows` is told how many rows more have been read. */
export async function digestOf(
  from: CopySource,
  table: CopiedTable,
  onRows: (count: number) => void,
): Promise<TableDigest> {
  const hash = new Bun.CryptoHasher('sha256');
  let total = 0;
  for await (const rows of readRows(from, table)) {
    const lines = rows.map((row) => `${JSON.stringify(table.columns.map((column) => shown(row[column])))}\n`);
    hash.update(lines.join(''));
    total += rows.length;
    onRows(rows.length);
  }
  return { rows: total, digest: hash.digest('hex') };
}

// Engines give bytes in arrays of their own kinds.
function shown(value: StoredValue | undefined): string | number | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value ?? null);
}
