// Creates, updates and deletes, the same for every resource: all checks come first, then all writes.

import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { deleteRecord } from '../../db/tables/deletion.ts';
import { mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import { planCreates, planUpdates, type Update } from './plans.ts';
import { getRow } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';
import { carryOut } from './run.ts';
import type { Result, SavedRecord } from './run-plan.ts';
import { planUpserts } from './upserts.ts';

/**
 * Creates a record.
 * @param input fields that are valid against the resource's create schema
 * @returns the record as shown; only the ID of an existing duplicate that the key cannot read
 * @throws ApiError 403, 409, 422
 */
export async function createRecord(writer: Writer, resource: Resource, input: Data): Promise<Data> {
  const isRepeatedShown = mayRead(writer.access, resource);
  const results = await carryOut(writer, resource, [input], planCreates(resource), isRepeatedShown);
  return only(results).record;
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
  return only(await carryOut(writer, resource, [{ id, input }], planUpdates(resource))).record;
}

/** Changes records in order, each as `updateRecordFields` does; one that fails does not affect the others. */
export function updateRecords(
  writer: Writer,
  resource: Resource,
  updates: readonly Update[],
): Promise<Result[]> {
  return carryOut(writer, resource, updates, planUpdates(resource));
}

/**
 * Changes the record that a body identifies, or creates one.
 * @param body valid against the schema of an upsert and without `upsertFaults`
 * @throws ApiError 403, 404, 409, 422
 */
export async function upsertRecord(writer: Writer, resource: Resource, body: Data): Promise<SavedRecord> {
  return only(await upsertRecords(writer, resource, [body]));
}

/** Upserts records in order, each as `upsertRecord` does; one that fails does not affect the others. */
export function upsertRecords(
  writer: Writer,
  resource: Resource,
  bodies: readonly Data[],
): Promise<Result[]> {
  return carryOut(writer, resource, bodies, planUpserts(resource));
}

function only([result]: readonly Result[]): SavedRecord {
  if (result === undefined) throw new Error('a change has no result');
  if (result instanceof ApiError) throw result;
  return result;
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
