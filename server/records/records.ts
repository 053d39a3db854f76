// The life of a record, the same for every resource: list, get, create, update, delete; rules add what is special.
import type { ColumnValue } from '../../db/declare/fields.ts';
import { initialRecord, setFields, showRow } from '../../db/declare/forms.ts';
import { instantText } from '../../db/declare/instants.ts';
import { type Data, isObject } from '../../db/declare/json.ts';
import { CUSTOM_KEYS_MAX } from '../../db/declare/json-fields.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { missingIdentity } from '../../db/declare/rules.ts';
import type { Db, RecordRow } from '../../db/schema.ts';
import { type Direction, listRecords } from '../../db/tables/query.ts';
import { recordId } from '../../db/tables/record-id.ts';
import {
  changedColumns,
  deleteRecord,
  findRecord,
  insertRecord,
  updateRecord,
} from '../../db/tables/records.ts';
import { type Access, canSee, ownerFilter, principalOf } from '../access.ts';
import { ApiError, notFound, validationError } from '../errors.ts';
import { refuseTaken } from './conflict.ts';
import { checkReferences, findVisible } from './references.ts';
import { rulesOf } from './registry.ts';
import type { Change, Reader } from './rules.ts';

/** Who writes, where and when. */
export interface Writer {
  db: Db;
  access: Access;
  /** Unix milliseconds. */
  now: number;
}

/**
 * The record of that id.
 * @throws ApiError 404 if it is absent or not the key's to see
 */
export async function getRecord(reader: Reader, resource: Resource, id: string): Promise<Data> {
  return present(reader, resource, await getRow(reader, resource, id));
}

/** The row of that id, which must exist and be visible to the key. */
export async function getRow(reader: Reader, resource: Resource, id: string): Promise<RecordRow> {
  const row = await findRecord(reader.db, resource, { orgId: reader.access.orgId, id });
  if (row === undefined || !canSee(reader.access, resource, row)) throw notFound(resource.singular);
  return row;
}

/**
 * Creates a record.
 * @param input fields that are valid against the resource's create schema
 * @returns the record as it is then shown
 */
export async function createRecord(writer: Writer, resource: Resource, input: Data): Promise<Data> {
  const { db: trx, access, now } = writer;
  const id = recordId(now);
  const next = initialRecord(resource.fields);
  setFields(resource.fields, next, input);
  const change: Change = { trx, access, now, resource, id, current: null, input, next, faults: [] };
  takeOwnership(change);
  mergeCustom(change);
  await check(change);
  const rules = rulesOf(resource);
  if (rules.create !== undefined) {
    const { id: createdId, extra } = await rules.create(change);
    return Object.assign(await getRecord(writer, resource, createdId), extra);
  }
  const createdBy = principalOf(access);
  const { orgId } = access;
  await insertRecord(trx, resource, { orgId, id, createdBy, now, data: next });
  await rules.afterWrite?.(change);
  const at = instantText(now);
  Object.assign(next, { id, created_by: createdBy, created_at: at, updated_at: at });
  return complete(writer, resource, next);
}

/**
 * Changes the fields that are present in `input`; an empty one changes nothing.
 * @throws ApiError 404, 422, 409, 403
 */
export async function updateRecordFields(
  writer: Writer,
  resource: Resource,
  id: string,
  input: Data,
): Promise<Data> {
  const { db: trx, access, now } = writer;
  const row = await getRow(writer, resource, id);
  if (Object.keys(input).length === 0) return present(writer, resource, row);
  const current = await present(writer, resource, { ...row });
  const next = { ...current };
  setFields(resource.fields, next, input);
  const change: Change = { trx, access, now, resource, id, current, input, next, faults: [] };
  mergeCustom(change);
  await check(change);
  const columns = { ...changedColumns(resource, row, newFields(current, next)), updated_at: now };
  await updateRecord(trx, resource, { orgId: access.orgId, id }, columns);
  await rulesOf(resource).afterWrite?.(change);
  next.updated_at = instantText(now);
  return complete(writer, resource, next);
}

// What was sent, and what rules have made of it.
function newFields(current: Data, next: Data): Data {
  const fields: Data = {};
  for (const name in next) {
    const value = next[name] ?? null;
    if (value !== current[name]) fields[name] = value;
  }
  return fields;
}

/** Deletes a record, the links to it, and clears references to it. */
export async function removeRecord(writer: Writer, resource: Resource, id: string): Promise<void> {
  const { db: trx, access, now } = writer;
  await getRow(writer, resource, id);
  await rulesOf(resource).beforeDelete?.({ trx, access, id });
  await deleteRecord(trx, resource, { orgId: access.orgId, id }, now);
}

