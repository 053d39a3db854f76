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
// Longer than any row that the service accepts; beyond this, a quote was left open.
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

type State = 'start' | 'plain' | 'quoted' | 'closed';

/** Takes text in pieces and returns the complete records. */
export class CsvScanner {
  readonly #delimiter: string;
  readonly #name: string;
  #state: State = 'start';
  #cells: string[] = [];
  #cell = '';
  #fault: string | null = null;
  #line = 1;
  #recordLine = 1;
  #quoteLine = 1;
  #recordCharacters = 0;
  #wasCarriageReturn = false;
  #endsInReturn = false;
  #records: CsvRecord[] = [];

  constructor(delimiter: string, name: string) {
    this.#delimiter = delimiter;
    this.#name = name;
  }

  push(text: string): CsvRecord[] {
    for (let index = 0; index < text.length; ) {
      const end = this.#state === 'quoted' ? text.indexOf(QUOTE, index) : this.#plainEnd(text, index);
      const stop = end === -1 ? text.length : end;
      if (stop > index) {
        this.#take(text.slice(index, stop));
        index = stop;
      } else {
        this.#step(text[index] ?? '');
        index += 1;
      }
    }
    return this.#flush();
  }

  /** The last record; throws a CliError if a quote is still open. */
  end(): CsvRecord[] {
    if (this.#state === 'quoted') throw this.#unclosed();
    if (this.#state !== 'start' || this.#cells.length > 0) this.#endRecord();
    return this.#flush();
  }

  #plainEnd(text: string, from: number): number {
    for (let index = from; index < text.length; index += 1) {
      const character = text[index];
      if (
        character === this.#delimiter ||
        character === '\n' ||
        character === '\r' ||
        (character === QUOTE && this.#state !== 'plain')
      ) {
        return index;
      }
    }
    return -1;
  }

  #take(text: string): void {
    this.#wasCarriageReturn = false;
    this.#recordCharacters += text.length;
    if (this.#recordCharacters > RECORD_CHARACTERS_MAX) throw this.#unclosed();
    if (this.#state === 'quoted') this.#countLines(text);
    else if (this.#state === 'closed') this.#refuseAfterQuote();
    else this.#state = 'plain';
    this.#cell += text;
  }

  #countLines(text: string): void {
    const isSecondHalf = this.#endsInReturn && text.startsWith('\n');
    this.#line += (text.match(/\r\n|\n|\r/g)?.length ?? 0) - (isSecondHalf ? 1 : 0);
    this.#endsInReturn = text.endsWith('\r');
  }

  #step(character: string): void {
    const isSecondHalf = character === '\n' && this.#wasCarriageReturn;
    this.#wasCarriageReturn = false;
    if (isSecondHalf && this.#state === 'start' && this.#cells.length === 0) return;
    if (character === QUOTE) this.#stepQuote();
    else if (character === this.#delimiter) this.#endCell();
    else this.#endLine(character);
  }

  #stepQuote(): void {
    if (this.#state === 'quoted') this.#state = 'closed';
    else if (this.#state === 'closed') {
      this.#cell += QUOTE;
      this.#state = 'quoted';
      this.#endsInReturn = false;
    } else {
      this.#state = 'quoted';
      this.#endsInReturn = false;
      this.#quoteLine = this.#line;
    }
  }

  #refuseAfterQuote(): void {
    this.#fault = `text follows a closing quote in column ${this.#cells.length + 1}; double a quote inside quotes ("")`;
    this.#state = 'plain';
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  #endLine(character: string): void {
    this.#endRecord();
    this.#line += 1;
    this.#recordLine = this.#line;
    this.#wasCarriageReturn = character === '\r';
  }

  #endRecord(): void {
    this.#endCell();
    this.#records.push({ line: this.#recordLine, cells: this.#cells, fault: this.#fault });
    this.#cells = [];
    this.#fault = null;
    this.#recordCharacters = 0;
  }

  #flush(): CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #unclosed(): CliError {
    return new CliError(`${this.#name}: the quote that opens in line ${this.#quoteLine} is never closed.`, {
      nextSteps: [
        `close it, or double it if it is part of the text. The row starts in line ${this.#recordLine}.`,
      ],
    });
  }
}
