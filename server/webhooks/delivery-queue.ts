// What is still to be sent to one webhook, and what of it can be sent now: in order for each record, replays last.

/** A change on its way to a webhook. */
export interface QueuedChange {
  /** 0, or the number of a replay. */
  readonly pass: number;
  readonly sequence: number;
  /** As in the log of changes. */
  readonly resource: number;
  /** ID of the record. */
  readonly record: string;
  /** Attempts that were made. */
  attempt: number;
  /** When the next attempt is due, in Unix milliseconds; null for at once. */
  nextAttemptAt: number | null;
  isSending: boolean;
  /** Whether it was delivered or given up. */
  isDone: boolean;
}

/** Changes that were not delivered or given up yet. */
export class DeliveryQueue {
  /** By record; the first of each is the one to send. */
  readonly #records = new Map<string, QueuedChange[]>();
  // The first ones of records, by when they can be sent.
  readonly #ready = new Set<QueuedChange>();
  readonly #readyReplays = new Set<QueuedChange>();
  readonly #delayed = new Set<QueuedChange>();
  #size = 0;

  /** Number of changes. */
  get size(): number {
    return this.#size;
  }

  /** Every change in it. */
  get all(): QueuedChange[] {
    return [...this.#records.values()].flat();
  }

  /** Number of changes that can be sent now, as of the last call of `take`. */
  get readySize(): number {
    return this.#ready.size + this.#readyReplays.size;
  }

  /** Adds a change. Those of a pass come in order. */
  add(change: QueuedChange): void {
    this.#size += 1;
    this.#insert(this.#records.getOrInsert(keyOf(change), []), change);
  }

  /** The next change to send, which counts as being sent until it is finished or postponed; null if there is none. */
  take(now: number): QueuedChange | null {
    for (const change of this.#delayed) if (isDue(change, now)) this.#offer(change, now);
    const [change] = this.#ready.size > 0 ? this.#ready : this.#readyReplays;
    if (change === undefined) return null;
    this.#withdraw(change);
    change.isSending = true;
    return change;
  }

  /** Removes a change that was delivered or given up. */
  finish(change: QueuedChange): void {
    change.isDone = true;
    change.isSending = false;
    this.#size -= 1;
    const key = keyOf(change);
    const list = this.#records.get(key) ?? [];
    list.splice(list.indexOf(change), 1);
    const [next] = list;
    if (next === undefined) this.#records.delete(key);
    else this.#offer(next);
  }

  /** Notes when the next attempt for a change is due. */
  postpone(change: QueuedChange, nextAttemptAt: number | null): void {
    change.isSending = false;
    change.nextAttemptAt = nextAttemptAt;
    const list = this.#records.get(keyOf(change)) ?? [];
    list.splice(list.indexOf(change), 1);
    this.#insert(list, change);
    // Another one can be first now.
    const [first] = list;
    if (first !== undefined) this.#offer(first);
  }

  /** When the first postponed change is due; null if none is postponed. */
  get nextDueAt(): number | null {
    let first: number | null = null;
    for (const { nextAttemptAt } of this.#delayed)
      first = Math.min(first ?? Number.POSITIVE_INFINITY, nextAttemptAt ?? 0);
    return first;
  }

  /** Whether a change waits for an earlier one of its record that has failed. */
  isBehindFailure(change: QueuedChange): boolean {
    const [first] = this.#records.get(keyOf(change)) ?? [];
    return first !== undefined && first !== change && first.attempt > 0;
  }

  // The one being sent stays first, so that two of a record are never under way together.
  #insert(list: QueuedChange[], change: QueuedChange): void {
    const [before] = list;
    let index = list.length;
    while (index > 0 && !list[index - 1]?.isSending && comesBefore(change, list[index - 1])) index -= 1;
    list.splice(index, 0, change);
    const [first] = list;
    if (first === undefined || first === before) return;
    if (before !== undefined) this.#withdraw(before);
    this.#offer(first);
  }

  #offer(change: QueuedChange, now?: number): void {
    if (change.isSending) return;
    this.#withdraw(change);
    const isReady = change.nextAttemptAt === null || (now !== undefined && isDue(change, now));
    if (!isReady) this.#delayed.add(change);
    else if (change.pass === 0) this.#ready.add(change);
    else this.#readyReplays.add(change);
  }

  #withdraw(change: QueuedChange): void {
    for (const set of [this.#ready, this.#readyReplays, this.#delayed]) set.delete(change);
  }
}

function keyOf({ resource, record }: QueuedChange): string {
  return `${resource}:${record}`;
}

function isDue({ nextAttemptAt }: QueuedChange, now: number): boolean {
  return nextAttemptAt === null || nextAttemptAt <= now;
}

function comesBefore(one: QueuedChange, other: QueuedChange | undefined): boolean {
  return other !== undefined && (one.pass - other.pass || one.sequence - other.sequence) < 0;
}
