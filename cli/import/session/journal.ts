// The journal beside an input: what of it is in, and what was sent without an answer, so that a run can be resumed.
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

// Rows that are sent stand in the journal until so much has gathered.
const SETTLED_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Keeps the state of one import. A batch is in the file, synced, before it is sent, so that even after a power cut its
 * rows are not taken for new ones. What became of it is written, but synced only with the next batch: if that is lost,
 * the batch is sent again by its key, and the server answers from memory.
 */
export class Journal {
  readonly #path: string | null;
  #state: JournalState;
  #descriptor: number | null = null;
  #bytes = 0;
  #bytesAtStart = 0;
  /** Whether an earlier run has begun it. */
  readonly isResumed: boolean;

  private constructor(path: string | null, state: JournalState, isResumed: boolean) {
    this.#path = path;
    this.#state = state;
    this.isResumed = isResumed;
  }

  /**
   * Begins a journal in place of what stands at `path`; null keeps it in memory only. `errors` is the errors file of a
   * run that is forgotten.
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

  /** The journal that an earlier run has left at `path`, or undefined where there is none. */
  static resume(path: string): Journal | undefined {
    if (kindAt(path) === 'nothing') return undefined;
    let descriptor: number | undefined;
    try {
      descriptor = reopenPrivateFile(path);
      const { state, bytesWhole } = readState(readFileSync(descriptor));
      // A line that a power cut or a full disk has cut short is none.
      ftruncateSync(descriptor, bytesWhole);
      const journal = new Journal(path, state, true);
      journal.#take(descriptor, bytesWhole);
      return journal;
    } catch (cause) {
      if (descriptor !== undefined) closeSync(descriptor);
      const reason =
        errorCode(cause) === ''
          ? 'it is no import journal of this version'
          : systemFault(cause, { EMLINK: 'it is no file of its own' });
      throw new CliError(`Cannot use the journal ${path}: ${reason}.`, {
        nextSteps: ['move it away if it is not needed, or start afresh with --no-resume.'],
        cause,
      });
    }
  }

  get state(): Readonly<JournalState> {
    return this.#state;
  }

  /** Begins to go over the rows that could not be brought in so far. */
  beginPass(pass: Pass): void {
    this.#append({ pass });
  }

  /** Remembers, for good, a batch that is about to be sent. */
  send(batch: PendingBatch): void {
    this.#append({ sent: batch });
    this.#attempt((descriptor) => fdatasyncSync(descriptor));
  }

  /** Takes in what became of the oldest batch that is pending. */
  settle(settled: Settled): void {
    this.#append({ settled });
    if (this.#bytes - this.#bytesAtStart > SETTLED_BYTES_MAX) this.#rewrite();
  }

  /** Notes that the pass has come to its end. */
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

  /** Puts the state alone in place of all lines, durably. */
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
        nextSteps: ['make room or permit writing there, then run the same command again.'],
        cause,
      });
    }
  }
}
