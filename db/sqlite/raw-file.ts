// A database file, read by hand beside SQLite without costing it its locks.
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs';

// Closing any descriptor of a file gives back the locks that SQLite has on it in this process
// (https://sqlite.org/howtocorrupt.html, 2.2), so all holders share one, and the last to let go of it closes it.
interface SharedDescriptor {
  readonly inode: string;
  readonly descriptor: number;
  holders: number;
}

const shared = new Map<string, SharedDescriptor>();

/** One holder's share in a file that is open. */
export class HeldFile {
  readonly #file: SharedDescriptor;
  #isReleased = false;

  private constructor(file: SharedDescriptor) {
    file.holders += 1;
    this.#file = file;
  }

  /** Opens a file, or joins those who have it open. */
  static hold(path: string): HeldFile {
    const inode = inodeOf(statSync(path, { bigint: true }));
    const file = shared.get(inode) ?? { inode, descriptor: openBest(path), holders: 0 };
    shared.set(inode, file);
    return new HeldFile(file);
  }

  /** The open file; throws once it is released, since the number may belong to another file by then. */
  get descriptor(): number {
    if (this.#isReleased) throw new Error('The file was released.');
    return this.#file.descriptor;
  }

  /** The first bytes of the file; null if it has fewer. */
  read(length: number): DataView | null {
    const bytes = new Uint8Array(length);
    return readSync(this.descriptor, bytes, 0, length, 0) === length ? new DataView(bytes.buffer) : null;
  }

  /** Lets go of it, once however often it is called; where SQLite has the file open too, after SQLite has closed it. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#file.holders -= 1;
    if (this.#file.holders > 0) return;
    shared.delete(this.#file.inode);
    closeSync(this.#file.descriptor);
  }
}

/** What tells a file from every other, whatever its name; '' for none. */
export function inodeOf(file: BigIntStats | undefined): string {
  return file === undefined ? '' : `${file.dev}:${file.ino}`;
}

// What cannot be written is only read.
function openBest(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EROFS' || code === 'EACCES') return openSync(path, 'r');
    throw error;
  }
}
