// Carries out items that each create or change one record, in runs in which each record is written once.
// A run makes the lookups for all its items together, then the checks of each in order, and then all writes together.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { withSavepoint } from '../../db/engine/transaction.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { changedColumns, reserveUpdate } from '../../db/records/record-updates.ts';
import { reserveQuota } from '../../db/records/records.ts';
import { ApiError } from '../errors.ts';
import { check } from './checks.ts';
import { type AttachPaths, checkAttach } from './external-ids.ts';
import { type KnownRecords, noteAccepted } from './lookups.ts';
import { orRefusal } from './outcomes.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';
import type { Accepted, PlannedChange, Result, RunPlan, SavedRecord } from './run-plan.ts';
import { writeAll, writeEach } from './writes.ts';

/** Who changes which records, and how. */
interface Task<Item> {
  writer: Writer;
  resource: Resource;
  /** Makes the plans of a run. */
  plan(writer: Writer, resource: Resource, items: readonly Item[]): Eventually<RunPlan>;
  /** Whether an existing duplicate is shown whole or by ID only, so that repeated imports need not read it again. */
  isRepeatedShown?: boolean;
}

/**
 * Carries out items in order; one that fails does not affect the others, and each sees those before it.
 * @param sizeMax how many items are in the first run at most
 */
export function carryOut<Item>(
  task: Task<Item>,
  items: readonly Item[],
  sizeMax = items.length,
): Eventually<Result[]> {
  const { writer, resource } = task;
  return andThen(task.plan(writer, resource, items.slice(0, sizeMax)), (run) =>
    andThen(carryOutRun(task, run), (results) => {
      const done = results.length;
      if (done === items.length) return results;
      // Where many items depend on earlier ones, lookups for all that remain would be made again for each of them.
      const nextMax = done < run.plans.length ? 2 * done : items.length;
      return andThen(carryOut(task, items.slice(done), nextMax), (others) => results.concat(others));
    }),
  );
}

function carryOutRun<Item>(
  { writer, resource, isRepeatedShown = false }: Task<Item>,
  run: RunPlan,
): Eventually<Result[]> {
  const { create } = rulesOf(resource);
  return andThen(checkAll(writer, resource, run), ({ accepted, results }) => {
    const writing =
      create === undefined
        ? writeAll(writer, resource, accepted)
        : writeEach(create, writer, resource, { accepted, results, isRepeatedShown });
    return andThen(writing, () => results);
  });
}

interface Checked {
  accepted: Accepted[];
  results: Result[];
}

// Ends before the first item whose plan depends on what the run will write.
function checkAll(writer: Writer, resource: Resource, run: RunPlan): Eventually<Checked> {
  const { dependsOn } = rulesOf(resource);
  const { plans, known, isOutdated } = run;
  const accepted: Accepted[] = [];
  const results: Result[] = [];
  const updated = new Set<string>();
  // A hundred items can contain 30 MB of text.
  const turns = new TimeSlices();
  const note = (plan: PlannedChange, done: Acceptance | ApiError): void => {
    const index = results.length;
    results.push(done instanceof ApiError ? done : resultOf(plan, done));
    if (done instanceof ApiError || (done.columns === null && done.externalId === null)) return;
    const { change, row } = plan;
    if (done.columns !== null && plans.length > 1) noteAccepted(known, change);
    accepted.push({ index, change, row, ...done });
    if (row !== null) updated.add(change.id);
  };
  const checkRest = (): Eventually<Checked> => {
    while (results.length < plans.length) {
      const plan = plans[results.length];
      if (plan === undefined || (accepted.length > 0 && isOutdated?.(results.length))) break;
      if (turns.isOver) return turns.next().then(checkRest);
      if (plan instanceof ApiError) {
        results.push(plan);
        continue;
      }
      const { change } = plan;
      if (updated.has(change.id)) break;
      if (dependsOn !== undefined && accepted.some((earlier) => dependsOn(change, earlier.change))) break;
      const accepting = orRefusal(() => accept(writer, plan, run));
      if (accepting instanceof Promise) {
        return accepting.then((done) => {
          note(plan, done);
          return checkRest();
        });
      }
      note(plan, accepting);
    }
    return { accepted, results };
  };
  return checkRest();
}

function resultOf(
  { change: { current, next }, matchedBy = null }: PlannedChange,
  { columns, externalId }: Acceptance,
): SavedRecord {
  if (current === null) return { status: 'created', record: next, matchedBy };
  if (columns !== null) return { status: 'updated', record: next, matchedBy };
  return { status: externalId === null ? 'unchanged' : 'updated', record: current, matchedBy };
}

/** What will be written for an item. */
type Acceptance = Pick<Accepted, 'columns' | 'externalId'>;

// With an external ID; if that is refused, the fields are not counted against the quota either.
function accept(writer: Writer, plan: PlannedChange, run: RunPlan): Eventually<Acceptance> {
  const { change, externalId = null } = plan;
  const { known, externalIds } = run;
  const acceptingFields = () =>
    andThen(acceptFields(writer, plan, known), (columns) => ({ columns, externalId: null }));
  if (externalId === null || externalIds === undefined) return acceptingFields();
  return withSavepoint(writer.db, async () => {
    const accepted = await acceptingFields();
    const attachment = { recordId: change.id, externalId };
    const isNew = await checkAttach(writer, change.resource, attachment, externalIds, EXTERNAL_ID_PATHS);
    if (!isNew) return accepted;
    known.accepted.set(change.id, change.next);
    return { ...accepted, externalId };
  });
}

// The columns that an update will set, none for a create; null if no field gets another value.
function acceptFields(
  { db, now, access: { orgNumber } }: Writer,
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
    const columns = { ...changedColumns(resource, row, fields), updated_at: now };
    return andThen(reserveUpdate(db, resource, { orgNumber, row }, columns), () => columns);
  });
}

const NO_COLUMNS: Row = {};
const EXTERNAL_ID_PATHS: AttachPaths = { source: 'external_id', id: 'external_id' };

// The fields that differ, those that rules changed included; null if only the time does.
function newFields(current: Data, next: Data): Data | null {
  let fields: Data | null = null;
  for (const name in next) {
    const value = next[name] ?? null;
    if (name === 'updated_at' || isSame(value, current[name] ?? null)) continue;
    fields ??= {};
    fields[name] = value;
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
