// Writes what a run has accepted: records, external IDs, and what rules keep outside the table of records.

import { fieldsBeside } from '../../db/changes/changes.ts';
import { type Eventually, inTurn } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type Attachment, insertReservedExternalIds } from '../../db/records/record-external-ids.ts';
import { type RecordUpdate, updateReservedRecords } from '../../db/records/record-updates.ts';
import { findRecords, insertReservedRecords } from '../../db/records/records.ts';
import { principalOf } from '../access.ts';
import { refusalOf } from './outcomes.ts';
import { fillComputedFields, presentAll } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Change, Created, Rules, Writer } from './rules.ts';
import type { Accepted, Result } from './run-plan.ts';

/** Writes accepted changes together, and completes their records as shown. */
export function writeAll(
  writer: Writer,
  resource: Resource,
  accepted: readonly Accepted[],
): Eventually<void> {
  const { db, access, now } = writer;
  const { orgNumber } = access;
  const changes: Change[] = [];
  const created: { id: string; data: Data }[] = [];
  const updated: RecordUpdate[] = [];
  const attached: Attachment[] = [];
  for (const { change, row, columns, externalId } of accepted) {
    if (columns !== null) changes.push(change);
    if (row === null) created.push({ id: change.id, data: change.next });
    else if (columns !== null) updated.push({ row, columns, ...besideOf(change) });
    if (externalId !== null) attached.push({ recordId: change.id, externalId });
  }
  const origin = { orgNumber, createdBy: principalOf(access), now };
  return inTurn([
    // Updates first: a new record can take a unique value that one of them gives up.
    () => updateReservedRecords(db, resource, orgNumber, updated),
    () => insertReservedRecords(db, resource, origin, created),
    () => insertReservedExternalIds(db, resource, orgNumber, attached, now),
    () => rulesOf(resource).afterWrite?.(writer, changes),
    () =>
      fillComputedFields(
        writer,
        resource,
        changes.map(({ next }) => next),
      ),
  ]);
}

// The fields that a client has changed and that rules store outside the record's table.
function besideOf({ resource, current, next }: Change): Pick<RecordUpdate, 'beside'> {
  const names = fieldsBeside(resource).filter((name) => next[name] !== current?.[name]);
  if (names.length === 0 || current === null) return {};
  const pick = (from: Data) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { beside: { before: pick(current), after: pick(next) } };
}

/** What `writeEach` writes. */
export interface Writing {
  accepted: readonly Accepted[];
  /** Of the items of the run; those of the accepted ones are completed. */
  results: Result[];
  isRepeatedShown: boolean;
}

/**
 * Writes accepted changes by a rule, one after another: each can be a duplicate of an earlier one, and only then is it known
 * whether it needs room.
 */
export async function writeEach(
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
    results[index] = { status: 'created', record, matchedBy: null };
  }
  await fillComputedFields(writer, resource, incomplete);
}
