// The values of records in the log of changes.

import { memoize } from '../cache.ts';
import type { RecordRow } from '../engine/schema.ts';
import type { ColumnValue, FieldKind } from '../model/fields.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Resource, Row } from '../model/resource.ts';

/** The values of an update, null where there is none: as stored, lists and objects as shown, of `custom` only what differs. */
export interface UpdateValues {
  before: Data;
  after: Data;
  /** The owner before, if it is another one. */
  owner?: ColumnValue;
  /** When the association was made that a delete cleared. */
  linked_at?: ColumnValue;
}

const loggedColumns = memoize(
  ({ fields }: Resource) =>
    new Set(
      shownColumns(fields).flatMap(({ name, isStored }) => (isStored && name !== 'updated_at' ? [name] : [])),
    ),
);

/** What an update changes: of the columns that it sets, those that are logged and differ. */
export function updateValues(
  resource: Resource,
  row: RecordRow,
  columns: Row,
  beside: UpdateValues | undefined,
): UpdateValues {
  const logged = loggedColumns(resource);
  const values: UpdateValues =
    beside === undefined
      ? { before: {}, after: {} }
      : { ...beside, before: { ...beside.before }, after: { ...beside.after } };
  for (const name in columns) {
    const before = row[name] ?? null;
    const after = columns[name] ?? null;
    if (before === after || !logged.has(name)) continue;
    let old = loggedValue(resource, name, before);
    let next = loggedValue(resource, name, after);
    if (resource.fields[name]?.kind === 'custom') [old, next] = differences(old, next);
    values.before[name] = old;
    values.after[name] = next;
  }
  if (resource.owner !== null && resource.owner in values.after) values.owner = row[resource.owner] ?? null;
  return values;
}

// Of two objects, the names whose values differ.
function differences(before: JsonValue, after: JsonValue): [Data, Data] {
  const [old, next] = [before, after].map((value) => (isObject(value) ? value : {})) as [Data, Data];
  const names = Object.keys({ ...old, ...next }).filter((name) => old[name] !== next[name]);
  const pick = (from: Data) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return [pick(old), pick(next)];
}

const NESTED: readonly (FieldKind | undefined)[] = ['emails', 'custom', 'json'];

/** Whether the log contains the shown form of a field: text in its stored form would be JSON inside JSON. */
export function isLoggedAsShown({ fields }: Resource, name: string): boolean {
  return NESTED.includes(fields[name]?.kind);
}

/** A stored value as the log contains it. */
export function loggedValue(resource: Resource, name: string, value: ColumnValue): JsonValue {
  return isLoggedAsShown(resource, name) ? (resource.fields[name]?.decode(value) ?? null) : value;
}
