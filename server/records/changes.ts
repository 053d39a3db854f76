// Creates and updates, the same for every resource: all checks come first, then all writes.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import { planCreates, planUpdates, type Update } from './plans.ts';
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
export function createRecord(writer: Writer, resource: Resource, input: Data): Eventually<Data> {
  const isRepeatedShown = mayRead(writer.access, resource);
  const creating = carryOut({ writer, resource, plan: planCreates, isRepeatedShown }, [input]);
  return andThen(creating, (results) => only(results).record);
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
): Eventually<Result[]> {
  return carryOut({ writer, resource, plan: planCreates }, inputs);
}

/**
 * Changes the fields that are present in `input`; if none of them gets another value, nothing is written.
 * @returns the record as shown
 * @throws ApiError 403, 404, 409, 422
 */
export function updateRecordFields(
  writer: Writer,
  resource: Resource,
  id: string,
  input: Data,
): Eventually<Data> {
  const updating = carryOut({ writer, resource, plan: planUpdates }, [{ id, input }]);
  return andThen(updating, (results) => only(results).record);
}

/** Changes records in order, each as `updateRecordFields` does; one that fails does not affect the others. */
export function updateRecords(
  writer: Writer,
  resource: Resource,
  updates: readonly Update[],
): Eventually<Result[]> {
  return carryOut({ writer, resource, plan: planUpdates }, updates);
}

/**
 * Changes the record that a body identifies, or creates one.
 * @param body valid against the schema of an upsert and without `upsertFaults`
 * @throws ApiError 403, 404, 409, 422
 */
export function upsertRecord(writer: Writer, resource: Resource, body: Data): Eventually<SavedRecord> {
  return andThen(upsertRecords(writer, resource, [body]), only);
}

/** Upserts records in order, each as `upsertRecord` does; one that fails does not affect the others. */
export function upsertRecords(
  writer: Writer,
  resource: Resource,
  bodies: readonly Data[],
): Eventually<Result[]> {
  return carryOut({ writer, resource, plan: planUpserts }, bodies);
}

function only([result]: readonly Result[]): SavedRecord {
  if (result === undefined) throw new Error('a change has no result');
  if (result instanceof ApiError) throw result;
  return result;
}
