// A table of a page in as many columns as a terminal has: cells are wrapped, never cut.

const GAP = '  ';

/** The lines of a table whose first row is its header; its rows as paragraphs where there is no room for columns. */
export function layOutTable(rows: readonly string[][], columns: number, isColored: boolean): string[] {
  const [header = [], ...body] = rows;
  const bold = (cell: string) => (isColored ? `\u001b[1m${cell}\u001b[22m` : cell);
  const widths = fitWidths(rows, columns - GAP.length * (header.length - 1));
  if (widths === undefined) return body.flatMap((row) => paragraphOf(row, header, columns));
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  const head = header.every((cell) => cell === '') ? [] : [...layOutRow(header.map(bold), widths), rule];
  return [...head, ...body.flatMap((row) => layOutRow(row, widths))];
}

function paragraphOf([first = '', ...cells]: readonly string[], header: readonly string[], columns: number) {
  const more = cells.flatMap((cell, index) => {
    const label = header[index + 1] ?? '';
    const text = label === '' ? cell : `${label}: ${cell}`;
    return cell === '' ? [] : wrapped(text, columns - GAP.length).map((line) => GAP + line);
  });
  return [...wrapped(first, columns), ...more];
}

function wrapped(text: string, columns: number): string[] {
  return Bun.wrapAnsi(text, Math.max(1, columns), { hard: false, trim: true }).split('\n');
}

function layOutRow(row: readonly string[], widths: readonly number[]): string[] {
  const cells = widths.map((width, index) => wrapped(row[index] ?? '', width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, index) => padded(lines[line] ?? '', widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
}

/** Widths in which no word is broken; undefined if there are none. */
function fitWidths(rows: readonly string[][], room: number): number[] | undefined {
  const widest = (measure: (cell: string) => number) =>
    (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => measure(row[index] ?? ''))));
  const widths = widest(Bun.stringWidth);
  const least = widest((cell) => Math.max(...cell.split(' ').map((word) => Bun.stringWidth(word))));
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const most = Math.max(...spare);
    if (most === 0) return undefined;
    widths[spare.indexOf(most)] = most - 1;
  }
  return widths;
}
