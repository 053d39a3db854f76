// On which timelines records show by what they contain, and when.

import { memoize } from '../cache.ts';
import type { Resource, Row } from '../model/resource.ts';
import { caselessKey } from '../model/text.ts';
import { type EntryKind, hasTimeline } from '../model/timelines.ts';
import { emailsOf } from '../tables/contact-emails.ts';
import type { NewEntry, Subject } from './entries.ts';

/** How records of a resource show. */
interface Showing {
  kind: EntryKind;
  /** The field that says when they show; of what has none, its creation. */
  start?: string;
  /** The field that says when they show a second time. */
  end?: string;
  /** The fields that contain people, who are found by their addresses. */
  people: readonly string[];
}

const SHOWING: Readonly<Record<string, Showing>> = {
  tasks: { kind: 'task', end: 'done_at', people: [] },
  deals: { kind: 'deal', people: [] },
  meetings: { kind: 'meeting', start: 'start_time', people: ['organizer', 'attendees'] },
  bookings: { kind: 'booking', start: 'start_time', people: ['organizer', 'attendee', 'guests'] },
};

/** Whether records of a resource show on timelines by what they contain. */
export function showsByItself({ name }: Resource): boolean {
  return name in SHOWING;
}

/** The sequence number of the entry for the end of a task. */
export const ENDED = 1;

/** The fields of a resource that name records with a timeline. */
export const timelineReferences = memoize(({ fields }: Resource) =>
  Object.entries(fields).flatMap(([name, { references = '', column }]) =>
    hasTimeline(references) && column !== null ? [{ name, on: references }] : [],
  ),
);

/** The columns that decide on which timelines a record shows, and when; none for a resource that does not show by itself. */
export const decidingColumns = memoize((resource: Resource): readonly string[] => {
  const showing = SHOWING[resource.name];
  if (showing === undefined) return [];
  const { start, end, people } = showing;
  const times = [start, end].filter((name) => name !== undefined);
  return [...timelineReferences(resource).map(({ name }) => name), ...times, ...people];
});

/** What a record shows on, and when. */
export interface Places {
  kind: EntryKind;
  subjects: Subject[];
  /** Unix milliseconds. */
  start: number;
  /** Null if it does not show a second time. */
  end: number | null;
}

/** The timelines on which a stored record shows; undefined for a resource that does not show by itself. */
export function placesOf(resource: Resource, row: Row): Places | undefined {
  const showing = SHOWING[resource.name];
  if (showing === undefined) return undefined;
  const { kind, start = 'created_at', end = '' } = showing;
  const named = timelineReferences(resource).flatMap(({ name, on }): Subject[] => {
    const id = row[name];
    return typeof id === 'string' ? [{ on, id }] : [];
  });
  const itself: Subject[] = hasTimeline(resource.name) ? [{ on: resource.name, id: String(row.id) }] : [];
  const people = [...addressesOfPeople(resource, row)].map((id): Subject => ({ on: 'addresses', id }));
  return {
    kind,
    subjects: [...itself, ...named, ...people],
    start: Number(row[start] ?? row.created_at),
    end: typeof row[end] === 'number' ? row[end] : null,
  };
}

/** The addresses of the people in a stored record, in lower case. */
function addressesOfPeople({ name, fields }: Resource, row: Row): Set<string> {
  const people = SHOWING[name]?.people ?? [];
  const values = people.map((field) => fields[field]?.decode(row[field] ?? null) ?? null);
  return new Set(emailsOf(values).map(caselessKey));
}

/** The entries of a record at its places; only those on some subjects if they are given. */
export function entriesAt(record: string, places: Places, subjects = places.subjects): NewEntry[] {
  const { kind, start, end } = places;
  return subjects.flatMap((subject) => [
    { subject, kind, at: start, record, sequence: 0 },
    ...(end === null ? [] : [{ subject, kind, at: end, record, sequence: ENDED }]),
  ]);
}
