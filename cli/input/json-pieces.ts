// Reads JSON arrays and NDJSON in pieces, one element at a time, so that a file of any length fits in memory.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import { CliError, messageOf } from '../errors.ts';

export interface TextPiece {
  /** The line its first character stands in. */
  line: number;
  text: string;
}

const ELEMENT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Takes the text of an array in pieces and gives back the text of each element that is complete. */
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
        `the element that begins in line ${this.#elementLine} is longer than 16 Mi characters`,
      );
    }
    return pieces;
  }

  /** Throws a CliError where the array is not complete. */
  end(): TextPiece[] {
    if (this.#phase === 'before') throw this.#malformed('it is empty');
    if (this.#phase === 'inside')
      throw this.#malformed(`it ends in line ${this.#line}, before its array does`);
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
      if (character !== '[') throw this.#malformed(`it begins with ${JSON.stringify(character)}`);
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
    return new CliError(`${this.#name} is no JSON array of objects: ${what}.`, {
      nextSteps: ['write [{…}, {…}], or one object a line with --format ndjson.'],
    });
  }
}

/** Takes NDJSON in pieces and gives back the lines that are complete and not blank. */
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
          nextSteps: ['check --format: NDJSON has one object a line; an array is --format json.'],
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

/** The object that a piece of JSON holds, or what is wrong with it. */
export function parseObject(text: string): Data | string {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return `is no JSON: ${messageOf(error)}`;
  }
  if (!isObject(value)) return 'is no JSON object';
  const doubled = doubledKey(text);
  return doubled === undefined ? value : `names ${JSON.stringify(doubled)} twice`;
}

/** The first key that stands twice in one object of the text, at any depth; JSON.parse would drop one in silence. */
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
