// The two forms of a record, as it is shown and as it is stored: from one to the other only what differs is touched, in place.
import { memoize } from '../cache.ts';
import { asIs, type Field, keyColumn } from './fields.ts';
import type { Data, JsonValue } from './json.ts';
import type { Row } from './resource.ts';
import { isShown } from './schemas.ts';

type Fields = Readonly<Record<string, Field>>;

/** A column of the table, or where there is none the place of a field that is computed. */
export interface ShownColumn {
  name: string;
  isStored: boolean;
}

interface Form {
  name: string;
  encode: (value: JsonValue | undefined) => Row[string];
  decode: (column: Row[string]) => JsonValue;
}

/** What is made once of the fields of a resource. */
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
    encoded: all.filter(([, { encode, initial }]) => encode !== asIs || initial !== null).map(form),
    decoded: shown
      .filter(([, { column, decode, initial }]) => (column === null ? initial !== null : decode !== asIs))
      .map(form),
    keyed: all.flatMap(([name, { key }]) => (key === null ? [] : [{ name, column: keyColumn(name), key }])),
    initial: Object.fromEntries(shown.map(([name, { initial }]) => [name, initial])),
  };
}

/** The columns of a record as it is read to be shown, in the order of responses. */
export function shownColumns(fields: Fields): readonly ShownColumn[] {
  return formsOf(fields).shown;
}

/** Makes a row of shown columns, itself, the record that a response carries; computed fields start at their defaults. */
export function showRow(fields: Fields, row: Row): Data {
  const { decoded } = formsOf(fields);
  for (const { name, decode } of decoded) (row as Data)[name] = decode(row[name] ?? null);
  return row;
}

/** Makes a record, itself, the row that is stored; what it leaves out is what a create starts from. */
export function storeRecord(fields: Fields, record: Data): Row {
  const { encoded, keyed } = formsOf(fields);
  for (const { name, encode } of encoded) record[name] = encode(record[name]);
  for (const { name, column, key } of keyed) record[column] = shadowKey(key, record[name]);
  return record as Row;
}

/** The columns, shadow keys included, that hold the fields given. */
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

// Most values are their own keys, which are not kept twice.
function shadowKey(keyOf: (value: string) => string, value: JsonValue | undefined): string | null {
  if (typeof value !== 'string') return null;
  const key = keyOf(value);
  return key === value ? null : key;
}

/** A record that a create starts from: its fields in the order of responses, each with its own default. */
export function initialRecord(fields: Fields): Data {
  return { ...formsOf(fields).initial };
}

/** Gives a record what a body says of its fields; null stands for a field's own default. */
export function setFields(fields: Fields, record: Data, body: Data): void {
  for (const name in body) {
    const field = fields[name];
    if (field !== undefined && field.access !== 'input') record[name] = body[name] ?? field.initial;
  }
}
