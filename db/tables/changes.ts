// What each write of a record or link leaves in the log; only the functions that write their rows call these.

import { memoize } from '../cache.ts';
import { type ChangeContext, type NewChange, noteChanges } from '../engine/change-log.ts';
import type { Eventually } from '../engine/engine.ts';
import type { RecordRow, RecordTrx } from '../engine/schema.ts';
import type { ColumnValue, FieldKind } from '../model/fields.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Resource, Row } from '../model/resource.ts';
import { type CreatedRecord, runsOf } from './change-runs.ts';

/** What can happen to a record or link; the log contains the index, so the order is fixed. */
export const CHANGE_ACTIONS = ['created', 'updated', 'deleted', 'undeleted', 'linked', 'unlinked'] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** The resources in the log, which contains the index: a new one goes to the end. */
export const CHANGE_RESOURCES: readonly string[] = [
  'contacts',
  'companies',
  'deals',
  'pipelines',
  'tasks',
  'notes',
  'segments',
  'interactions',
  'meetings',
  'recordings',
  'bookings',
];

/** The values of an update, null where there is none: as stored, lists and objects as shown, of `custom` only what differs. */
export interface UpdateValues {
  before: Data;
  after: Data;
  /** The owner before, if it is another one. */
  owner?: ColumnValue;
  /** When the association was made that a delete cleared. */
  linked_at?: ColumnValue;
}

/** A record as it was before its delete. */
export interface DeletedValues {
  /** Its columns that were not null, and its computed fields that are kept elsewhere. */
  record: Data;
  external_ids: readonly (readonly [source: string, id: string, createdAt: number])[];
  /** The records that it was tied to by rows that clients do not see: packed IDs by table. */
  tied?: Readonly<Record<string, string>>;
}

/** A link; its parent is the record of the change. */
export interface LinkValues {
  /** As in the path. */
  name: string;
  /** The resource of the child. */
  resource: string;
  id: string;
  linked_at: number;
  /** Its own fields, as stored. */
  fields: Row;
  /** The owner of the child. */
  owner: ColumnValue;
}

/** Notes new or restored records in order; returns the sequence number of the first. */
export function noteCreated(
  trx: RecordTrx,
  resource: Resource,
  { action = 'created', ...context }: ChangeContext & { action?: 'created' | 'undeleted' },
  rows: readonly RecordRow[],
): Eventually<number> {
  const change = changing(action, resource);
  const created = (row: RecordRow) => ({ id: row.id, owner: ownerOf(resource, row) });
  const single = ({ id, owner }: CreatedRecord) => change(id, owner, null);
  // The index finds no record in a run, and that of a create is found without it.
  return noteChanges(trx, context, rows.length, () =>
    action === 'created' ? runsOf(rows.map(created), single) : rows.map(created).map(single),
  );
}

/** An update of a record. */
export interface NotedUpdate {
  /** Before. */
  row: RecordRow;
  /** The columns that it sets. */
  columns: Row;
  /** The computed fields that are kept elsewhere and differ. */
  beside?: UpdateValues;
}

/** Notes updates of records in order; returns the sequence number of the first. */
export function noteUpdated(
  trx: RecordTrx,
  resource: Resource,
  context: ChangeContext,
  updates: readonly NotedUpdate[],
): Eventually<number> {
  const { keepsValues } = trx.engine.progress.author;
  const change = changing('updated', resource);
  const { owner } = resource;
  const changeOf = ({ row, columns, beside }: NotedUpdate) => {
    const values = valuesOf(resource, row, columns, beside);
    const ownerAfter = owner === null ? null : owner in columns ? columns[owner] : row[owner];
    return change(row.id, ownerAfter, keepsValues ? values : withoutValues(values));
  };
  return noteChanges(trx, context, updates.length, () => updates.map(changeOf));
}

/** What is left of the values of a change once they are erased: what tells who could see the record. */
export function withoutValues({
  owner,
}: Pick<Partial<UpdateValues>, 'owner'>): { owner: ColumnValue } | null {
  return owner === undefined ? null : { owner };
}

