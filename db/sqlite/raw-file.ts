// A database file opened for reading by crm itself, without affecting SQLite's locks.
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs';

// Closing any descriptor of a file releases SQLite's locks on it in this process
// (https://sqlite.org/howtocorrupt.html, 2.2), so all holders share one descriptor, and the last to release it closes it.
interface SharedDescriptor {
  readonly inode: string;
  readonly descriptor: number;
  holders: number;
}

const shared = new Map<string, SharedDescriptor>();

/** One holder's share of an open file. */
export class RawFile {
  readonly #file: SharedDescriptor;
  #isReleased = false;

  private constructor(file: SharedDescriptor) {
    file.holders += 1;
    this.#file = file;
  }

  /** Opens a file, or joins its current holders. */
  static hold(path: string): RawFile {
    const inode = inodeOf(statSync(path, { bigint: true }));
    const file = shared.get(inode) ?? { inode, descriptor: openBest(path), holders: 0 };
    shared.set(inode, file);
    return new RawFile(file);
  }

  /** The open file; throws once it is released, because the number could belong to another file by then. */
  get descriptor(): number {
    if (this.#isReleased) throw new Error('The file was released.');
    return this.#file.descriptor;
  }

  /** The first bytes of the file; null if it is shorter. */
  read(length: number): DataView | null {
    const bytes = new Uint8Array(length);
    return readSync(this.descriptor, bytes, 0, length, 0) === length ? new DataView(bytes.buffer) : null;
  }

  /** Releases it; further calls have no effect. If SQLite has the file open too, call it after SQLite has closed it. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#file.holders -= 1;
    if (this.#file.holders > 0) return;
    shared.delete(this.#file.inode);
    closeSync(this.#file.descriptor);
  }
}

/** Identifies a file, whatever its name; '' for none. */
export function inodeOf(file: BigIntStats | undefined): string {
  return file === undefined ? '' : `${file.dev}:${file.ino}`;
}

/** Identifies the file at a path; '' if there is none. */
export function inodeAt(path: string): string {
  return inodeOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
}

// A file that cannot be written is opened for reading.
function openBest(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EROFS' || code === 'EACCES') return openSync(path, 'r');
    throw error;
  }
}
