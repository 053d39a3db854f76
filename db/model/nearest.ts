// Finds the name that an unknown one was probably meant to be.

const LETTERS_MIN = 3;

/** The known name that is closest to the given one; undefined if none is close enough. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given);
  if (wanted.length < LETTERS_MIN) return undefined;
  let best: { name: string; edits: number } | undefined;
  const allowed = editsAllowed(wanted);
  for (const name of known) {
    const other = plain(name);
    // Each edit changes the length by one at most; a megabyte would take seconds.
    if (Math.abs(wanted.length - other.length) > allowed) continue;
    const edits = editsBetween(wanted, other);
    if (edits <= allowed && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name, edits };
  }
  // `stage` for stage_id, `value` for estimated_value.
  return best?.name ?? known.find((name) => plain(name).split('_').includes(wanted));
}

function plain(name: string): string {
  return name
    .replace(/^-+/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[-\s.]/g, '_');
}

// One in a short word, two from six letters on, three from nine on.
function editsAllowed(word: string): number {
  return Math.max(1, Math.floor(word.length / 3));
}

/** How many letters must be inserted, removed, changed, or swapped with the next. */
function editsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let edits = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isSwapped) edits = Math.min(edits, at(beforeLast, column - 2) + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
