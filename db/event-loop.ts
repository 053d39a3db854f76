// Work that takes long is done in pieces, so that whoever else waits for the event loop is served in between.

// Some milliseconds of writing.
const ROWS_PER_PIECE = 500;

/** Resolves in the next turn of the event loop, when whatever else was waiting has had its go. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How long a turn may be, in milliseconds. */
const TURN_MS = 10;

/** Divides work that takes long into turns, so that nobody else waits for more than about one of them. */
export class Turns {
  #ends = performance.now() + TURN_MS;

  /** Whether the turn is over, and `next` has to be waited for. */
  get isOver(): boolean {
    return performance.now() > this.#ends;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#ends = performance.now() + TURN_MS;
  }
}

/** The same for many: those who ask for it in one turn share a promise. */
export function commonTurn(): Promise<void> {
  common ??= new Promise((resolve) =>
    setImmediate(() => {
      common = null;
      resolve();
    }),
  );
  return common;
}

let common: Promise<void> | null = null;

/** Repeats a change of at most `rowsMax` rows, which gives how many it changed, until it finds no more of them. */
export async function inPieces(change: (rowsMax: number) => Promise<number>): Promise<void> {
  while ((await change(ROWS_PER_PIECE)) >= ROWS_PER_PIECE) await nextTurn();
}
