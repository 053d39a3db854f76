// Watches whether the open files of a store are still those at its path: SQLite keeps writing to files that were deleted.
import { type BigIntStats, statSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import type { Connection } from './connection.ts';
import { readMainFile } from './main-file.ts';
import { inodeOf, type RawFile } from './raw-file.ts';

const SUFFIXES = ['', '-wal', '-shm'] as const;

const LOOK_EVERY_MS = 1_000;

export class FileGuard {
  readonly #path: string;
  readonly #writer: Connection;
  readonly #held: RawFile;
  readonly #opened: string[];
  #seen: BigIntStats;
  #mark: number;
  #isWrittenOver = false;
  #tell: (trouble: DatabaseError | null) => void = () => undefined;
  #told: string | undefined;
  #timer: Timer | undefined;
  // The file's modification time when the database got its last mark.
  #markedAt = 0n;
  #isMarking = false;
  #hasUnmarked = false;

  /** Remembers the files that are open now. */
  constructor(writer: Connection, held: RawFile) {
    this.#path = writer.filename;
    this.#writer = writer;
    this.#held = held;
    this.#opened = SUFFIXES.map((suffix) => inodeOf(lookAt(this.#path + suffix)));
    this.#seen = statSync(this.#path, { bigint: true });
    this.#mark = readMainFile(held)?.mark ?? 0;
  }

  /** Checks every second as well, and reports each change: the problem, or null once it is solved. */
  watch(tell: (trouble: DatabaseError | null) => void): void {
    this.#tell = tell;
    this.#timer = setInterval(() => this.trouble(), LOOK_EVERY_MS);
  }

  /** Ends `watch`. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Whether the log can be moved into the file: not if another program wrote to it. */
  get takesLog(): boolean {
    return !this.#isWrittenOver;
  }

  /** What happened to the files and what to do; null if they are unchanged. */
  trouble(): DatabaseError | null {
    const trouble = this.#look();
    if (trouble?.message !== this.#told) {
      this.#told = trouble?.message;
      this.#tell(trouble);
    }
    return trouble;
  }

  #look(): DatabaseError | null {
    this.#isWrittenOver = false;
    for (const [index, suffix] of SUFFIXES.entries()) {
      const file = lookAt(this.#path + suffix);
      const isOpened = file !== undefined && inodeOf(file) === this.#opened[index];
      if (!isOpened && suffix !== '') return logGone(this.#path + suffix);
      if (file === undefined) return deleted(this.#path);
      if (!isOpened) return replaced(this.#path);
      if (suffix === '') this.#isWrittenOver = this.#hasForeignContent(file);
    }
    return this.#isWrittenOver ? writtenOver(this.#path) : null;
  }

  /**
   * Gives the database its next mark, within an open transaction, if it is the first since the file has changed, or the last
   * before a checkpoint.
   */
  mark(isLast: boolean): void {
    this.#isMarking = isLast || this.#markedAt !== this.#seen.mtimeNs;
    if (!this.#isMarking) return;
    this.#writer.run(`PRAGMA user_version = ${Number(this.#writer.pragma('user_version')) + 1}`);
  }

  /** Notes that a transaction with `mark` was committed. */
  onCommit(): void {
    this.#hasUnmarked = !this.#isMarking;
    if (this.#isMarking) this.#markedAt = this.#seen.mtimeNs;
  }

  /** Makes the next transaction mark the database in any case, so that there is something to write. */
  markNext(): void {
    this.#markedAt = 0n;
  }

  /** Marks the end of all writes before the connection is closed. */
  markEnd(): void {
    if (!this.#hasUnmarked) return;
    this.#writer.run('BEGIN IMMEDIATE');
    this.mark(true);
    this.#writer.run('COMMIT');
    this.onCommit();
  }

  // Checkpoints, of this or another process, bring the file to a state in the log; nothing else writes to it.
  #hasForeignContent(file: BigIntStats): boolean {
    if (file.mtimeNs === this.#seen.mtimeNs) return false;
    const mark = readMainFile(this.#held)?.mark ?? -1;
    const state = this.#newestState();
    if (state === null || mark < this.#mark || mark > state.mark) return true;
    if (file.size < this.#seen.size && file.size < state.bytes) return true;
    this.#seen = file;
    this.#mark = mark;
    return false;
  }

  // Including the log; null if SQLite can no longer read it.
  #newestState(): { mark: number; bytes: number } | null {
    try {
      const [mark = 0, pages = 0, pageSize = 0] = ['user_version', 'page_count', 'page_size'].map((name) =>
        Number(this.#writer.pragma(name)),
      );
      return { mark, bytes: pages * pageSize };
    } catch {
      return null;
    }
  }
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

const RESCUE =
  'Otherwise export the data that the server still has (crm export all --out DIR), stop the server';

function deleted(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} was deleted or moved while in use.`, [
    'If it was moved, move it back, and writes will resume.',
    `${RESCUE}, and restore a backup.`,
  ]);
}

function replaced(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} was replaced by another file while in use.`, [
    'If the original file still exists, move it back, and writes will resume.',
    `${RESCUE}, and start it again to serve the new file.`,
  ]);
}

function writtenOver(path: string): DatabaseError {
  return new DatabaseError(`Another program overwrote or truncated the database ${path} while in use.`, [
    'Stop the server, put the original file back or restore a backup, and start the server again.',
  ]);
}

function logGone(path: string): DatabaseError {
  return new DatabaseError(`${path} was deleted, moved or replaced while the database was in use.`, [
    'Restart the server: when it stops, it writes its data into the database.',
  ]);
}
