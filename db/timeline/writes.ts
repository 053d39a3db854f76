// What each write of a record or link changes on timelines; the functions that write their rows call these.

import type { NotedUpdate } from '../changes/changes.ts';
import type { RecordRow, Trx } from '../engine/schema.ts';
import type { Resource, Row } from '../model/resource.ts';
import { deals } from '../model/resources/deals.ts';
import { findContactsByEmail } from '../tables/contact-emails.ts';
import {
  addEntries,
  addMissingEntries,
  moveEntries,
  removeEntries,
  removeSequence,
  type Subject,
} from './entries.ts';
import { decidingColumns, ENDED, entriesAt, type Places, placesOf, timelineReferences } from './places.ts';
import { type MovedDeal, stageEntries } from './stages.ts';
import { findDealLinks } from './subjects.ts';

/** Shows new records on the timelines of what they refer to; restored ones where they are not shown any more. */
export async function showCreated(
  trx: Trx,
  resource: Resource,
  { orgNumber, isRestored = false }: { orgNumber: number; isRestored?: boolean },
  rows: readonly RecordRow[],
): Promise<void> {
  const entries = rows.flatMap((row) => {
    const places = placesOf(resource, row);
    return places === undefined ? [] : entriesAt(row.id, places);
  });
  await (isRestored ? addMissingEntries : addEntries)(trx, orgNumber, entries);
}

/** Whether an update can change what is shown on timelines, beyond itself. */
export function changesTimelines(resource: Resource, updates: readonly NotedUpdate[]): boolean {
  const deciding = decidingColumns(resource);
  if (deciding.length === 0) return false;
  return updates.some(
    ({ columns }) =>
      deciding.some((name) => name in columns) || (resource === deals && 'stage_id' in columns),
  );
}

/**
 * Shows updated records where they belong now.
 * @param context the sequence number and the instant of the first update
 */
export async function showUpdated(
  trx: Trx,
  resource: Resource,
  { orgNumber, sequence, at }: { orgNumber: number; sequence: number; at: number },
  updates: readonly NotedUpdate[],
): Promise<void> {
  for (const { row, columns } of updates) {
    // An association that is restored shows where it was.
    if (!('created_at' in row)) continue;
    await replacePlaces(trx, resource, orgNumber, row, { ...row, ...columns });
  }
  if (resource === deals) await showStages(trx, { orgNumber, sequence, at }, updates);
}

/** Shows records whose reference to a restored record is set again on its timeline, as far as they are not there. */
export async function showFilled(
  trx: Trx,
  resource: Resource,
  { orgNumber, column }: { orgNumber: number; column: string },
  rows: readonly RecordRow[],
): Promise<void> {
  const reference = timelineReferences(resource).find(({ name }) => name === column);
  if (reference === undefined) return;
  const entries = rows.flatMap((row) => {
    const places = placesOf(resource, row);
    const subject = { on: reference.on, id: String(row[column]) };
    return places === undefined ? [] : entriesAt(row.id, places, [subject]);
  });
  await addMissingEntries(trx, orgNumber, entries);
}

async function replacePlaces(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  row: RecordRow,
  next: Row,
): Promise<void> {
  const [before, after] = [placesOf(resource, row), placesOf(resource, next)];
  if (before === undefined || after === undefined) return;
  const { id } = row;
  const gone = await unlinked(trx, resource, orgNumber, id, missing(before.subjects, after.subjects));
  const added = await unlinked(trx, resource, orgNumber, id, missing(after.subjects, before.subjects));
  const people = await peopleOf(trx, orgNumber, gone, after.subjects);
  // What is left there was tied to it before a delete.
  const hidden = [...gone, ...people, ...added].map((subject) => ({ record: id, subject }));
  await removeEntries(trx, orgNumber, hidden);
  if (before.end !== after.end && before.end !== null) await removeSequence(trx, orgNumber, id, ENDED);
  if (before.start !== after.start)
    await moveEntries(trx, orgNumber, id, { before: before.start, after: after.start });
  const kept = before.end === after.end ? [] : entriesAt(id, after, missing(after.subjects, added));
  const ended = kept.filter(({ sequence }) => sequence === ENDED);
  await addEntries(trx, orgNumber, [...entriesAt(id, after, added), ...ended]);
}

function missing(subjects: Places['subjects'], others: Places['subjects']): Subject[] {
  return subjects.filter(({ on, id }) => !others.some((other) => other.on === on && other.id === id));
}

// Without those to which a deal is linked as well.
async function unlinked(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  id: string,
  subjects: readonly Subject[],
): Promise<Subject[]> {
  if (resource !== deals || subjects.length === 0) return [...subjects];
  const linked = await findDealLinks(trx, orgNumber, id, subjects);
  return subjects.filter((subject) => !linked.has(subject.id));
}

// The owners of addresses that are gone, who have no other address there.
async function peopleOf(
  trx: Trx,
  orgNumber: number,
  gone: readonly Subject[],
  left: readonly Subject[],
): Promise<Subject[]> {
  const addresses = (subjects: readonly Subject[]) =>
    subjects.flatMap(({ on, id }) => (on === 'addresses' ? [id] : []));
  const lost = addresses(gone);
  if (lost.length === 0) return [];
  const owners = await findContactsByEmail(trx, orgNumber, lost);
  const others = new Set((await findContactsByEmail(trx, orgNumber, addresses(left))).values());
  return [...new Set(owners.values())].flatMap((id) => (others.has(id) ? [] : [{ on: 'contacts', id }]));
}

async function showStages(
  trx: Trx,
  { orgNumber, sequence, at }: { orgNumber: number; sequence: number; at: number },
  updates: readonly NotedUpdate[],
): Promise<void> {
  const moved = updates.flatMap(({ row, columns }, index): MovedDeal[] => {
    const from = row.stage_id ?? null;
    const { stage_id: to = from, point_of_contact_id: contact = row.point_of_contact_id } = columns;
    if (from === to) return [];
    const place = { sequence: sequence + index, at };
    return [{ id: row.id, from: String(from), to: String(to), contact, ...place }];
  });
  await addEntries(trx, orgNumber, await stageEntries(trx, orgNumber, moved));
}
