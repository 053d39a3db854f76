// Reads JSON arrays and NDJSON in pieces, one element at a time, so that a file of any length fits in memory.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import { CliError, messageOf } from '../errors.ts';

export interface TextPiece {
  /** The line of its first character. */
  line: number;
  text: string;
}

const ELEMENT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Takes the text of an array in pieces and returns the text of each complete element. */
export class JsonArrayScanner {
  readonly #name: string;
  #phase: 'before' | 'inside' | 'after' = 'before';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #element = '';
  #elementLine = 1;
  #line = 1;
  #needsElement = false;

  constructor(name: string) {
    this.#name = name;
  }

  push(text: string): TextPiece[] {
    const pieces: TextPiece[] = [];
    for (const character of text) {
      if (this.#isInString) this.#inString(character);
      else this.#outside(character, pieces);
      if (character === '\n') this.#line += 1;
    }
    if (this.#element.length > ELEMENT_CHARACTERS_MAX) {
      throw this.#malformed(
        `the element that starts in line ${this.#elementLine} is longer than 16 Mi characters`,
      );
    }
    return pieces;
  }

  /** Throws a CliError if the array is not complete. */
  end(): TextPiece[] {
    if (this.#phase === 'before') throw this.#malformed('the file is empty');
    if (this.#phase === 'inside')
      throw this.#malformed(`the array is not closed at the end of the file (line ${this.#line})`);
    return [];
  }

  #inString(character: string): void {
    this.#element += character;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') this.#isInString = false;
  }

  #outside(character: string, pieces: TextPiece[]): void {
    const isSpace = character === ' ' || character === '\n' || character === '\r' || character === '\t';
    if (this.#phase !== 'inside') {
      if (isSpace) return;
      if (this.#phase === 'after') throw this.#malformed(`text follows the array in line ${this.#line}`);
      if (character !== '[') throw this.#malformed(`the file starts with ${JSON.stringify(character)}`);
      this.#phase = 'inside';
      return;
    }
    if (this.#depth === 0 && (character === ',' || character === ']')) this.#endElement(character, pieces);
    else if (!isSpace || this.#element !== '') this.#extend(character);
  }

  #extend(character: string): void {
    if (this.#element === '') this.#elementLine = this.#line;
    this.#element += character;
    if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') this.#depth -= 1;
  }

  #endElement(character: string, pieces: TextPiece[]): void {
    const isMissing = this.#element === '' && (character === ',' || this.#needsElement);
    if (isMissing) throw this.#malformed(`an element is missing in line ${this.#line}`);
    if (this.#element !== '') pieces.push({ line: this.#elementLine, text: this.#element.trimEnd() });
    this.#element = '';
    this.#needsElement = character === ',';
    if (character === ']') this.#phase = 'after';
  }

  #malformed(what: string): CliError {
    return new CliError(`${this.#name} is not a JSON array of objects: ${what}.`, {
      nextSteps: ['use the form [{…}, {…}], or --format ndjson for one object per line.'],
    });
  }
}

/** Takes NDJSON in pieces and returns the complete lines that are not blank. */
export class LineScanner {
  readonly #name: string;
  #line = 1;
  #rest = '';

  constructor(name: string) {
    this.#name = name;
  }

  push(text: string): TextPiece[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > ELEMENT_CHARACTERS_MAX) {
      throw new CliError(
        `${this.#name}: line ${this.#line + lines.length} is longer than 16 Mi characters.`,
        {
          nextSteps: ['check --format: NDJSON has one object per line. For an array, use --format json.'],
        },
      );
    }
    return lines.flatMap((line) => this.#piece(line));
  }

  end(): TextPiece[] {
    const last = this.#rest;
    this.#rest = '';
    return this.#piece(last);
  }

  #piece(text: string): TextPiece[] {
    const line = this.#line;
    this.#line += 1;
    return text.trim() === '' ? [] : [{ line, text: text.trim() }];
  }
}

/** The object in a piece of JSON, or what is wrong with it. */
export function parseObject(text: string): Data | string {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return `is not valid JSON: ${messageOf(error)}`;
  }
  if (!isObject(value)) return 'is not a JSON object';
  const doubled = doubledKey(text);
  return doubled === undefined ? value : `has the key ${JSON.stringify(doubled)} twice`;
}

/** The first key that an object in the text has twice, at any depth; JSON.parse would silently drop one. */
function doubledKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  let last = '';
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (token !== ':') last = token;
    else {
      const key = JSON.parse(last) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
