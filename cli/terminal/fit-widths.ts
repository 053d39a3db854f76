// How wide the columns of a table are, so that a line fits the terminal.

/** What stands between two columns. */
export const GAP = '  ';

/**
 * The widths of the columns that fit: leaves out the last ones, then narrows the widest.
 * @param natural the width of the widest cell of each column
 * @param least the width that each column needs at least
 */
export function fitWidths(natural: readonly number[], least: readonly number[], width: number): number[] {
  let room = width - (least[0] ?? 0);
  let count = 1;
  for (; count < natural.length; count += 1) {
    const needed = GAP.length + (least[count] ?? 0);
    if (room < needed) break;
    room -= needed;
  }
  const shown = natural.slice(0, count);
  shrink(shown, width - GAP.length * (count - 1), least);
  return shown;
}

function shrink(widths: number[], room: number, least: readonly number[]): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    let widest = -1;
    for (const [index, width] of widths.entries()) {
      if (width > (least[index] ?? 0) && width > (widths[widest] ?? 0)) widest = index;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
}
