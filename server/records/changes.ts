// Creates, updates and deletes, the same for every resource: all checks come first, then all writes.

import { QuotaError } from '../../db/engine/quota.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import { initialRecord, showRow } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { deleteRecord } from '../../db/tables/deletion.ts';
import { recordId } from '../../db/tables/record-id.ts';
import {
  changedColumns,
  findRecords,
  insertReservedRecords,
  reserveQuota,
  updateRecord,
} from '../../db/tables/records.ts';
import { mayRead, principalOf } from '../access.ts';
import { ApiError } from '../errors.ts';
import { quotaRefusal } from '../quotas/quota-errors.ts';
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import { changeOf, check } from './checks.ts';
import { loadKnownRecords, noteAccepted } from './lookups.ts';
import { fillComputedFields, getRow, present } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Change, Created, Rules, Writer } from './rules.ts';

/**
 * Creates a record.
 * @param input fields that are valid against the resource's create schema
 * @returns the record as shown; only the ID of an existing duplicate that the key cannot read
 */
export async function createRecord(writer: Writer, resource: Resource, input: Data): Promise<Data> {
  const isShown = mayRead(writer.access, resource);
  const [outcome] = await createAll(writer, resource, [input], isShown);
  if (outcome instanceof ApiError) throw outcome;
  return outcome ?? {};
}

/**
 * Creates records in order; one that fails does not affect the others.
 * @param inputs fields that are valid against the resource's create schema
 * @returns for each the record as shown, only the ID of an existing duplicate, or the error
 */
export function createRecords(
  writer: Writer,
  resource: Resource,
  inputs: readonly Data[],
): Promise<(Data | ApiError)[]> {
  return createAll(writer, resource, inputs, false);
}

async function createAll(
  writer: Writer,
  resource: Resource,
  inputs: readonly Data[],
  isRepeatedShown: boolean,
): Promise<(Data | ApiError)[]> {
  const changes: Change[] = [];
  for (const input of inputs) {
    const next = initialRecord(resource.fields);
    changeOf(writer, resource, { id: recordId(writer.now), current: null, next, batch: changes }, input);
  }
  const { db, access } = writer;
  const { create } = rulesOf(resource);
  const known = await loadKnownRecords(writer, resource, changes);
  const accepted: Change[] = [];
  const refused = new Map<Change, ApiError>();
  for (const change of changes) {
    try {
      await check(change, known);
      if (create === undefined) await reserveQuota(db, access.orgNumber, [{ resource, data: change.next }]);
      noteAccepted(known, change);
      accepted.push(change);
    } catch (error) {
      refused.set(change, refusalOf(error));
    }
  }
  if (create !== undefined) await writeBy(create, writer, resource, { accepted, refused, isRepeatedShown });
  else if (accepted.length > 0) await write(writer, resource, accepted);
  return changes.map((change) => refused.get(change) ?? change.next);
}

// @throws errors that are not part of the API
function refusalOf(error: unknown): ApiError {
  if (error instanceof QuotaError) return quotaRefusal(error);
  if (error instanceof ApiError) return error;
  throw error;
}

// Updates `next` of each change to the record as shown.
async function write(writer: Writer, resource: Resource, changes: readonly Change[]): Promise<void> {
  const { db, access, now } = writer;
  const createdBy = principalOf(access);
  const records = changes.map(({ id, next }) => ({ id, data: next }));
  await insertReservedRecords(db, resource, { orgNumber: access.orgNumber, createdBy, now }, records);
  await rulesOf(resource).afterWrite?.(writer, changes);
  const origin = shownOrigin(writer);
  for (const { id, data } of records) Object.assign(data, { id }, origin);
  await fillComputedFields(
    writer,
    resource,
    changes.map(({ next }) => next),
  );
}

// The origin of a new record, as shown.
function shownOrigin({ access, now }: Writer): Data {
  const at = instantText(now);
  return { created_by: principalOf(access), created_at: at, updated_at: at };
}

interface Writing {
  accepted: readonly Change[];
  refused: Map<Change, ApiError>;
  /** Whether an existing duplicate is shown whole or by ID only, so that repeated imports need not read it again. */
  isRepeatedShown: boolean;
}

// One after another: each can be a duplicate of an earlier one, and only then is it known whether it needs room.
async function writeBy(
  create: NonNullable<Rules['create']>,
  writer: Writer,
  resource: Resource,
  { accepted, refused, isRepeatedShown }: Writing,
): Promise<void> {
  const created = new Map<Change, Created>();
  for (const change of accepted) {
    try {
      created.set(change, await create(change));
    } catch (error) {
      refused.set(change, refusalOf(error));
    }
  }
  const origin = shownOrigin(writer);
  const incomplete: Data[] = [];
  const repeated = new Set<string>();
  for (const [change, { id, isNew, isComplete }] of created) {
    if (isNew) Object.assign(change.next, { id }, origin);
    else if (isRepeatedShown) repeated.add(id);
    else change.next = { id };
    if (isNew && !isComplete) incomplete.push(change.next);
  }
  const rows = await findRecords(writer.db, resource, writer.access.orgNumber, [...repeated]);
  const found = rows.map((row) => showRow(resource.fields, row));
  await fillComputedFields(writer, resource, [...incomplete, ...found]);
  const records = new Map(found.map((record) => [record.id, record]));
  for (const [{ next }, { id, extra }] of created) Object.assign(next, records.get(id), extra);
}

/**
 * Changes the fields that are present in `input`; an empty input changes nothing.
 * @throws ApiError 404, 422, 409, 403
 */
export async function updateRecordFields(
  writer: Writer,
  resource: Resource,
  id: string,
  input: Data,
): Promise<Data> {
  const { db, access, now } = writer;
  const row = await getRow(writer, resource, id);
  if (Object.keys(input).length === 0) return present(writer, resource, row);
  const current = await present(writer, resource, { ...row });
  const change = changeOf(writer, resource, { id, current, next: { ...current }, batch: [] }, input);
  await check(change, await loadKnownRecords(writer, resource, change.batch));
  const { next } = change;
  const columns = { ...changedColumns(resource, row, newFields(current, next)), updated_at: now };
  await updateRecord(db, resource, { orgNumber: access.orgNumber, row }, columns);
  await rulesOf(resource).afterWrite?.(writer, [change]);
  next.updated_at = instantText(now);
  await fillComputedFields(writer, resource, [next]);
  return next;
}

// The fields sent, plus those that rules changed.
function newFields(current: Data, next: Data): Data {
  const fields: Data = {};
  for (const name in next) {
    const value = next[name] ?? null;
    if (value !== current[name]) fields[name] = value;
  }
  return fields;
}

/** Deletes a record and its links, clears references to it, and records the delete in the audit log. */
export async function removeRecord(
  writer: Writer & { origin: RequestOrigin },
  resource: Resource,
  id: string,
): Promise<void> {
  const { db: trx, access, origin, now } = writer;
  await getRow(writer, resource, id);
  await rulesOf(resource).beforeDelete?.({ trx, access, id });
  const { orgNumber } = access;
  await deleteRecord(trx, resource, { orgNumber, id }, now);
  const target = { type: resource.name, id };
  const { requestId } = origin;
  await recordAudit(trx, {
    orgNumber,
    actor: actorOf(writer),
    action: 'record.deleted',
    target,
    requestId,
    now,
  });
}
