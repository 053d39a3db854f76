// A contact as a row and as an answer shows it: what is kept in another form is changed in place.
import { COLUMNS } from './database.ts';

export type Row = Record<string, string | number | null>;
export type Shown = Record<string, unknown>;

/** What a client sends of a contact. */
export interface Input {
  alt_emails?: string[];
  custom?: Record<string, unknown>;
  keep_in_touch?: boolean;
  [name: string]: unknown;
}

const BLANK: Row = Object.fromEntries(COLUMNS.map((name) => [name, null]));
BLANK.keep_in_touch = 0;
const NO_EMAILS: readonly string[] = [];
const NO_KEYS = {};
const MILLISECONDS: readonly string[] = Array.from(
  { length: 1_000 },
  (_, count) => `${String(count).padStart(3, '0')}Z`,
);

/** The columns of what a client sends. */
export function stored(input: Input): Row {
  const row = { ...input } as Row;
  if (input.alt_emails !== undefined) row.alt_emails = JSON.stringify(input.alt_emails);
  if (input.custom !== undefined) row.custom = JSON.stringify(input.custom);
  if (input.keep_in_touch !== undefined) row.keep_in_touch = input.keep_in_touch ? 1 : 0;
  return row;
}

/** A new row, its columns in the order of the table. */
export function newRow(input: Input, id: string, createdBy: string, now: number): Row {
  return { ...BLANK, ...stored(input), id, created_by: createdBy, created_at: now, updated_at: now };
}

/** Makes a row what an answer shows. */
export function shown(row: Row): Shown {
  const record = row as Shown;
  record.alt_emails = row.alt_emails === null ? NO_EMAILS : JSON.parse(String(row.alt_emails));
  record.custom = row.custom === null ? NO_KEYS : JSON.parse(String(row.custom));
  record.keep_in_touch = row.keep_in_touch === 1;
  if (row.last_interaction_at !== null)
    record.last_interaction_at = instantText(Number(row.last_interaction_at));
  record.created_at = instantText(Number(row.created_at));
  record.updated_at = instantText(Number(row.updated_at));
  return record;
}

let second = -1;
let secondText = '';

/** RFC 3339 of Unix milliseconds; the text of the last second is kept, as most instants of a page share one. */
export function instantText(instant: number): string {
  const rest = instant % 1_000;
  if (instant - rest !== second) {
    second = instant - rest;
    secondText = new Date(second).toISOString().slice(0, 20);
  }
  return secondText + MILLISECONDS[rest];
}
