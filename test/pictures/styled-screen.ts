// A terminal's screen with its colours: what a person sees once a program has written to it.

export interface Cell {
  character: string;
  isBold: boolean;
  /** As CSS has it; null for the terminal's own. */
  color: string | null;
}

// A command to the terminal, its numbers and its letter; or a character.
const PIECE = /(?!\n)\p{Cc}\[([\d;?]*)([A-Za-z])|\p{Any}/gu;
const BLANK: Cell = { character: ' ', isBold: false, color: null };
const COLORS: Record<number, string> = {
  31: '#f28b82',
  32: '#7ee2a8',
  33: '#f6c177',
  34: '#8ab4f8',
  35: '#d7aefb',
  36: '#78d9ec',
  90: '#8b919d',
};
const [RESET, BOLD, DIM, NOT_BOLD, NO_COLOR] = [0, 1, 2, 22, 39];
// The selected line, which is bold here.
const [REVERSED, NOT_REVERSED] = [7, 27];

/** Understands colours, and what moves the cursor up or erases lines. */
export class StyledScreen {
  readonly #lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #style: Omit<Cell, 'character'> = { isBold: false, color: null };

  /** Shows what a program wrote. */
  write(output: string): this {
    for (const [piece, numbers = '', letter] of output.matchAll(PIECE)) {
      if (letter === 'm') this.#paint(numbers.split(';').map(Number));
      else if (letter !== undefined) this.#obey(letter, Number.parseInt(numbers, 10));
      else if (piece === '\n') this.#moveTo(this.#row + 1, 0);
      else if (piece === '\r') this.#column = 0;
      else this.#put(piece);
    }
    return this;
  }

  /** The lines, without blanks at their ends, and without empty lines at the end. */
  lines(): Cell[][] {
    const trimmed = this.#lines.map((line) =>
      line.slice(0, line.findLastIndex(({ character }) => character !== ' ') + 1),
    );
    return trimmed.slice(0, trimmed.findLastIndex((line) => line.length > 0) + 1);
  }

  #paint(numbers: readonly number[]): void {
    for (const number of numbers) {
      if (number === RESET) this.#style = { isBold: false, color: null };
      else if (number === BOLD || number === REVERSED) this.#style = { ...this.#style, isBold: true };
      else if (number === DIM) this.#style = { ...this.#style, color: COLORS[90] ?? null };
      else if (number === NOT_BOLD) this.#style = { isBold: false, color: null };
      else if (number === NOT_REVERSED) this.#style = { ...this.#style, isBold: false };
      else if (number === NO_COLOR) this.#style = { ...this.#style, color: null };
      else if (COLORS[number] !== undefined) this.#style = { ...this.#style, color: COLORS[number] };
    }
  }

  #obey(letter: string, number: number): void {
    const line = this.#lines[this.#row] ?? [];
    if (letter === 'A') this.#moveTo(Math.max(0, this.#row - (number || 1)), this.#column);
    if (letter === 'B') this.#moveTo(this.#row + (number || 1), this.#column);
    if (letter === 'E') this.#moveTo(this.#row + (number || 1), 0);
    if (letter === 'F') this.#moveTo(Math.max(0, this.#row - (number || 1)), 0);
    if (letter === 'G') this.#column = (number || 1) - 1;
    if (letter === 'H') this.#moveTo(0, 0);
    if (letter === 'K') this.#lines[this.#row] = number === 2 ? [] : line.slice(0, this.#column);
    if (letter === 'J') this.#lines.splice(this.#row, this.#lines.length, line.slice(0, this.#column));
  }

  #put(character: string): void {
    const line = this.#lines[this.#row] ?? [];
    while (line.length < this.#column) line.push(BLANK);
    line[this.#column] = { character, ...this.#style };
    this.#lines[this.#row] = line;
    this.#column += 1;
  }

  #moveTo(row: number, column: number): void {
    while (this.#lines.length <= row) this.#lines.push([]);
    this.#row = row;
    this.#column = column;
  }
}
