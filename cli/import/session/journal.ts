// The journal beside an input: what of it is in, and what was sent without an answer, so that a run can be resumed.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { CliError, errorCode } from '../../errors.ts';
import type { Counts } from '../request.ts';
import type { PreparedRow } from '../row.ts';

/** A batch whose rows are settled; it was or is about to be sent. */
export interface PendingBatch {
  number: number;
  sentAt: number;
  rows: PreparedRow[];
}

export interface JournalState {
  /** Version of this form. */
  crm_journal: 1;
  /** Content of the input, mapping and server. */
  fingerprint: string;
  /** Digest of the API key, and the organization's oldest pipeline: whose import it is. */
  keyDigest: string;
  oldestPipelineId: string | null;
  /** Makes the idempotency keys of `--no-resume` new ones; '' otherwise. */
  salt: string;
  batchSize: number;
  startedAt: string;
  finishedAt: string | null;
  /** Batches and rows that are dealt with, from the start of the input on. */
  batches: number;
  rows: number;
  counts: Counts;
  errorsFile: string | null;
  errorsBytes: number;
  pending: PendingBatch[];
}

/** The suffix of a journal's file name. */
export const JOURNAL_SUFFIX = '.crm-journal';

/** Keeps the state of one import; every change is on disk, whole, before the method returns. */
export class Journal {
  readonly #path: string | null;
  #state: JournalState;

  /** `path` null keeps the journal in memory only. */
  constructor(path: string | null, state: JournalState) {
    this.#path = path;
    this.#state = state;
  }

  get state(): Readonly<JournalState> {
    return this.#state;
  }

  /** Remembers a batch that is about to be sent. */
  begin(batch: PendingBatch): void {
    this.save({ pending: [...this.#state.pending, batch] });
  }

  /** Takes in what became of the oldest batch that is pending. */
  finish(batch: PendingBatch, counts: Counts, errors: { file: string | null; bytes: number }): void {
    this.save({
      batches: batch.number,
      rows: this.#state.rows + batch.rows.length,
      counts,
      errorsFile: errors.file,
      errorsBytes: errors.bytes,
      pending: this.#state.pending.filter(({ number }) => number !== batch.number),
    });
  }

  save(changes: Partial<JournalState>): void {
    this.#state = { ...this.#state, ...changes };
    if (this.#path !== null) writeWhole(this.#path, `${JSON.stringify(this.#state)}\n`);
  }
}

/** A journal as it was left, or undefined where there is none. */
export function readJournal(path: string): JournalState | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(path, errorCode(error));
  }
  try {
    const value = JSON.parse(text) as Partial<JournalState> | null;
    if (value?.crm_journal === 1) return value as JournalState;
  } catch {
    // Told below: a journal is written whole, so this is none.
  }
  throw unusable(path, 'it is no import journal');
}

/** Whether a journal can be kept there. */
export function canWriteBeside(path: string): boolean {
  const probe = `${path}.tmp`;
  try {
    writeFileSync(probe, '');
    rmSync(probe);
    return true;
  } catch {
    return false;
  }
}

function unusable(path: string, reason: string): CliError {
  return new CliError(`Cannot use the journal ${path}: ${reason}.`, {
    nextSteps: ['move it away if it is not needed, or start afresh with --no-resume.'],
  });
}

function writeWhole(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new CliError(`Cannot write the journal ${path}: ${errorCode(cause)}.`, {
      nextSteps: ['make room or permit writing there, then run the same command again.'],
      cause,
    });
  }
}
