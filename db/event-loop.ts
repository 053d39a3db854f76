// Work that takes long is done in pieces, so that whoever else waits for the event loop is served in between.

// Some milliseconds of writing.
const ROWS_PER_PIECE = 500;

/** Resolves in the next turn of the event loop, when whatever else was waiting has had its go. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Repeats a change of at most `rowsMax` rows, which gives how many it changed, until it finds no more of them. */
export async function inPieces(change: (rowsMax: number) => Promise<number>): Promise<void> {
  while ((await change(ROWS_PER_PIECE)) >= ROWS_PER_PIECE) await nextTurn();
}
