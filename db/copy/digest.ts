// The content of a table in short: the number of rows, and a digest of all their values.
import type { StoredValue } from '../engine/engine.ts';
import type { CopySource } from './database.ts';
import { type CopiedTable, readRowsOf } from './rows.ts';

export interface TableDigest {
  rows: number;
  /** SHA-256, hex, of the rows as JSON in key order. */
  digest: string;
}

/** Reads a whole table; `onRows` receives the number of rows read. */
export async function digestOf(
  from: CopySource,
  table: CopiedTable,
  onRows: (count: number) => void,
): Promise<TableDigest> {
  const hash = new Bun.CryptoHasher('sha256');
  let total = 0;
  for await (const rows of readRowsOf(from, table)) {
    const lines = rows.map((row) => `${JSON.stringify(table.columns.map((column) => shown(row[column])))}\n`);
    hash.update(lines.join(''));
    total += rows.length;
    onRows(rows.length);
  }
  return { rows: total, digest: hash.digest('hex') };
}

// Each engine has its own array type for bytes.
function shown(value: StoredValue | undefined): string | number | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value ?? null);
}
