// A database file, read by hand beside SQLite without costing it its locks.
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs';

// Closing any descriptor of a file gives back the locks that SQLite has on it in this process
// (https://sqlite.org/howtocorrupt.html, 2.2), so all users share one, and the last to let go of it closes it.
export class HeldFile {
  static readonly #open = new Map<string, HeldFile>();
  readonly #inode: string;
  readonly descriptor: number;
  #users = 0;

  private constructor(path: string, inode: string) {
    this.#inode = inode;
    this.descriptor = openSync(path, 'r+');
  }

  /** Opens a file, or joins those who have it open. */
  static hold(path: string): HeldFile {
    const inode = inodeOf(statSync(path, { bigint: true }));
    const file = HeldFile.#open.get(inode) ?? new HeldFile(path, inode);
    HeldFile.#open.set(inode, file);
    file.#users += 1;
    return file;
  }

  /** The first bytes of the file; null if it has fewer. */
  read(length: number): DataView | null {
    const bytes = new Uint8Array(length);
    return readSync(this.descriptor, bytes, 0, length, 0) === length ? new DataView(bytes.buffer) : null;
  }

  /** Lets go of it; for whoever has it open with SQLite too, after SQLite has closed it. */
  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    HeldFile.#open.delete(this.#inode);
    closeSync(this.descriptor);
  }
}

/** What tells a file from every other, whatever its name; '' for none. */
export function inodeOf(file: BigIntStats | undefined): string {
  return file === undefined ? '' : `${file.dev}:${file.ino}`;
}
