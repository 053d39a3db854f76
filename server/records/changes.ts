// Creates, updates and deletes, the same for every resource: all checks come first, then all writes.

import type { RecordRow } from '../../db/engine/schema.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import { initialFields } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { deleteRecord } from '../../db/tables/deletion.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { findRecords } from '../../db/tables/records.ts';
import { canSee, mayRead, principalOf } from '../access.ts';
import { ApiError, notFound } from '../errors.ts';
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import { changeOf } from './checks.ts';
import { loadKnownRecords } from './lookups.ts';
import { getRow, presentAll } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Change, Reader, Writer } from './rules.ts';
import { carryOut, type PlannedChange, type Result, type RunPlan } from './run.ts';

/**
 * Creates a record.
 * @param input fields that are valid against the resource's create schema
 * @returns the record as shown; only the ID of an existing duplicate that the key cannot read
 * @throws ApiError 403, 409, 422
 */
export async function createRecord(writer: Writer, resource: Resource, input: Data): Promise<Data> {
  const isRepeatedShown = mayRead(writer.access, resource);
  return only(await carryOut(writer, resource, [input], planCreates(resource), isRepeatedShown));
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
): Promise<Result[]> {
  return carryOut(writer, resource, inputs, planCreates(resource));
}

/** Fields to change, valid against the resource's update schema. */
export interface Update {
  id: string;
  input: Data;
}

/**
 * Changes the fields that are present in `input`; if none of them gets another value, nothing is written.
 * @returns the record as shown
 * @throws ApiError 403, 404, 409, 422
 */
export async function updateRecordFields(
  writer: Writer,
  resource: Resource,
  id: string,
  input: Data,
): Promise<Data> {
  return only(await carryOut(writer, resource, [{ id, input }], planUpdates(resource)));
}

/** Changes records in order, each as `updateRecordFields` does; one that fails does not affect the others. */
export function updateRecords(
  writer: Writer,
  resource: Resource,
  updates: readonly Update[],
): Promise<Result[]> {
  return carryOut(writer, resource, updates, planUpdates(resource));
}

function only([result]: readonly Result[]): Data {
  if (result instanceof ApiError) throw result;
  return result?.record ?? {};
}

function planCreates(resource: Resource) {
  return async (writer: Writer, inputs: readonly Data[]): Promise<RunPlan> => {
    const batch: Change[] = [];
    const initial = initialRecord(writer, resource);
    const plans = inputs.map((input) => planCreate(writer, resource, { initial, batch }, input));
    return { plans, known: await loadKnownRecords(writer, resource, batch) };
  };
}

function planUpdates(resource: Resource) {
  return async (writer: Writer, updates: readonly Update[]): Promise<RunPlan> => {
    const batch: Change[] = [];
    const records = await loadRecords(
      writer,
      resource,
      updates.map(({ id }) => id),
    );
    const plans = updates.map(({ id, input }) => {
      const record = records.get(id);
      if (record === undefined || !canSee(writer.access, resource, record.row))
        return notFound(resource.singular);
      return planUpdate(writer, resource, { record, batch }, input);
    });
    return { plans, known: await loadKnownRecords(writer, resource, batch) };
  };
}

/** A record, stored and as shown. */
interface StoredRecord {
  row: RecordRow;
  shown: Data;
}

async function loadRecords(
  reader: Reader,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRecord>> {
  const rows = await findRecords(reader.db, resource, reader.access.orgNumber, [...new Set(ids)]);
  const shown = await presentAll(
    reader,
    resource,
    rows.map((row) => ({ ...row })),
  );
  return new Map(rows.map((row, index) => [row.id, { row, shown: shown[index] ?? {} }]));
}

function initialRecord({ access, now }: Writer, { fields }: Resource): Data {
  const at = instantText(now);
  return {
    ...initialFields(fields),
    ...{ created_by: principalOf(access), created_at: at, updated_at: at },
  };
}

function planCreate(
  writer: Writer,
  resource: Resource,
  { initial, batch }: { initial: Data; batch: Change[] },
  input: Data,
): PlannedChange {
  const subject = { id: recordId(writer.now), current: null, base: initial, batch };
  return { change: changeOf(writer, resource, subject, input), row: null };
}

function planUpdate(
  writer: Writer,
  resource: Resource,
  { record: { row, shown }, batch }: { record: StoredRecord; batch: Change[] },
  input: Data,
): PlannedChange {
  const base = { ...shown, updated_at: instantText(writer.now) };
  return {
    change: changeOf(writer, resource, { id: row.id, current: shown, base, batch }, input),
    row,
  };
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
