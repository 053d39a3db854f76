// Carries out items that each create or change one record, in runs in which each record is written once.
// A run makes the lookups for all its items together, then the checks of each in order, and then all writes together.

import type { RecordRow } from '../../db/engine/schema.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import {
  changedColumns,
  findRecords,
  insertReservedRecords,
  reserveQuota,
  reserveUpdate,
  updateReservedRecord,
} from '../../db/tables/records.ts';
import { principalOf } from '../access.ts';
import { ApiError } from '../errors.ts';
import { check } from './checks.ts';
import { type KnownRecords, noteAccepted } from './lookups.ts';
import { refusalOf } from './outcomes.ts';
import { fillComputedFields, presentAll } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Change, Created, Rules, Writer } from './rules.ts';

/** What became of an item: the record as shown, or why it was rejected. */
export type Result = { status: 'created' | 'updated' | 'unchanged'; record: Data } | ApiError;

/** What is to be done for an item. */
export interface PlannedChange {
  change: Change;
  /** The record as stored; null for a create. */
  row: RecordRow | null;
}

/** The plans for the items of a run, made from lookups for all of them. */
export interface RunPlan {
  /** For each item its plan, or why it is rejected. */
  plans: readonly (PlannedChange | ApiError)[];
  known: KnownRecords;
}

type Planner<Item> = (writer: Writer, items: readonly Item[]) => Promise<RunPlan>;

/**
 * Carries out items in order; one that fails does not affect the others, and each sees those before it.
 * @param plan makes the plans of a run
 * @param isRepeatedShown whether an existing duplicate is shown whole or by ID only, so that repeated imports need not read
 *   it again
 */
export async function carryOut<Item>(
  writer: Writer,
  resource: Resource,
  items: readonly Item[],
  plan: Planner<Item>,
  isRepeatedShown = false,
): Promise<Result[]> {
  const results: Result[] = [];
  let sizeMax = items.length;
  while (results.length < items.length) {
    const part = items.slice(results.length, results.length + sizeMax);
    const done = await carryOutRun(writer, resource, await plan(writer, part), isRepeatedShown);
    results.push(...done);
    // Where many items depend on earlier ones, lookups for all that remain would be made again for each of them.
    sizeMax = done.length < part.length ? 2 * done.length : items.length;
  }
  return results;
}

/** A change that will be written. */
interface Accepted extends PlannedChange {
  /** Its place among the items of the run. */
  index: number;
  /** The columns of an update. */
  columns: Row;
}

// Ends before the first item whose plan depends on what the run will write.
async function carryOutRun(
  writer: Writer,
  resource: Resource,
  { plans, known }: RunPlan,
  isRepeatedShown: boolean,
): Promise<Result[]> {
  const { create, dependsOn } = rulesOf(resource);
  const accepted: Accepted[] = [];
  const touched = new Set<string>();
  const results: Result[] = [];
  for (const [index, plan] of plans.entries()) {
    if (plan instanceof ApiError) {
      results.push(plan);
      continue;
    }
    const { change } = plan;
    if (touched.has(change.id) || accepted.some((earlier) => dependsOn?.(change, earlier.change))) break;
    try {
      const columns = await accept(writer, plan, known);
      results.push(resultOf(change, columns !== null));
      if (columns === null) continue;
      accepted.push({ ...plan, index, columns });
      touched.add(change.id);
    } catch (error) {
      results.push(refusalOf(error));
    }
  }
  if (accepted.length === 0) return results;
  if (create === undefined) await write(writer, resource, accepted);
  else await writeBy(create, writer, resource, { accepted, results, isRepeatedShown });
  return results;
}

function resultOf({ current, next }: Change, isWritten: boolean): Result {
  if (current === null) return { status: 'created', record: next };
  return isWritten ? { status: 'updated', record: next } : { status: 'unchanged', record: current };
}

// The columns that an update will set, none for a create; null if nothing will be written.
async function accept(
  { db, access: { orgNumber } }: Writer,
  { change, row }: PlannedChange,
  known: KnownRecords,
): Promise<Row | null> {
  const { resource, current, input, next } = change;
  if (row === null || current === null) {
    await check(change, known);
    const isCounted = rulesOf(resource).create === undefined;
    if (isCounted) await reserveQuota(db, orgNumber, [{ resource, data: next }]);
    noteAccepted(known, change);
    return {};
  }
  if (Object.keys(input).length === 0) return null;
  await check(change, known);
  const fields = newFields(current, next);
  if (fields === null) return null;
  const columns = changedColumns(resource, row, fields);
  await reserveUpdate(db, resource, { orgNumber, row }, columns);
  noteAccepted(known, change);
  return columns;
}

// The fields that differ, those that rules changed included, and the time; null if there are none.
function newFields(current: Data, next: Data): Data | null {
  const fields: Data = {};
  let isChanged = false;
  for (const name in next) {
    const value = next[name] ?? null;
    if (isSame(value, current[name] ?? null)) continue;
    isChanged ||= name !== 'updated_at';
    fields[name] = value;
  }
  return isChanged ? fields : null;
}

// Lists and objects that do not differ have their parts in the same order, because rules and merging keep it.
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  return (
    typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other)
  );
}

async function write(writer: Writer, resource: Resource, accepted: readonly Accepted[]): Promise<void> {
  const { db, access, now } = writer;
  const { orgNumber } = access;
  const created: { id: string; data: Data }[] = [];
  // Updates first and in order: a later change can take a unique value that an earlier one gives up.
  for (const { change, row, columns } of accepted) {
    if (row === null) created.push({ id: change.id, data: change.next });
    else await updateReservedRecord(db, resource, { orgNumber, row }, columns);
  }
  if (created.length > 0)
    await insertReservedRecords(db, resource, { orgNumber, createdBy: principalOf(access), now }, created);
  const changes = accepted.map(({ change }) => change);
  await rulesOf(resource).afterWrite?.(writer, changes);
  await fillComputedFields(
    writer,
    resource,
    changes.map(({ next }) => next),
  );
}

interface Writing {
  accepted: readonly Accepted[];
  /** Of the items of the run; those of the accepted ones are completed. */
  results: Result[];
  isRepeatedShown: boolean;
}

// One after another: each can be a duplicate of an earlier one, and only then is it known whether it needs room.
async function writeBy(
  create: NonNullable<Rules['create']>,
  writer: Writer,
  resource: Resource,
  { accepted, results, isRepeatedShown }: Writing,
): Promise<void> {
  const created: [Accepted, Created][] = [];
  for (const one of accepted) {
    try {
      created.push([one, await create(one.change)]);
    } catch (error) {
      results[one.index] = refusalOf(error);
    }
  }
  const repeated = new Set(created.flatMap(([, { id, isNew }]) => (isRepeatedShown && !isNew ? [id] : [])));
  const rows = await findRecords(writer.db, resource, writer.access.orgNumber, [...repeated]);
  const existing = new Map((await presentAll(writer, resource, rows)).map((record) => [record.id, record]));
  const incomplete: Data[] = [];
  for (const [{ change, index }, { id, isNew, isComplete, extra }] of created) {
    const record = { ...(isNew ? change.next : existing.get(id)), id, ...extra };
    if (isNew && !isComplete) incomplete.push(record);
    results[index] = { status: 'created', record };
  }
  await fillComputedFields(writer, resource, incomplete);
}
