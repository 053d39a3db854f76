// What an export has fetched so far, as NDJSON next to the output file, with the cursor for continuing.
import { closeSync, fdatasyncSync, ftruncateSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { CliError, errorCode, systemFault } from '../errors.ts';
import {
  createPrivateFile,
  reopenPrivateFile,
  replaceFile,
  syncFolderOf,
  writeAt,
} from '../files/private-file.ts';

const SAVE_INTERVAL_MS = 500;

interface State {
  /** What is being exported, so that another export does not continue here. */
  subject: string;
  cursor: string | null;
  isComplete: boolean;
  lines: number;
  bytes: number;
}

/** A growing file of lines that a later process can continue, even after a crash. */
export class Spool {
  readonly path: string;
  readonly #descriptor: number;
  #state: State;
  #isOpen = true;
  #savedMs = 0;

  private constructor(path: string, descriptor: number, state: State) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#state = state;
  }

  /** Opens the spool at `path`: continues an earlier run for the same subject if `isResumed`, else starts empty. */
  static open(path: string, subject: string, isResumed: boolean): Spool {
    const fresh: State = { subject, cursor: null, isComplete: false, lines: 0, bytes: 0 };
    try {
      const state = (isResumed ? findState(path, subject) : undefined) ?? fresh;
      if (state === fresh) remove(path);
      const descriptor = state === fresh ? createPrivateFile(path) : reopenPrivateFile(path);
      ftruncateSync(descriptor, state.bytes);
      return new Spool(path, descriptor, state);
    } catch (error) {
      throw writeError(path, error);
    }
  }

  get cursor(): string | null {
    return this.#state.cursor;
  }

  get isComplete(): boolean {
    return this.#state.isComplete;
  }

  /** Lines written, those of earlier runs included. */
  get lines(): number {
    return this.#state.lines;
  }

  /** Adds lines and the cursor after them; null means that the list has ended. */
  append(records: readonly unknown[], cursor: string | null): void {
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    try {
      writeAt(this.#descriptor, bytes, this.#state.bytes);
      this.#state = {
        subject: this.#state.subject,
        cursor,
        isComplete: cursor === null,
        lines: this.#state.lines + records.length,
        bytes: this.#state.bytes + bytes.length,
      };
      if (Date.now() - this.#savedMs > SAVE_INTERVAL_MS || this.isComplete) this.#save();
    } catch (error) {
      throw writeError(this.path, error);
    }
  }

  // The lines are on disk before the state that counts them.
  #save(): void {
    fdatasyncSync(this.#descriptor);
    const text = JSON.stringify(this.#state);
    replaceFile(statePath(this.path), (descriptor) => writeAt(descriptor, Buffer.from(text), 0));
    this.#savedMs = Date.now();
  }

  /** Moves the lines to `target` durably, and ends the spool. */
  become(target: string): void {
    try {
      fdatasyncSync(this.#descriptor);
      this.close();
      renameSync(this.path, target);
      syncFolderOf(target);
      rmSync(statePath(this.path), { force: true });
    } catch (error) {
      throw writeError(target, error);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#descriptor);
  }

  /** Closes the file and keeps its content. */
  keep(): void {
    if (this.#isOpen) this.#save();
    this.close();
  }

  /** Closes and removes everything. */
  discard(): void {
    this.close();
    remove(this.path);
  }
}

// A state must not outlive the lines that it counts.
function remove(path: string): void {
  try {
    rmSync(statePath(path), { force: true });
    rmSync(path, { force: true });
  } catch (error) {
    throw writeError(path, error);
  }
}

const statePath = (path: string): string => `${path}.json`;

function findState(path: string, subject: string): State | undefined {
  try {
    const state = JSON.parse(readFileSync(statePath(path), 'utf8')) as State;
    return state.subject === subject && statSync(path).size >= state.bytes ? state : undefined;
  } catch {
    return undefined;
  }
}

/** The error for a file that cannot be written. */
export function writeError(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const reason = systemFault(error, { ENOENT: 'the folder does not exist' });
  const remedy =
    { ENOSPC: 'free up disk space', EDQUOT: 'free up disk space', ENOENT: 'create the folder' }[
      errorCode(error)
    ] ?? 'allow writing there';
  return new CliError(`Cannot write ${path}: ${reason}.`, {
    nextSteps: [`${remedy}, or choose another place with --out.`],
    cause: error,
  });
}
