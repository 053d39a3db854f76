// Claims that wait for room, in lines: in each the first that came is let in first, whichever thread it came to.
import type { MemorySums } from '../../db/counters/memory-sums.ts';

export interface InLine {
  /** Who waits behind one another. */
  line: string;
  /** Has it go on if there is room by now. */
  tryToEnter: () => boolean;
}

/** Kinds of sums that lines have: tickets, and that of the first of each thread's part of a line. */
export const LINE_KINDS = 2;
const LAST = '';
/** How soon room that another thread has given back is looked for. */
const LOOK_MS = 5;

/** The part of the lines that waits in this thread. */
export class WaitingLines {
  readonly #sums: MemorySums;
  readonly #tickets: number;
  readonly #firsts: number;
  /** Of each line, who waits with which ticket. */
  readonly #lines = new Map<string, Map<InLine, number>>();
  #size = 0;
  /** The state of the sums when room was last looked for. */
  #seen = 0;
  #isLooking = false;

  /** @param kind the first of its kinds among the sums */
  constructor(sums: MemorySums, kind: number) {
    this.#sums = sums;
    this.#tickets = kind;
    this.#firsts = kind + 1;
  }

  get size(): number {
    return this.#size;
  }

  enter(waiting: InLine): void {
    const line = this.#lines.get(waiting.line) ?? new Map<InLine, number>();
    this.#lines.set(waiting.line, line);
    this.#size += 1;
    this.#sums.lock.enter();
    this.#sums.add(this.#tickets, LAST, 1);
    const ticket = this.#sums.get(this.#tickets, LAST);
    line.set(waiting, ticket);
    if (line.size === 1) this.#setFirst(waiting.line, ticket);
    this.#sums.lock.leave();
    this.#lookLater();
  }

  /** Gives up a place; who waits behind it may have room. */
  leave(waiting: InLine): void {
    if (this.#remove(waiting)) this.roomGivenBack();
  }

  /** Lets in who has room by now, here and in other threads. */
  roomGivenBack(): void {
    if (this.#sums.isShared) this.#sums.noteChange();
    if (this.#size > 0) this.#letIn();
  }

  // However many of a key wait, only the first of each of its lines is looked at.
  #letIn(): void {
    this.#seen = this.#sums.changes;
    for (const line of this.#lines.values()) {
      for (const [waiting, ticket] of line) {
        if (!this.#isFirst(waiting.line, ticket) || !waiting.tryToEnter()) break;
        this.#remove(waiting);
        // Who waits behind it elsewhere is the first now.
        if (this.#sums.isShared) this.#sums.noteChange();
      }
    }
  }

  #remove(waiting: InLine): boolean {
    const line = this.#lines.get(waiting.line);
    if (line?.delete(waiting) !== true) return false;
    const [ticket = 0] = line.values();
    this.#sums.lock.enter();
    this.#setFirst(waiting.line, ticket);
    this.#sums.lock.leave();
    if (line.size === 0) this.#lines.delete(waiting.line);
    this.#size -= 1;
    return true;
  }

  #setFirst(line: string, ticket: number): void {
    const name = firstOf(line, this.#sums.thread);
    this.#sums.add(this.#firsts, name, ticket - this.#sums.get(this.#firsts, name));
  }

  #isFirst(line: string, ticket: number): boolean {
    const { threads, thread: own, lock } = this.#sums;
    if (threads === 1) return true;
    lock.enter();
    let isFirst = true;
    for (let thread = 0; isFirst && thread < threads; thread++) {
      const other = thread === own ? 0 : this.#sums.get(this.#firsts, firstOf(line, thread));
      isFirst = other === 0 || other > ticket;
    }
    lock.leave();
    return isFirst;
  }

  // A message would come as late: each thread has its turns.
  #lookLater(): void {
    if (this.#isLooking || !this.#sums.isShared) return;
    this.#isLooking = true;
    setTimeout(this.#look, LOOK_MS);
  }

  readonly #look = (): void => {
    this.#isLooking = false;
    if (this.#size > 0 && this.#sums.changes !== this.#seen) this.#letIn();
    if (this.#size > 0) this.#lookLater();
  };
}

function firstOf(line: string, thread: number): string {
  return `${thread} ${line}`;
}
