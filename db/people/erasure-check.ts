// Searches for remains of a person's addresses after erasure: reads every text in every table.
import { type RawBuilder, sql } from 'kysely';
import { readRows } from '../copy/rows.ts';
import type { Db } from '../engine/schema.ts';
import { listTables, type TableShape } from '../maintenance.ts';
import { getResource, RESOURCES } from '../model/resources/registry.ts';
import { readStoredText } from '../tables/stored-response-text.ts';
import type { AddressSet } from './email-addresses.ts';
import { decoded, holdsAddresses } from './mentions.ts';

/** A column of a row that contains an address. */
export interface RemainingText {
  /** The organization's number; null if the row belongs to none. */
  org_id: number | null;
  table: string;
  /** The row's ID, or the first part of its key. */
  id: string | null;
  column: string;
}

export interface ErasureCheckOptions {
  /** The organization whose rows are searched, or skipped with `isOthers`. */
  orgNumber: number;
  isOthers?: boolean;
  onProgress?: (rows: number) => void;
}

/** Reads all rows of an organization, or all others, and finds the columns that contain an address. */
export async function findRemainingTexts(
  read: Db,
  addresses: AddressSet,
  { orgNumber, isOthers = false, onProgress = () => {} }: ErasureCheckOptions,
): Promise<RemainingText[]> {
  const found: RemainingText[] = [];
  for (const table of await listTables()) {
    const only = rowsOf(table, orgNumber, isOthers);
    if (only === null) continue;
    for await (const rows of readRows(read, { ...table, only })) {
      for (const row of rows) {
        for (const column of columnsWith(addresses, table.name, row))
          found.push({ ...ownerOf(table, row), table: table.name, id: idOf(table, row), column });
      }
      onProgress(rows.length);
    }
  }
  return found;
}

// Null if the table has no such rows.
function rowsOf(
  { name, columns }: TableShape,
  orgNumber: number,
  isOthers: boolean,
): RawBuilder<unknown> | null {
  const column = name === 'organizations' ? 'number' : 'org_id';
  if (columns.includes(column))
    return isOthers ? sql`${sql.ref(column)} <> ${orgNumber}` : sql`${sql.ref(column)} = ${orgNumber}`;
  return isOthers ? sql`true` : null;
}

function columnsWith(addresses: AddressSet, table: string, row: Record<string, unknown>): string[] {
  return Object.entries(row).flatMap(([column, value]) => {
    // A stored response; other binary columns contain IDs.
    const isPacked = value instanceof Uint8Array && column === 'packed';
    const text = isPacked ? readStoredText({ body: '', packed: value }) : value;
    return typeof text === 'string' && isInColumn(addresses, { table, column, text }) ? [column] : [];
  });
}

/** Whether a text contains an address, decided as for the records that are erased, given the column that it is a value of. */
export function isInColumn(
  addresses: AddressSet,
  { table, column, text }: { table: string; column: string; text: string },
): boolean {
  if (ADDRESS_TABLES.has(table)) return addresses.isInStored(text, column.startsWith('email'));
  if (!RESOURCES.some(({ name }) => name === table)) return addresses.isInStored(text);
  const name = column.replace(/_key$/, '');
  const field = getResource(table).fields[name];
  if (field === undefined) return addresses.isIn(text);
  // The key of a field is text.
  const value = name === column ? decoded(field, text) : text;
  return addresses.isInValue(value, holdsAddresses(name, field));
}

const ADDRESS_TABLES = new Set(['users', 'contact_emails']);

function ownerOf({ name }: TableShape, row: Record<string, unknown>): Pick<RemainingText, 'org_id'> {
  const number = name === 'organizations' ? row.number : row.org_id;
  return { org_id: number === undefined || Number(number) === 0 ? null : Number(number) };
}

// For an idempotency key, link or setting, the part that identifies the row, unless it contains the address.
function idOf({ key }: TableShape, row: Record<string, unknown>): string | null {
  const column = key.find((one) => one !== 'org_id') ?? '';
  return row[column] === undefined ? null : String(row[column]);
}
