// Creates, updates and deletes, the same for every resource: all checks come first, then all writes.

import { instantText } from '../../db/model/instants.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { initialFields } from '../../db/model/record-forms.ts';
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
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import { changeOf, check } from './checks.ts';
import { loadKnownRecords, noteAccepted } from './lookups.ts';
import { refusalOf } from './outcomes.ts';
import { fillComputedFields, getRow, present, presentAll } from './records.ts';
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
  const { db, access, now } = writer;
  const at = instantText(now);
  const initial = {
    ...initialFields(resource.fields),
    ...{ created_by: principalOf(access), created_at: at, updated_at: at },
  };
  const changes: Change[] = [];
  for (const input of inputs) {
    const subject = { id: recordId(now), current: null, base: initial, batch: changes };
    changeOf(writer, resource, subject, input);
  }
  const { create } = rulesOf(resource);
  const known = await loadKnownRecords(writer, resource, changes);
  const accepted: Change[] = [];
  const outcomes: Outcomes = new Map();
  for (const change of changes) {
    try {
      await check(change, known);
      if (create === undefined) await reserveQuota(db, access.orgNumber, [{ resource, data: change.next }]);
      noteAccepted(known, change);
      accepted.push(change);
    } catch (error) {
      outcomes.set(change, refusalOf(error));
    }
  }
  if (create !== undefined) await writeBy(create, writer, resource, { accepted, outcomes, isRepeatedShown });
  else if (accepted.length > 0) await write(writer, resource, accepted);
  return changes.map((change) => outcomes.get(change) ?? change.next);
}

async function write(writer: Writer, resource: Resource, changes: readonly Change[]): Promise<void> {
  const { db, access, now } = writer;
  const origin = { orgNumber: access.orgNumber, createdBy: principalOf(access), now };
  const records = changes.map(({ id, next }) => ({ id, data: next }));
  await insertReservedRecords(db, resource, origin, records);
  await rulesOf(resource).afterWrite?.(writer, changes);
  await fillComputedFields(
    writer,
    resource,
    changes.map(({ next }) => next),
  );
}

/** For a change, the error, or the record as shown if that is not `next`. */
type Outcomes = Map<Change, Data | ApiError>;

interface Writing {
  accepted: readonly Change[];
  outcomes: Outcomes;
  /** Whether an existing duplicate is shown whole or by ID only, so that repeated imports need not read it again. */
  isRepeatedShown: boolean;
}

// One after another: each can be a duplicate of an earlier one, and only then is it known whether it needs room.
async function writeBy(
  create: NonNullable<Rules['create']>,
  writer: Writer,
  resource: Resource,
  { accepted, outcomes, isRepeatedShown }: Writing,
): Promise<void> {
  const created: [Change, Created][] = [];
  for (const change of accepted) {
    try {
      created.push([change, await create(change)]);
    } catch (error) {
      outcomes.set(change, refusalOf(error));
    }
  }
  const repeated = new Set(created.flatMap(([, { id, isNew }]) => (isRepeatedShown && !isNew ? [id] : [])));
  const rows = await findRecords(writer.db, resource, writer.access.orgNumber, [...repeated]);
  const existing = new Map((await presentAll(writer, resource, rows)).map((record) => [record.id, record]));
  const incomplete: Data[] = [];
  for (const [change, { id, isNew, isComplete, extra }] of created) {
    const record = { ...(isNew ? change.next : existing.get(id)), id, ...extra };
    if (isNew && !isComplete) incomplete.push(record);
    outcomes.set(change, record);
  }
  await fillComputedFields(writer, resource, incomplete);
}

/**
 * Changes the fields that are present in `input`; if none of them gets another value, nothing is written.
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
  const base = { ...current, updated_at: instantText(now) };
  const change = changeOf(writer, resource, { id, current, base, batch: [] }, input);
  await check(change, await loadKnownRecords(writer, resource, change.batch));
  const { next } = change;
  const fields = newFields(current, next);
  // Always the time, and whatever else is new.
  if (Object.keys(fields).length < 2) return current;
  const columns = changedColumns(resource, row, fields);
  await updateRecord(db, resource, { orgNumber: access.orgNumber, row }, columns);
  await rulesOf(resource).afterWrite?.(writer, [change]);
  await fillComputedFields(writer, resource, [next]);
  return next;
}

// The fields that differ, those that rules changed and the time included.
function newFields(current: Data, next: Data): Data {
  const fields: Data = {};
  for (const name in next) {
    const value = next[name] ?? null;
    if (!isSame(value, current[name] ?? null)) fields[name] = value;
  }
  return fields;
}

// Lists and objects that do not differ have their parts in the same order, because rules and merging keep it.
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  return (
    typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other)
  );
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
