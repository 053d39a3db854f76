// Carries out items that each create or change one record, in runs in which each record is written once.
// A run makes the lookups for all its items together, then the checks of each in order, and then all writes together.

import { withSavepoint } from '../../db/engine/transaction.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { changedColumns, reserveQuota, reserveUpdate } from '../../db/tables/records.ts';
import { ApiError } from '../errors.ts';
import { check } from './checks.ts';
import { type AttachPaths, checkAttach } from './external-ids.ts';
import { type KnownRecords, noteAccepted } from './lookups.ts';
import { refusalOf } from './outcomes.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';
import type { Accepted, PlannedChange, Result, RunPlan, SavedRecord, Writes } from './run-plan.ts';
import { writeAll, writeEach } from './writes.ts';

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

// Ends before the first item whose plan depends on what the run will write.
async function carryOutRun(
  writer: Writer,
  resource: Resource,
  run: RunPlan,
  isRepeatedShown: boolean,
): Promise<Result[]> {
  const { create, dependsOn } = rulesOf(resource);
  const accepted: Accepted[] = [];
  const touched = new Set<string>();
  const results: Result[] = [];
  for (const [index, plan] of run.plans.entries()) {
    if (accepted.length > 0 && run.isOutdated?.(index)) break;
    if (plan instanceof ApiError) {
      results.push(plan);
      continue;
    }
    const { change } = plan;
    if (touched.has(change.id) || accepted.some((earlier) => dependsOn?.(change, earlier.change))) break;
    try {
      const writes = await accept(writer, plan, run);
      results.push(resultOf(plan, writes));
      if (writes.columns === null && writes.externalId === null) continue;
      accepted.push({ ...plan, ...writes, index });
      touched.add(change.id);
    } catch (error) {
      results.push(refusalOf(error));
    }
  }
  if (accepted.length === 0) return results;
  if (create === undefined) await writeAll(writer, resource, accepted);
  else await writeEach(create, writer, resource, { accepted, results, isRepeatedShown });
  return results;
}

function resultOf({ change, matchedBy = null }: PlannedChange, { columns, externalId }: Writes): SavedRecord {
  const { current, next } = change;
  if (current === null) return { status: 'created', record: next, matchedBy };
  if (columns !== null) return { status: 'updated', record: next, matchedBy };
  return { status: externalId === null ? 'unchanged' : 'updated', record: current, matchedBy };
}

async function accept(writer: Writer, plan: PlannedChange, run: RunPlan): Promise<Writes> {
  const { change, externalId = null } = plan;
  const { known, externalIds } = run;
  if (externalId === null || externalIds === undefined) {
    const columns = await acceptFields(writer, plan, known);
    if (columns !== null) noteAccepted(known, change);
    return { columns, externalId: null };
  }
  // If the external ID is refused, the record is not counted either.
  return withSavepoint(writer.db, async () => {
    const columns = await acceptFields(writer, plan, known);
    const attachment = { recordId: change.id, externalId };
    const isNew = await checkAttach(writer, change.resource, attachment, externalIds, EXTERNAL_ID_PATHS);
    if (columns !== null) noteAccepted(known, change);
    if (isNew) known.accepted.set(change.id, change.next);
    return { columns, externalId: isNew ? externalId : null };
  });
}

const EXTERNAL_ID_PATHS: AttachPaths = { source: 'external_id', id: 'external_id' };

// The columns that an update will set, none for a create; null if no field gets another value.
async function acceptFields(
  { db, access: { orgNumber } }: Writer,
  { change, row }: PlannedChange,
  known: KnownRecords,
): Promise<Row | null> {
  const { resource, current, input, next } = change;
  if (row === null || current === null) {
    await check(change, known);
    const isCounted = rulesOf(resource).create === undefined;
    if (isCounted) await reserveQuota(db, orgNumber, [{ resource, data: next }]);
    return {};
  }
  if (Object.keys(input).length === 0) return null;
  await check(change, known);
  const fields = newFields(current, next);
  if (fields === null) return null;
  const columns = changedColumns(resource, row, fields);
  await reserveUpdate(db, resource, { orgNumber, row }, columns);
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
