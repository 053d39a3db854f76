// The shown and the stored form of a record: converts only the fields that differ.
import { memoize } from '../cache.ts';
import { type Field, keyColumn, unchanged } from './fields.ts';
import type { Data, JsonValue } from './json.ts';
import type { Row } from './resource.ts';
import { isShown } from './schemas.ts';

type Fields = Readonly<Record<string, Field>>;

/** A column of the table, or the position of a field that is computed. */
export interface ShownColumn {
  name: string;
  isStored: boolean;
}

interface Form {
  name: string;
  encode: (value: JsonValue | undefined) => Row[string];
  decode: (column: Row[string]) => JsonValue;
}

/** Derived once from the fields of a resource. */
interface Forms {
  shown: readonly ShownColumn[];
  /** The fields whose two forms differ. */
  encoded: readonly Form[];
  decoded: readonly Form[];
  keyed: readonly { name: string; column: string; key: (value: string) => string }[];
  initial: Data;
}

const formsOf = memoize(makeForms);

function makeForms(fields: Fields): Forms {
  const all = Object.entries(fields).filter(([, { access }]) => access !== 'input');
  const shown = all.filter(([, field]) => isShown(field));
  const form = ([name, field]: [string, Field]): Form => ({
    name,
    encode: (value) =>
      field.column === null ? null : field.encode(value === undefined ? field.initial : value),
    decode: field.column === null ? () => field.initial : field.decode,
  });
  return {
    shown: shown.map(([name, { column }]) => ({ name, isStored: column !== null })),
    encoded: all.filter(([, { encode, initial }]) => encode !== unchanged || initial !== null).map(form),
    decoded: shown
      .filter(([, { column, decode, initial }]) =>
        column === null ? initial !== null : decode !== unchanged,
      )
      .map(form),
    keyed: all.flatMap(([name, { key }]) => (key === null ? [] : [{ name, column: keyColumn(name), key }])),
    initial: Object.fromEntries(shown.map(([name, { initial }]) => [name, initial])),
  };
}

/** The columns of a record as read for showing it, in the order of responses. */
export function shownColumns(fields: Fields): readonly ShownColumn[] {
  return formsOf(fields).shown;
}

/**
 * Turns a row of shown columns into the record of a response; computed fields start at their defaults. The row itself becomes
 * the record, because copying the rows of a page costs 5% of a list.
 */
export function showRow(fields: Fields, row: Row): Data {
  const { decoded } = formsOf(fields);
  for (const { name, decode } of decoded) (row as Data)[name] = decode(row[name] ?? null);
  return row;
}

/** The stored row of a record with these columns; fields that both leave out get the defaults of a create. */
export function storedRow(fields: Fields, record: Data, columns: Row): Row {
  const { encoded, keyed } = formsOf(fields);
  const row: Data = { ...record, ...columns };
  for (const { name, encode } of encoded) row[name] = encode(row[name]);
  for (const { name, column, key } of keyed) row[column] = shadowKey(key, row[name]);
  return row as Row;
}

/** The columns, including shadow keys, of the given fields. */
export function toColumns(fields: Fields, data: Data): Row {
  const row: Row = {};
  for (const name in data) {
    const field = fields[name];
    const value = data[name] ?? null;
    if (field === undefined || field.column === null || field.access === 'input') continue;
    row[name] = field.encode(value);
    if (field.key !== null) row[keyColumn(name)] = shadowKey(field.key, value);
  }
  return row;
}

// Most values are their own keys, which are not stored twice.
function shadowKey(keyOf: (value: string) => string, value: JsonValue | undefined): string | null {
  if (typeof value !== 'string') return null;
  const key = keyOf(value);
  return key === value ? null : key;
}

/** The fields of a new record in the order of responses, each with its default. */
export function initialFields(fields: Fields): Readonly<Data> {
  return formsOf(fields).initial;
}

/** A record with the fields of a body; null means the field's default. */
export function withFields(fields: Fields, record: Readonly<Data>, body: Data): Data {
  const next = { ...record };
  for (const name in body) {
    const field = fields[name];
    if (field !== undefined && field.access !== 'input') next[name] = body[name] ?? field.initial;
  }
  return next;
}
