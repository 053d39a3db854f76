// What a transaction has noted and writes before its commit, undone with the part that noted it.

/** Notes in order; a savepoint can undo the last ones. */
export class NotedList<T> {
  readonly #notes: T[] = [];
  /** The first note that the innermost savepoint undoes. */
  from = 0;

  /** Number of all notes. */
  get length(): number {
    return this.#notes.length;
  }

  /** Number of notes that `take` returns. */
  get waiting(): number {
    return this.#notes.length - this.from;
  }

  add(note: T): void {
    this.#notes.push(note);
  }

  /** Whether there is such a note. */
  has(isSuch: (note: T) => boolean): boolean {
    return this.#notes.some(isSuch);
  }

  /** Removes the notes that can be written now: those that are undone together with what is written now. */
  take(): T[] {
    return this.#notes.splice(this.from);
  }

  /** Forgets the notes after so many. */
  cutTo(length: number): void {
    this.#notes.length = Math.min(this.#notes.length, length);
  }

  clear(): void {
    this.#notes.length = 0;
    this.from = 0;
  }
}
