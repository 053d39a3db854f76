// Carries out items that each create or change one record, in runs in which each record is written once.
// A run makes the lookups for all its items together, then the checks of each in order, and then all writes together.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { withSavepoint } from '../../db/engine/transaction.ts';
import type { ExternalId } from '../../db/model/external-ids.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { changedColumns, reserveUpdate } from '../../db/tables/record-updates.ts';
import { reserveQuota } from '../../db/tables/records.ts';
import { ApiError } from '../errors.ts';
import { check } from './checks.ts';
import { type AttachPaths, checkAttach } from './external-ids.ts';
import { type KnownRecords, noteAccepted } from './lookups.ts';
import { refusalOf } from './outcomes.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';
import type { Accepted, PlannedChange, Result, RunPlan, SavedRecord } from './run-plan.ts';
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
  const { plans, known, isOutdated } = run;
  const accepted: Accepted[] = [];
  const updated = new Set<string>();
  const results: Result[] = [];
  for (let index = 0; index < plans.length; index++) {
    const plan = plans[index];
    if (plan === undefined || (accepted.length > 0 && isOutdated?.(index))) break;
    if (plan instanceof ApiError) {
      results.push(plan);
      continue;
    }
    const { change, row, externalId = null } = plan;
    if (updated.has(change.id)) break;
    if (dependsOn !== undefined && accepted.some((earlier) => dependsOn(change, earlier.change))) break;
    try {
      const attached: { externalId: ExternalId | null } = { externalId: null };
      const accepting =
        externalId === null ? acceptFields(writer, plan, known) : acceptWithId(writer, plan, run, attached);
      const columns = accepting instanceof Promise ? await accepting : accepting;
      results.push(resultOf(plan, columns !== null, attached.externalId !== null));
      if (columns === null && attached.externalId === null) continue;
      if (columns !== null && plans.length > 1) noteAccepted(known, change);
      accepted.push({ index, change, row, columns, ...attached });
      if (row !== null) updated.add(change.id);
    } catch (error) {
      results.push(refusalOf(error));
    }
  }
  if (accepted.length === 0) return results;
  if (create === undefined) await writeAll(writer, resource, accepted);
  else await writeEach(create, writer, resource, { accepted, results, isRepeatedShown });
  return results;
}

function resultOf(
  { change: { current, next }, matchedBy = null }: PlannedChange,
  isWritten: boolean,
  isAttached: boolean,
): SavedRecord {
  if (current === null) return { status: 'created', record: next, matchedBy };
  if (isWritten) return { status: 'updated', record: next, matchedBy };
  return { status: isAttached ? 'updated' : 'unchanged', record: current, matchedBy };
}

// The columns that an update will set, none for a create; null if no field gets another value.
function acceptFields(
  { db, access: { orgNumber } }: Writer,
  { change, row }: PlannedChange,
  known: KnownRecords,
): Eventually<Row | null> {
  const { resource, current, input, next } = change;
  if (row === null || current === null) {
    return andThen(check(change, known), () => {
      const isCounted = rulesOf(resource).create === undefined;
      const counting = isCounted ? reserveQuota(db, orgNumber, [{ resource, data: next }]) : undefined;
      return andThen(counting, () => NO_COLUMNS);
    });
  }
  if (Object.keys(input).length === 0) return null;
  return andThen(check(change, known), () => {
    const fields = newFields(current, next);
    if (fields === null) return null;
    const columns = changedColumns(resource, row, fields);
    return andThen(reserveUpdate(db, resource, { orgNumber, row }, columns), () => columns);
  });
}

const NO_COLUMNS: Row = {};
const EXTERNAL_ID_PATHS: AttachPaths = { source: 'external_id', id: 'external_id' };

// The same, with an external ID; if that is refused, the fields are not counted against the quota either.
function acceptWithId(
  writer: Writer,
  plan: PlannedChange,
  { known, externalIds }: RunPlan,
  attached: { externalId: ExternalId | null },
): Promise<Row | null> {
  return withSavepoint(writer.db, async () => {
    const { change, externalId = null } = plan;
    const columns = await acceptFields(writer, plan, known);
    if (externalId === null || externalIds === undefined) return columns;
    const attachment = { recordId: change.id, externalId };
    const isNew = await checkAttach(writer, change.resource, attachment, externalIds, EXTERNAL_ID_PATHS);
    if (!isNew) return columns;
    attached.externalId = externalId;
    known.accepted.set(change.id, change.next);
    return columns;
  });
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