export interface PageRequest {
  filters: Readonly<Record<string, ColumnValue>>;
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  after: { value: number; id: string } | null;
  limit: number;
}

export interface RecordPage {
  records: Data[];
  /** Where the next page begins; null for an empty page. */
  end: { value: number; id: string } | null;
  hasNextPage: boolean;
}

/** One page of records that the key sees. */
export async function listPage(
  reader: Reader,
  resource: Resource,
  request: PageRequest,
): Promise<RecordPage> {
  const { db, access } = reader;
  if (await namesHiddenRecord(reader, resource, request))
    return { records: [], end: null, hasNextPage: false };
  const query = {
    ...request,
    orgId: access.orgId,
    ownerId: ownerFilter(access, resource),
    limit: request.limit + 1,
  };
  const rows = await listRecords(db, resource, query);
  const hasNextPage = rows.length > request.limit;
  if (hasNextPage) rows.pop();
  const last = rows.at(-1);
  const end = last === undefined ? null : { value: last[request.sortBy], id: last.id };
  return { records: await presentAll(reader, resource, rows), end, hasNextPage };
}

/** Makes a row, itself, the record that responses carry. */
async function present(reader: Reader, resource: Resource, row: RecordRow): Promise<Data> {
  return complete(reader, resource, showRow(resource.fields, row));
}

// Fills in what is computed.
async function complete(reader: Reader, resource: Resource, record: Data): Promise<Data> {
  await rulesOf(resource).present?.(reader, [record]);
  return record;
}

/** Makes rows, themselves, the records that responses carry. */
export async function presentAll(
  reader: Reader,
  resource: Resource,
  rows: readonly RecordRow[],
): Promise<Data[]> {
  const records = rows.map((row) => showRow(resource.fields, row));
  if (records.length > 0) await rulesOf(resource).present?.(reader, records);
  return records;
}

async function check(change: Change): Promise<void> {
  const { trx, access, resource, current, input, next, faults } = change;
  const rules = rulesOf(resource);
  refuseGivingAway(change);
  faults.push(...missingIdentity(resource, next));
  faults.push(...(await checkReferences(trx, access, resource.fields, { data: input, stored: current })));
  await rules.prepare?.(change);
  if (faults.length > 0) throw validationError(faults);
  await refuseTaken(change);
  await rules.claim?.(change);
}

// created_by follows from the key; every other owner is a field that a user-bound key may only set to its user.
function takeOwnership({ access, resource, input, next }: Change): void {
  if (access.userId === null || resource.owner === null || resource.owner === 'created_by') return;
  if ((input[resource.owner] ?? null) === null) next[resource.owner] = access.userId;
}

function refuseGivingAway({ access, resource, current, input }: Change): void {
  if (access.userId === null || resource.owner === null) return;
  const owner = input[resource.owner];
  if (owner === undefined || owner === access.userId || (owner === null && current === null)) return;
  const message = `This key is bound to one user: ${resource.owner} can only be that user.`;
  throw new ApiError('OPERATION_FORBIDDEN', message);
}

function mergeCustom({ resource, current, input, next, faults }: Change): void {
  const sent = input.custom;
  if (resource.fields.custom === undefined || !isObject(sent)) return;
  const merged = { ...(isObject(current?.custom) ? current.custom : {}), ...sent };
  for (const name in merged) if (merged[name] === null) delete merged[name];
  next.custom = merged;
  const count = Object.keys(merged).length;
  if (count <= CUSTOM_KEYS_MAX) return;
  const message = `must have at most ${CUSTOM_KEYS_MAX} keys; with those already there it would have ${count}`;
  faults.push({ path: 'custom', message, code: 'VALIDATION_OUT_OF_RANGE' });
}

// A filter by a record that the key cannot see finds nothing, as if the record did not exist.
async function namesHiddenRecord(reader: Reader, resource: Resource, request: PageRequest): Promise<boolean> {
  if (reader.access.userId === null) return false;
  for (const [name, value] of Object.entries(request.filters)) {
    const targets = (resource.filters[name]?.references ?? []).filter(
      (target) => target !== 'users' && target !== 'stages',
    );
    if (targets.length === 0) continue;
    const found = await Promise.all(
      targets.map((target) => findVisible(reader.db, reader.access, target, String(value))),
    );
    if (found.every((row) => row === undefined)) return true;
  }
  return false;
}
