// The journal next to an input: what is imported and what was sent without a response, so that a run can be resumed.
import { closeSync, fdatasyncSync, ftruncateSync, readFileSync } from 'node:fs';
import { CliError, errorCode, systemFault } from '../../errors.ts';
import { kindAt, reopenPrivateFile, replaceFile, writeAt } from '../../files/private-file.ts';
import type { ErrorsMark } from './errors-file.ts';
import {
  afterLine,
  beginning,
  type JournalHeader,
  type JournalLine,
  type JournalState,
  type Pass,
  type PendingBatch,
  readState,
  type Settled,
} from './journal-state.ts';

/** The suffix of a journal's file name. */
export const JOURNAL_SUFFIX = '.crm-journal';

// The journal is rewritten once it has grown by this much.
const SETTLED_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Keeps the state of one import. A batch is written and synced before it is sent, so that its rows do not count as new
 * even after a power failure. Its result is written, but synced only with the next batch: if it is lost, the batch is
 * sent again with its key, and the server replays the response.
 */
export class Journal {
  readonly #path: string | null;
  #state: JournalState;
  #descriptor: number | null = null;
  #bytes = 0;
  #bytesAtStart = 0;
  /** Whether an earlier run started it. */
  readonly isResumed: boolean;

  private constructor(path: string | null, state: JournalState, isResumed: boolean) {
    this.#path = path;
    this.#state = state;
    this.isResumed = isResumed;
  }

  /**
   * Creates a journal, replacing the one at `path`; null keeps it in memory only. `errors` is the errors file of the
   * replaced run.
   */
  static begin(
    path: string | null,
    header: JournalHeader,
    pass: Pass,
    errors: ErrorsMark | null = null,
  ): Journal {
    const journal = new Journal(path, { ...beginning(header, pass), errors }, false);
    journal.#rewrite();
    return journal;
  }

  /** The journal of an earlier run at `path`, or undefined if there is none. */
  static resume(path: string): Journal | undefined {
    if (kindAt(path) === 'nothing') return undefined;
    let descriptor: number | undefined;
    try {
      descriptor = reopenPrivateFile(path);
      const { state, bytesWhole } = readState(readFileSync(descriptor));
      // A line truncated by a power failure or a full disk does not count.
      ftruncateSync(descriptor, bytesWhole);
      const journal = new Journal(path, state, true);
      journal.#take(descriptor, bytesWhole);
      return journal;
    } catch (cause) {
      if (descriptor !== undefined) closeSync(descriptor);
      const reason =
        errorCode(cause) === ''
          ? 'it is not an import journal of this version'
          : systemFault(cause, { EMLINK: 'it is a link, or belongs to another user' });
      throw new CliError(`Cannot use the journal ${path}: ${reason}.`, {
        nextSteps: ['move it away if you do not need it, or start over with --no-resume.'],
        cause,
      });
    }
  }

  get state(): Readonly<JournalState> {
    return this.#state;
  }

  /** Starts a pass over the rows rejected so far. */
  beginPass(pass: Pass): void {
    this.#append({ pass });
  }

  /** Durably records a batch before it is sent. */
  send(batch: PendingBatch): void {
    this.#append({ sent: batch });
    this.#attempt((descriptor) => fdatasyncSync(descriptor));
  }

  /** Records the result of the oldest pending batch. */
  settle(settled: Settled): void {
    this.#append({ settled });
    if (this.#bytes - this.#bytesAtStart > SETTLED_BYTES_MAX) this.#rewrite();
  }

  /** Records that the pass is finished. */
  finish(): void {
    this.#append({ finishedAt: new Date().toISOString() });
    this.#rewrite();
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #append(line: JournalLine): void {
    this.#state = afterLine(this.#state, line);
    this.#attempt((descriptor) => {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      writeAt(descriptor, bytes, this.#bytes);
      this.#bytes += bytes.length;
    });
  }

  /** Durably replaces all lines with the current state. */
  #rewrite(): void {
    const path = this.#path;
    if (path === null) return;
    const bytes = Buffer.from(`${JSON.stringify(this.#state)}\n`);
    this.close();
    this.#guard(() => {
      replaceFile(path, (descriptor) => writeAt(descriptor, bytes, 0));
      this.#take(reopenPrivateFile(path), bytes.length);
    });
  }

  #take(descriptor: number, bytes: number): void {
    this.#descriptor = descriptor;
    this.#bytes = bytes;
    this.#bytesAtStart = bytes;
  }

  #attempt(work: (descriptor: number) => void): void {
    const descriptor = this.#descriptor;
    if (descriptor !== null) this.#guard(() => work(descriptor));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      throw new CliError(`Cannot write the journal ${this.#path}: ${systemFault(cause)}.`, {
        nextSteps: ['free up disk space or allow writing there, then run the same command again.'],
        cause,
      });
    }
  }
}
