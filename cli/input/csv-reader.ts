// Reads CSV in pieces: exact line numbers, any line ending, and a stray quote affects only its own row.
import { CliError } from '../errors.ts';

export interface CsvRecord {
  /** The line of its first character. */
  line: number;
  cells: string[];
  /** What is wrong with its quotes, if anything. */
  fault: string | null;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;
// Longer than any row that the service accepts; beyond this, most likely a quote was left open.
const RECORD_CHARACTERS_MAX = 16 * 1024 * 1024;

const QUOTE = '"';

/** The most frequent delimiter outside quotes in the header line; a comma by default. */
export function sniffDelimiter(headerLine: string): string {
  const unquoted = headerLine.replace(/"(?:[^"]|"")*"?/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length - 1);
  const most = Math.max(...counts);
  return most === 0 ? ',' : (DELIMITERS[counts.indexOf(most)] ?? ',');
}

/** The delimiter of a line `sep=;`, which Excel understands before the header line; undefined for any other. */
export function declaredDelimiter(firstLine: string): string | undefined {
  return /^(?:sep=(.)|"sep=(.)")$/i.exec(firstLine)?.slice(1).find(Boolean);
}

/** Where the first line ends outside quotes, or -1 while it does not. */
export function headerLineEnd(text: string): number {
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === QUOTE) isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) return index;
  }
  return -1;
}

/** Takes text in pieces and returns the complete records. */
export class CsvScanner {
  readonly #delimiter: string;
  readonly #name: string;
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  /** A carriage return at the end of a piece: its line feed may be in the next one. */
  #held = '';
  #record: CsvRecord = { line: 1, cells: [], fault: null };
  #recordCharacters = 0;
  #cell = '';
  #line = 1;
  #quoteLine = 1;

  constructor(delimiter: string, name: string) {
    this.#delimiter = delimiter;
    this.#name = name;
  }

  push(text: string): CsvRecord[] {
    const whole = this.#held + text;
    this.#held = whole.endsWith('\r') ? '\r' : '';
    return this.#scan(this.#held === '' ? whole : whole.slice(0, -1));
  }

  /** The last record; throws a CliError if a quote is still open. */
  end(): CsvRecord[] {
    const records = this.#scan(this.#held);
    if (this.#state === 'quoted') throw this.#unclosed();
    if (this.#state !== 'start' || this.#record.cells.length > 0) records.push(this.#endRecord());
    return records;
  }

  #scan(text: string): CsvRecord[] {
    const records: CsvRecord[] = [];
    for (let index = 0; index < text.length; index += 1) {
      const end = this.#cellEnd(text, index);
      if (end > index) this.#take(text.slice(index, end));
      index = end;
      const character = text[end];
      if (character === QUOTE) this.#takeQuote();
      else if (character === this.#delimiter) this.#endCell();
      else if (character !== undefined) {
        records.push(this.#endRecord());
        if (character === '\r' && text[end + 1] === '\n') index += 1;
      }
    }
    return records;
  }

  /** Where the text of a cell ends or is interrupted: at a delimiter, a line ending, or a quote. */
  #cellEnd(text: string, from: number): number {
    if (this.#state === 'quoted') {
      const end = text.indexOf(QUOTE, from);
      return end === -1 ? text.length : end;
    }
    // Inside unquoted text, a quote is text.
    if (text[from] === QUOTE && this.#state !== 'plain') return from;
    let index = from;
    for (; index < text.length; index += 1) {
      const character = text[index];
      if (character === this.#delimiter || character === '\n' || character === '\r') break;
    }
    return index;
  }

  #take(text: string): void {
    this.#recordCharacters += text.length;
    if (this.#recordCharacters > RECORD_CHARACTERS_MAX)
      throw this.#state === 'quoted' ? this.#unclosed() : this.#tooLong();
    if (this.#state === 'quoted') this.#line += text.match(/\r\n|\n|\r/g)?.length ?? 0;
    else {
      if (this.#state === 'closed') {
        const column = this.#record.cells.length + 1;
        this.#record.fault = `text follows a closing quote in column ${column}; double a quote inside quotes ("")`;
      }
      this.#state = 'plain';
    }
    this.#cell += text;
  }

  #takeQuote(): void {
    if (this.#state === 'start') this.#quoteLine = this.#line;
    if (this.#state === 'closed') this.#cell += QUOTE;
    this.#state = this.#state === 'quoted' ? 'closed' : 'quoted';
  }

  #endCell(): void {
    this.#record.cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  #endRecord(): CsvRecord {
    this.#endCell();
    const record = this.#record;
    this.#line += 1;
    this.#record = { line: this.#line, cells: [], fault: null };
    this.#recordCharacters = 0;
    return record;
  }

  #tooLong(): CliError {
    return new CliError(
      `${this.#name}: the row that starts in line ${this.#record.line} is longer than 16 Mi characters.`,
      { nextSteps: ['check that the file is CSV, and that each of its rows ends with a line break.'] },
    );
  }

  #unclosed(): CliError {
    return new CliError(`${this.#name}: the quote that opens in line ${this.#quoteLine} is never closed.`, {
      nextSteps: [
        `close it, or double it if it is part of the text. The row starts in line ${this.#record.line}.`,
      ],
    });
  }
}
