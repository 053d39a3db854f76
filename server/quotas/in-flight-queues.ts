// Claims that wait for room, in lines: each line is first come, first served across all threads.
import type { MemorySums } from '../../db/counters/memory-sums.ts';

export interface QueuedClaim {
  /** The line it waits in. */
  line: string;
  /** Lets it continue if there is room. */
  tryToEnter: () => boolean;
}

const LAST = '';
/** How often to check for room that another thread has given back. */
const LOOK_MS = 5;

/** The part of the lines that waits in this thread. */
export class ClaimQueues {
  readonly #sums: MemorySums;
  readonly #tickets: number;
  readonly #firsts: number;
  /** The waiting claims of each line, with their tickets. */
  readonly #lines = new Map<string, Map<QueuedClaim, number>>();
  #size = 0;
  /** The state of the sums at the last check for room. */
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

  enter(waiting: QueuedClaim): void {
    const line = this.#lines.get(waiting.line) ?? new Map<QueuedClaim, number>();
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

  /** Leaves the line; the next in line could have room now. */
  leave(waiting: QueuedClaim): void {
    if (this.#remove(waiting)) this.roomGivenBack();
  }

  /** Lets in everyone who has room now, here and in other threads. */
  roomGivenBack(): void {
    if (this.#sums.isShared) this.#sums.noteChange();
    if (this.#size > 0) this.#letIn();
  }

  // Only the first of each line is checked, however many wait.
  #letIn(): void {
    this.#seen = this.#sums.changes;
    for (const line of this.#lines.values()) {
      for (const [waiting, ticket] of line) {
        if (!this.#isFirst(waiting.line, ticket) || !waiting.tryToEnter()) break;
        this.#remove(waiting);
        // Another thread could have the new first in line.
        if (this.#sums.isShared) this.#sums.noteChange();
      }
    }
  }

  #remove(waiting: QueuedClaim): boolean {
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

  // A message would arrive no sooner, because threads have their own turns.
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
