// The rows of an import, and the reasons for rejecting them.
import { firstFaults } from '../../db/model/faults.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { nearest } from '../nearest.ts';
import type { ImportFlags } from './flags.ts';
import type { SuggestedFlags } from './suggested-flags.ts';

/** `lines` is an ID or an object per line, or an array of objects: never chosen by a file's name. */
export type Format = NonNullable<ImportFlags['format']> | 'lines';

/** How to fix a row. */
export interface Remedy {
  /** Flags that fix it. */
  changes?: SuggestedFlags;
  /** Alternative flags, if the row means something else. */
  orElse?: readonly SuggestedFlags[];
  /** The allowed values of the cell, and the one to use if none is similar. */
  choices?: readonly string[];
  usual?: string;
}

/** The choice that a cell most likely means: a similar one, else the usual one. */
export function likeliest(text: string, remedy: Remedy): string | undefined {
  return similar(text, remedy) ?? remedy.usual;
}

/** The choice that is similar to a cell, or the only one that continues or begins it; undefined if none is. */
export function similar(text: string, { choices = [] }: Remedy): string | undefined {
  // HubSpot writes the pipeline after a stage.
  const [, bare = text] = /^(.+?) \([^()]*\)$/.exec(text) ?? [];
  const [given, ...letters] = [bare.trim().toLowerCase(), ...bare.trim()];
  const [begun, other] = choices.filter((choice) => {
    const known = choice.toLowerCase();
    return letters.length >= 3 && (known.startsWith(given) || given.startsWith(known));
  });
  if (other !== undefined) return undefined;
  return nearest(text, choices) ?? nearest(bare, choices) ?? begun;
}

/** One fault of a row. */
export interface RowReason {
  code: string;
  /** The field, or '' for the whole row. */
  path: string;
  message: string;
  remedy?: Remedy;
}

/** Why a row is not imported, in the words of the errors file, with the separate reasons if there are several. */
export interface Rejection extends RowReason {
  reasons?: readonly RowReason[];
}

/** One row of the input, before conversion. */
export interface SourceRow {
  /** The first line of the row. */
  readonly line: number;
  /** Header and value, in the order of the input. */
  readonly entries: readonly (readonly [header: string, value: JsonValue])[];
  /** The row for the errors file: CSV cells, a JSON object, or text that is not JSON. */
  readonly original: readonly string[] | Data | string;
  readonly fault: Rejection | null;
}

/** A row that is ready to send, or already rejected. */
export type PreparedRow = { line: number; body: Data } | { line: number; rejection: Rejection };

/** The result of a row, for the counts. */
export type RowStatus = 'created' | 'updated' | 'unchanged' | 'deleted' | 'found' | 'skipped' | 'rejected';

/** The result of a row. */
export type RowOutcome =
  /** `record` is what the server returned, at least its ID. */
  | { status: Exclude<RowStatus, 'rejected'>; record?: Data }
  /** `record` is the one that it is a duplicate of. */
  | { status: 'rejected'; rejection: Rejection; record?: Data }
  /** A quota is used up: nothing is wrong with the row. */
  | { status: 'refused'; message: string };

/** One fault of a row; several are joined into one rejection. */
export class RowFault extends Error {
  readonly code: string;
  readonly path: string;
  readonly remedy: Remedy | undefined;

  constructor(code: string, path: string, message: string, remedy?: Remedy) {
    super(message);
    this.code = code;
    this.path = path;
    this.remedy = remedy;
  }
}

/** A fault of the row with its path; throws other errors. */
export function faultAt(error: unknown, path: string): RowReason {
  if (!(error instanceof RowFault)) throw error;
  const { code, message, remedy } = error;
  return { code, path: error.path || path, message, ...(remedy && { remedy }) };
}

/** One rejection for all faults of a row, as the server would list them: a single fault keeps its own code. */
export function rejectionOf(faults: readonly RowReason[]): Rejection {
  const [first, second] = faults;
  if (first === undefined) throw new Error('a rejection needs a fault');
  if (second === undefined) return first;
  return { code: 'VALIDATION_FAILED', ...joined(firstFaults(faults)), reasons: faults };
}

/** Faults as one path and one message; of a single fault its own. */
export function joined(faults: readonly { path?: string; message: string }[]): Omit<Rejection, 'code'> {
  const [first, second] = faults;
  const paths = faults.flatMap(({ path = '' }) => (path === '' ? [] : [path]));
  const messages = faults.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const isOne = first !== undefined && second === undefined;
  return { path: paths.join(', '), message: isOne ? first.message : messages.join('; ') };
}

/** Columns that an errors file adds; they are ignored when it is imported. */
export const ERROR_COLUMNS = ['_line', '_code', '_path', '_message'] as const;
/** The key for a line that is not JSON in an NDJSON errors file. */
export const TEXT_COLUMN = '_text';
