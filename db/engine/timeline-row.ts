// A row of the timelines of contacts, companies and deals.
import { TIMELINE_KINDS, type TimelineKind } from '../model/timelines.ts';

/** An entry of a timeline; `timeline/entries.ts` explains its values. */
export interface TimelineRow {
  org_id: number;
  /** The record on which it shows, or the address of a person in a meeting or booking: 16 bytes. */
  subject: Uint8Array;
  /** As `storedKind` returns it. */
  kind: number;
  /** Unix milliseconds. */
  at: number;
  /** The record that it is about. */
  record: Uint8Array;
  /** Tells entries of one record apart: of a change of stage its sequence number, of the end of a task 1, otherwise 0. */
  sequence: number;
  /** Of what shows on a company through a contact or deal, that record; otherwise empty. */
  via: Uint8Array;
  /** JSON; null for most. */
  detail: string | null;
}

/** The number of a kind in rows, of which those that show through another record have their own. */
export function storedKind(kind: TimelineKind, isThrough: boolean): number {
  return TIMELINE_KINDS.indexOf(kind) * 2 + (isThrough ? 1 : 0);
}

/** Whether rows with that number show through another record. */
export function isShownThrough(stored: number): boolean {
  return stored % 2 === 1;
}

/** Below this are the kinds of all stored rows; updates show from the log of changes. */
export const CHANGES_FROM = storedKind('change', false);

/** The kind with that number. */
export function timelineKind(stored: number): TimelineKind {
  return TIMELINE_KINDS[stored >> 1] ?? 'change';
}

/** The columns of a row, in the order of its key. */
export const TIMELINE_COLUMNS = [
  'org_id',
  'subject',
  'kind',
  'at',
  'record',
  'sequence',
  'via',
  'detail',
] as const satisfies readonly (keyof TimelineRow)[];

/** `via` of what shows by itself. */
export const DIRECTLY: Uint8Array = new Uint8Array();
