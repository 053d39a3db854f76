// Splits long work into pieces, so that others waiting for the event loop are served in between.

// Takes a few milliseconds to write.
const ROWS_PER_PIECE = 500;

/** Resolves in the next turn of the event loop, after everything that was waiting has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Maximum length of a turn, in milliseconds. */
const TURN_MS = 10;

/** Divides long work into turns, so that others wait no longer than about one turn. */
export class TimeSlices {
  #ends = performance.now() + TURN_MS;

  /** Whether the turn is over, so that `next` must be awaited. */
  get isOver(): boolean {
    return performance.now() > this.#ends;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#ends = performance.now() + TURN_MS;
  }
}

/**
 * What `act` makes of each item, in order: at once, or where that takes longer than a turn, in several, so that others are
 * served in between.
 */
export function mapInTurns<T, R>(items: readonly T[], act: (item: T) => R): R[] | Promise<R[]> {
  const turns = new TimeSlices();
  const made: R[] = [];
  const makeRest = (): R[] | Promise<R[]> => {
    for (const item of items.slice(made.length)) {
      if (turns.isOver) return turns.next().then(makeRest);
      made.push(act(item));
    }
    return made;
  };
  return makeRest();
}

// Takes a few milliseconds to write.
const ITEMS_PER_PART = 1_000;

/** Does something with all items in order, some at a time, so that others are served in between. */
export async function inParts<T>(items: readonly T[], act: (some: readonly T[]) => unknown): Promise<void> {
  const turns = new TimeSlices();
  for (let from = 0; from < items.length; from += ITEMS_PER_PART) {
    if (turns.isOver) await turns.next();
    await act(items.slice(from, from + ITEMS_PER_PART));
  }
}

/** The same for many callers: those of one turn share a promise. */
export function sharedNextTurn(): Promise<void> {
  common ??= new Promise((resolve) =>
    setImmediate(() => {
      common = null;
      resolve();
    }),
  );
  return common;
}

let common: Promise<void> | null = null;

/** Repeats a change of at most `rowsMax` rows, which returns how many it changed, until no rows are left. */
export async function inBatches(change: (rowsMax: number) => Promise<number>): Promise<void> {
  while ((await change(ROWS_PER_PIECE)) >= ROWS_PER_PIECE) await nextTurn();
}