/** Notes the delete of a record; returns its sequence number, the cause of what follows from it. */
export function noteDeleted(
  trx: RecordTrx,
  resource: Resource,
  context: ChangeContext,
  { row, beside, ...others }: Omit<DeletedValues, 'record'> & { row: RecordRow; beside: Data },
): Eventually<number> {
  const { keepsValues } = trx.engine.progress.author;
  return noteChanges(trx, context, 1, () => {
    const record: Data = {};
    for (const { name } of shownColumns(resource.fields)) {
      const value = row[name] ?? null;
      if (value !== null) record[name] = loggedValue(resource, name, value);
    }
    const data = keepsValues ? { record: { ...record, ...beside }, ...others } : null;
    return [changing('deleted', resource)(row.id, ownerOf(resource, row), data)];
  });
}

/** A link that is added, changed or removed, with the owner of its parent. */
export interface NotedLink {
  parent: string;
  parentOwner: ColumnValue;
  values: LinkValues;
}

/** Notes links under parents of one resource, in order. */
export async function noteLinks(
  trx: RecordTrx,
  parents: Pick<Resource, 'name'>,
  context: ChangeContext & { action: 'linked' | 'unlinked' },
  links: readonly NotedLink[],
): Promise<void> {
  const { action, ...rest } = context;
  const { keepsValues } = trx.engine.progress.author;
  const change = changing(action, parents);
  const changeOf = ({ parent, parentOwner, values }: NotedLink) =>
    change(parent, parentOwner, keepsValues ? values : withoutValues(values));
  await noteChanges(trx, rest, links.length, () => links.map(changeOf));
}

// Makes a function that makes changes of one kind.
function changing(kind: ChangeAction, { name }: Pick<Resource, 'name'>) {
  const action = CHANGE_ACTIONS.indexOf(kind);
  const resource = CHANGE_RESOURCES.indexOf(name);
  return (id: string, owner: ColumnValue | undefined, data: object | null): NewChange => ({
    action,
    resource,
    record: textBytes(id),
    owner: typeof owner === 'string' ? textBytes(owner) : null,
    data: data === null ? null : JSON.stringify(data),
    count: 1,
  });
}

/** The owner of a record, if its resource has one. */
export function ownerOf({ owner }: Pick<Resource, 'owner'>, row: Row): ColumnValue {
  return owner === null ? null : (row[owner] ?? null);
}

/** The fields that clients write and that are not stored in the table of the resource. */
export const fieldsBeside = memoize(({ fields }: Resource) =>
  Object.keys(fields).filter((name) => fields[name]?.column === null && fields[name]?.access === 'write'),
);

const loggedColumns = memoize(
  ({ fields }: Resource) =>
    new Set(
      shownColumns(fields).flatMap(({ name, isStored }) => (isStored && name !== 'updated_at' ? [name] : [])),
    ),
);

function valuesOf(
  resource: Resource,
  row: RecordRow,
  columns: Row,
  beside: UpdateValues | undefined,
): UpdateValues {
  const logged = loggedColumns(resource);
  const values: UpdateValues = { ...beside, before: { ...beside?.before }, after: { ...beside?.after } };
  for (const name in columns) {
    const [before, after] = [row[name] ?? null, columns[name] ?? null];
    if (before === after || !logged.has(name)) continue;
    const old = loggedValue(resource, name, before);
    const next = loggedValue(resource, name, after);
    const isCustom = resource.fields[name]?.kind === 'custom';
    [values.before[name], values.after[name]] = isCustom ? differences(old, next) : [old, next];
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

function loggedValue(resource: Resource, name: string, value: ColumnValue): JsonValue {
  return isLoggedAsShown(resource, name) ? (resource.fields[name]?.decode(value) ?? null) : value;
}

const UUID_LENGTH = 36;
const UUID_BYTES = 16;

/** The bytes of an ID: those of a UUID, otherwise zeros and its text. */
export function textBytes(id: string): Uint8Array {
  // Faster than a pattern; bytes end at the first character that is no digit.
  if (id.length === UUID_LENGTH && id[8] === '-' && id[13] === '-' && id[18] === '-' && id[23] === '-') {
    const digits = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
    const uuid = Buffer.from(digits, 'hex');
    if (uuid.length === UUID_BYTES && digits === digits.toLowerCase()) return uuid;
  }
  const bytes = Buffer.from(`\0${id}`);
  return bytes.length === UUID_BYTES ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
}

/** The ID with those bytes. */
export function idOfBytes(bytes: Uint8Array): string {
  if (bytes.length !== UUID_BYTES) return Buffer.from(bytes).toString().replace(/^\0+/, '');
  const digits = bytes.toHex();
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}
