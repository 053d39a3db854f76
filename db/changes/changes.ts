// What each write of a record or link leaves in the log; only the functions that write their rows call these.

import { memoize } from '../cache.ts';
import { type ChangeContext, logChanges, type NewChange } from '../engine/change-log.ts';
import type { Eventually } from '../engine/engine.ts';
import type { RecordRow, RecordTrx } from '../engine/schema.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Data } from '../model/json.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Resource, Row } from '../model/resource.ts';
import { hasTimeline } from '../model/timelines.ts';
import { textBytes } from '../tables/id-bytes.ts';
import { loggedValue, type UpdateValues, updateValues } from './logged-values.ts';
import { type CreatedRecord, runsOf } from './runs.ts';

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

/** Logs new or restored records in order; returns the sequence number of the first. */
export function logCreated(
  trx: RecordTrx,
  resource: Resource,
  { action = 'created', ...context }: ChangeContext & { action?: 'created' | 'undeleted' },
  rows: readonly RecordRow[],
): Eventually<number> {
  const change = changing(action, resource);
  const created = (row: RecordRow) => ({ id: row.id, owner: ownerOf(resource, row) });
  const single = ({ id, owner }: CreatedRecord) => change(id, owner, null);
  // The index finds no record in a run, and that of a create is found without it.
  return logChanges(trx, context, rows.length, () =>
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

/** Logs updates of records in order; returns the sequence number of the first. */
export function logUpdated(
  trx: RecordTrx,
  resource: Resource,
  context: ChangeContext,
  updates: readonly NotedUpdate[],
): Eventually<number> {
  const { keepsValues } = trx.engine.progress.author;
  const change = changing('updated', resource);
  const { owner } = resource;
  const companyOf = companyReader(resource);
  const changeOf = ({ row, columns, beside }: NotedUpdate) => {
    const values = updateValues(resource, row, columns, beside);
    const ownerAfter = owner === null ? null : owner in columns ? columns[owner] : row[owner];
    const data = textOf(keepsValues ? values : withoutValues(values));
    return change(row.id, ownerAfter, data, companyOf(row.company_id));
  };
  return logChanges(trx, context, updates.length, () => updates.map(changeOf));
}

/** A record in which a reference changes. */
export interface ChangedReference {
  id: string;
  owner: ColumnValue;
  /** When the association was made that a delete clears; only of associations. */
  linked_at?: ColumnValue;
  /** The company of a contact or deal, unless that is the reference. */
  company_id?: ColumnValue;
}

/** Logs that a reference, by column, changes in the same way in several records, in order. */
export async function logReferences(
  trx: RecordTrx,
  resource: Resource,
  context: ChangeContext,
  { column, before, after }: { column: string; before: string | null; after: string | null },
  records: readonly ChangedReference[],
): Promise<void> {
  const { keepsValues } = trx.engine.progress.author;
  const change = changing('updated', resource);
  const values: UpdateValues = { before: { [column]: before }, after: { [column]: after } };
  const text = textOf(values);
  const companyOf = companyReader(resource);
  const changeOf = ({ id, owner, linked_at, company_id }: ChangedReference) => {
    const own = linked_at === undefined ? text : textOf({ ...values, linked_at });
    return change(id, owner, keepsValues ? own : null, companyOf(company_id));
  };
  await logChanges(trx, context, records.length, () => records.map(changeOf));
}

/** What is left of the values of a change once they are erased: what tells who could see the record. */
export function withoutValues({
  owner,
}: Pick<Partial<UpdateValues>, 'owner'>): { owner: ColumnValue } | null {
  return owner === undefined ? null : { owner };
}

/** Logs the delete of a record; returns its sequence number, the cause of what follows from it. */
export function logDeleted(
  trx: RecordTrx,
  resource: Resource,
  context: ChangeContext,
  { row, beside, ...others }: Omit<DeletedValues, 'record'> & { row: RecordRow; beside: Data },
): Eventually<number> {
  const { keepsValues } = trx.engine.progress.author;
  return logChanges(trx, context, 1, () => {
    const record: Data = {};
    for (const { name } of shownColumns(resource.fields)) {
      const value = row[name] ?? null;
      if (value !== null) record[name] = loggedValue(resource, name, value);
    }
    const data = keepsValues ? { record: { ...record, ...beside }, ...others } : null;
    return [changing('deleted', resource)(row.id, ownerOf(resource, row), textOf(data))];
  });
}

/** A link that is added, changed or removed, with the owner of its parent. */
export interface LinkChange {
  parent: string;
  parentOwner: ColumnValue;
  values: LinkValues;
}

/** Logs links under parents of one resource, in order. */
export async function logLinks(
  trx: RecordTrx,
  parents: Pick<Resource, 'name'>,
  context: ChangeContext & { action: 'linked' | 'unlinked' },
  links: readonly LinkChange[],
): Promise<void> {
  const { action, ...rest } = context;
  const { keepsValues } = trx.engine.progress.author;
  const change = changing(action, parents);
  const changeOf = ({ parent, parentOwner, values }: LinkChange) =>
    change(parent, parentOwner, textOf(keepsValues ? values : withoutValues(values)));
  await logChanges(trx, rest, links.length, () => links.map(changeOf));
}

// Makes a function that makes changes of one kind.
function changing(kind: ChangeAction, { name }: Pick<Resource, 'name'>) {
  const action = CHANGE_ACTIONS.indexOf(kind);
  const resource = CHANGE_RESOURCES.indexOf(name);
  const ownerBytes = lastOf(textBytes);
  return (
    id: string,
    owner: ColumnValue | undefined,
    data: string | null,
    company: Uint8Array | null = null,
  ): NewChange => ({
    action,
    resource,
    record: textBytes(id),
    owner: typeof owner === 'string' ? ownerBytes(owner) : null,
    data,
    count: 1,
    company,
  });
}

// Makes a function that gives updates of the resource the company on whose timeline they show as well.
function companyReader({ name }: Resource): (id: ColumnValue | undefined) => NewChange['company'] {
  if (!hasTimeline(name)) return () => null;
  const bytes = lastOf(textBytes);
  return (id) => (typeof id === 'string' ? bytes(id) : null);
}

// Most records that change together have the same owner.
function lastOf<T>(compute: (text: string) => T): (text: string) => T {
  let last: { text: string; value: T } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, value: compute(text) };
    return last.value;
  };
}

function textOf(data: object | null): string | null {
  return data === null ? null : JSON.stringify(data);
}

/** The owner of a record, if its resource has one. */
export function ownerOf({ owner }: Pick<Resource, 'owner'>, row: Row): ColumnValue {
  return owner === null ? null : (row[owner] ?? null);
}

/** The fields that clients write and that are not stored in the table of the resource. */
export const fieldsBeside = memoize(({ fields }: Resource) =>
  Object.keys(fields).filter((name) => fields[name]?.column === null && fields[name]?.access === 'write'),
);
