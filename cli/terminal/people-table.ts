// Tables for people on a terminal: without empty columns, and with cells that are wrapped between words.
import { fitWidths, GAP } from './fit-widths.ts';
import { truncate } from './table.ts';
import { neutralizeLine } from './text.ts';

export interface PeopleColumn<Row> {
  heading: string;
  /** What a cell shows; empty for nothing. */
  text(row: Row): string;
  /** Whether the values are numbers, which stand below each other by their ends. */
  isNumber?: boolean;
}

export interface PeopleTableOptions {
  /** Of the terminal. */
  width: number;
  isColored: boolean;
}

// A column is not narrowed below this, nor below its longest word.
const COLUMN_CHARACTERS_MIN = 14;
// Longer words, such as addresses of pages, may be cut.
const WORD_CHARACTERS_MAX = 40;
const LINES_MAX = 3;

/** Lines of a table, page by page: the first page decides which columns there are, and their widths. */
export class PeopleTable<Row> {
  readonly #columns: readonly PeopleColumn<Row>[];
  readonly #options: PeopleTableOptions;
  #shown: { column: PeopleColumn<Row>; width: number }[] | undefined;

  /** @param columns the most important first; the last are left out of a narrow terminal */
  constructor(columns: readonly PeopleColumn<Row>[], options: PeopleTableOptions) {
    this.#columns = columns;
    this.#options = options;
  }

  /** The lines of rows; with the header the first time. */
  render(rows: readonly Row[]): string {
    const isFirst = this.#shown === undefined;
    this.#shown ??= this.#choose(rows);
    const shown = this.#shown;
    const lines = rows.flatMap((row) => this.#lines(row));
    if (isFirst) {
      const header = joined(shown.map(({ column, width }) => padded(column.heading, width, column)));
      lines.unshift(this.#options.isColored ? `\u001b[1m${header}\u001b[22m` : header);
    }
    return lines.map((line) => `${line}\n`).join('');
  }

  #choose(rows: readonly Row[]): { column: PeopleColumn<Row>; width: number }[] {
    const { width: room } = this.#options;
    const all = this.#columns.map((column) => ({
      column,
      cells: rows.map((row) => neutralizeLine(column.text(row))),
    }));
    const filled = all.filter(({ cells }) => cells.some((cell) => cell !== ''));
    const columns = filled.length > 0 ? filled : all.slice(0, 1);
    const natural = columns.map(({ column, cells }) => widest([column.heading, ...cells]));
    const least = columns.map(({ column, cells }, index) => {
      const words = [column.heading, ...cells.flatMap((cell) => cell.split(' '))];
      const word = widest(words.filter((one) => Bun.stringWidth(one) <= WORD_CHARACTERS_MAX));
      return Math.min(natural[index] ?? 0, Math.max(COLUMN_CHARACTERS_MIN, word));
    });
    const widths = fitWidths(natural, least, room);
    // The first column is there however narrow the terminal is.
    return widths.map((width, index) => ({
      column: (columns[index] ?? columns[0])?.column as PeopleColumn<Row>,
      width: Math.min(width, room),
    }));
  }

  #lines(row: Row): string[] {
    const cells = (this.#shown ?? []).map(({ column, width }) => ({
      column,
      width,
      lines: wrappedCell(neutralizeLine(column.text(row)), width),
    }));
    const height = Math.max(1, ...cells.map(({ lines }) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      joined(cells.map(({ column, width, lines }) => padded(lines[line] ?? '', width, column))),
    );
  }
}

/** The lines of a cell; what does not fit is cut at its end. */
function wrappedCell(text: string, width: number): string[] {
  if (Bun.stringWidth(text) <= width) return [text];
  const words = text.split(' ').map((word) => truncate(word, width));
  const lines = Bun.wrapAnsi(words.join(' '), width, { hard: false, trim: true }).split('\n');
  if (lines.length <= LINES_MAX) return lines;
  const last = lines[LINES_MAX - 1] ?? '';
  return [...lines.slice(0, LINES_MAX - 1), withEllipsis(last, width)];
}

function withEllipsis(line: string, width: number): string {
  if (Bun.stringWidth(line) < width) return `${line}…`;
  return truncate(`${line} …`, width);
}

function padded(text: string, width: number, { isNumber = false }: { isNumber?: boolean }): string {
  const space = ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
  return isNumber ? space + text : text + space;
}

function joined(cells: readonly string[]): string {
  return cells.join(GAP).trimEnd();
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => Bun.stringWidth(text)));
}
