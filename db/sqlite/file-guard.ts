// Whether the files that a store has open are still those at its path: SQLite goes on writing into files that are gone.
import { type BigIntStats, statSync } from 'node:fs';
import { DatabaseError } from '../database-error.ts';
import type { Connection } from './connection.ts';
import { readMainFile } from './main-file.ts';
import { type HeldFile, inodeOf } from './raw-file.ts';

const SUFFIXES = ['', '-wal', '-shm'] as const;

const LOOK_EVERY_MS = 1_000;

export class FileGuard {
  readonly #path: string;
  readonly #writer: Connection;
  readonly #held: HeldFile;
  readonly #opened: string[];
  #seen: BigIntStats;
  #mark: number;
  #isWrittenOver = false;
  #tell: (trouble: DatabaseError | null) => void = () => undefined;
  #told: string | undefined;
  #timer: Timer | undefined;
  // Of the file as it was when the database got its last mark.
  #markedAt = 0n;
  #isMarking = false;
  #hasUnmarked = false;

  /** Remembers the files that are open now. */
  constructor(writer: Connection, held: HeldFile) {
    this.#path = writer.filename;
    this.#writer = writer;
    this.#held = held;
    this.#opened = SUFFIXES.map((suffix) => inodeOf(lookAt(this.#path + suffix)));
    this.#seen = statSync(this.#path, { bigint: true });
    this.#mark = readMainFile(held)?.mark ?? 0;
  }

  /** Looks each second too, and tells of each change: what is wrong, or null once nothing is any more. */
  watch(tell: (trouble: DatabaseError | null) => void): void {
    this.#tell = tell;
    this.#timer = setInterval(() => this.trouble(), LOOK_EVERY_MS);
  }

  /** Ends `watch`. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Whether the log may be moved into the file: not into one that another program wrote. */
  get takesLog(): boolean {
    return !this.#isWrittenOver;
  }

  /** What happened to the files and what to do; null if they are as they should be. */
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
   * Gives the database its next mark, in a transaction that is open, if it is the first since the file has changed, or the
   * last before a checkpoint.
   */
  mark(isLast: boolean): void {
    this.#isMarking = isLast || this.#markedAt !== this.#seen.mtimeNs;
    if (!this.#isMarking) return;
    this.#writer.run(`PRAGMA user_version = ${Number(this.#writer.pragma('user_version')) + 1}`);
  }

  /** Is told that a transaction with `mark` was committed. */
  onCommit(): void {
    this.#hasUnmarked = !this.#isMarking;
    if (this.#isMarking) this.#markedAt = this.#seen.mtimeNs;
  }

  /** Has the next transaction marked, whatever it does, so that there is something to write. */
  markNext(): void {
    this.#markedAt = 0n;
  }

  /** Marks the end of what was written, before the connection is closed. */
  markEnd(): void {
    if (!this.#hasUnmarked) return;
    this.#writer.run('BEGIN IMMEDIATE');
    this.mark(true);
    this.#writer.run('COMMIT');
    this.onCommit();
  }

  // A checkpoint, ours or another process's, brings the file to a state that the log holds; nothing else writes to it.
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

  // With what the log holds; null where SQLite can make nothing of it any more.
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

const RESCUE = 'Else take out what the server still holds (crm export all --out DIR), then stop it';

function deleted(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} is gone: it was deleted or moved while in use.`, [
    'If it was moved, move it back: writes then go on.',
    `${RESCUE}, and restore a backup.`,
  ]);
}

function replaced(path: string): DatabaseError {
  return new DatabaseError(`Another file was put in the place of the database ${path} while in use.`, [
    'If the former file is still somewhere, move it back: writes then go on.',
    `${RESCUE}, and start it again to serve the file that is there now.`,
  ]);
}

function writtenOver(path: string): DatabaseError {
  return new DatabaseError(
    `Another program wrote over the database ${path}, or cut it short, while in use.`,
    ['Stop the server, put the file back as it was or restore a backup, and start again.'],
  );
}

function logGone(path: string): DatabaseError {
  return new DatabaseError(`${path} was deleted, moved or replaced while the database was in use.`, [
    'Start the server again: as it stops, it writes what it holds into the database.',
  ]);
}
