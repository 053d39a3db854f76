// A terminal's screen of endless height, for what Ink and others write to one: which lines are left in the end.

// A command to the terminal, its numbers and its letter; or a character.
const PIECE = /\p{Cc}\[([\d;?]*)([A-Za-z])|\p{Any}/gu;

/** Understands what moves the cursor up or erases lines; colours and modes show nowhere. */
export class Screen {
  readonly #lines: string[] = [''];
  #row = 0;
  #column = 0;

  /** Shows what a program wrote. */
  write(output: string): this {
    for (const [piece, numbers = '', letter] of output.matchAll(PIECE)) {
      if (letter !== undefined) this.#obey(letter, Number.parseInt(numbers, 10));
      else if (piece === '\n') this.#moveTo(this.#row + 1, 0);
      else if (piece === '\r') this.#column = 0;
      else this.#put(piece);
    }
    return this;
  }

  /** The lines as they are read. */
  lines(): string[] {
    return this.#lines.map((line) => line.trimEnd());
  }

  #obey(letter: string, number: number): void {
    if (letter === 'A') this.#moveTo(Math.max(0, this.#row - (number || 1)), this.#column);
    if (letter === 'B') this.#moveTo(this.#row + (number || 1), this.#column);
    if (letter === 'E') this.#moveTo(this.#row + (number || 1), 0);
    if (letter === 'F') this.#moveTo(Math.max(0, this.#row - (number || 1)), 0);
    if (letter === 'G') this.#column = (number || 1) - 1;
    if (letter === 'K') this.#lines[this.#row] = number === 2 ? '' : this.#before();
    if (letter === 'J') this.#lines.splice(this.#row, this.#lines.length, number === 2 ? '' : this.#before());
  }

  #before(): string {
    return (this.#lines[this.#row] ?? '').slice(0, this.#column);
  }

  #put(character: string): void {
    const line = (this.#lines[this.#row] ?? '').padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }

  #moveTo(row: number, column: number): void {
    while (this.#lines.length <= row) this.#lines.push('');
    this.#row = row;
    this.#column = column;
  }
}
