// Reads files of vCards (RFC 2426, RFC 6350 and 2.1) one card at a time; ical.js takes each apart.

import ICAL from 'ical.js';
import { clip } from '../../db/model/text.ts';
import { CliError, messageOf } from '../errors.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { hasTooManyParameters, TOO_MANY_PARAMETERS } from './content-lines.ts';
import type { TextPiece } from './json-pieces.ts';
import { modernVCard } from './vcard-21.ts';

/** One line of a card. */
export interface CardProperty {
  /** In lower case, without the group. */
  name: string;
  /** In lower case; for a social profile they include its service (RFC 9554). */
  types: readonly string[];
  isPreferred: boolean;
  /** What Apple calls the lines of its group, such as "Mother"; null if there is none. */
  label: string | null;
  /** Texts; a structured value, such as a name, is a list of its parts. */
  values: readonly (string | readonly string[])[];
}

const CARD_CHARACTERS_MAX = 16 * 1024 * 1024;
const LABEL = 'x-ablabel';
const BEGIN = /^\s*BEGIN:VCARD\s*$/i;
const END = /^\s*END:VCARD\s*$/i;

/** Whether a text starts like a vCard. */
export function isVCard(text: string): boolean {
  return /^\s*BEGIN:VCARD[ \t]*(?:\r*\n|$)/i.test(text);
}

/** Takes text in pieces and returns the complete cards. */
export class VCardScanner {
  readonly #name: string;
  #rest = '';
  #line = 0;
  #card: string[] = [];
  #cardLine = 0;
  #cardCharacters = 0;
  #depth = 0;

  constructor(name: string) {
    this.#name = name;
  }

  push(text: string): TextPiece[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  /** Throws a CliError if a card is not closed. */
  end(): TextPiece[] {
    const last = this.#rest === '' ? [] : this.#take(this.#rest);
    this.#rest = '';
    if (this.#depth === 0) return last;
    throw this.#malformed(`the card that starts in line ${this.#cardLine} has no END:VCARD`);
  }

  #take(line: string): TextPiece[] {
    this.#line += 1;
    const isBegin = BEGIN.test(line);
    if (this.#depth === 0 && !isBegin) {
      if (line.trim() === '') return [];
      throw this.#malformed(`line ${this.#line} is outside BEGIN:VCARD and END:VCARD`);
    }
    if (this.#depth === 0) this.#cardLine = this.#line;
    if (isBegin) this.#depth += 1;
    this.#card.push(withoutLineEnd(line));
    this.#cardCharacters += line.length;
    if (this.#cardCharacters > CARD_CHARACTERS_MAX) {
      throw this.#malformed(`the card that starts in line ${this.#cardLine} is longer than 16 Mi characters`);
    }
    if (!END.test(line)) return [];
    this.#depth -= 1;
    if (this.#depth > 0) return [];
    const text = this.#card.join('\r\n');
    this.#card = [];
    this.#cardCharacters = 0;
    return [{ line: this.#cardLine, text }];
  }

  #malformed(what: string): CliError {
    return new CliError(`${this.#name} is not a valid vCard file: ${what}.`, {
      nextSteps: ['check the file, or use --format csv, json or ndjson.'],
    });
  }
}

// Programs that convert line endings twice write CR CR LF. A regular expression would retry at each CR within the line.
function withoutLineEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(0, end);
}

type ParsedLine = [name: string, Record<string, string | string[]>, type: string, ...values: unknown[]];

/** The lines of a card without the properties in `leftOut` (in lower case), or what is wrong with it. */
export function parseVCard(text: string, leftOut: readonly string[]): CardProperty[] | string {
  if (hasTooManyParameters(text)) return `the vCard ${TOO_MANY_PARAMETERS}`;
  let card: unknown;
  try {
    card = ICAL.parse(modernVCard(text, leftOut));
  } catch (error) {
    // The message quotes the line, which may be the whole card.
    return `the vCard is not valid: ${clip(neutralizeLine(messageOf(error)))}`;
  }
  const [, lines] = card as [string, ParsedLine[]];
  const labels = new Map(
    lines.flatMap(([name, { group }, , value]) =>
      name === LABEL && group !== undefined ? [[String(group), labelOf(value)]] : [],
    ),
  );
  return lines.flatMap(([name, parameters, type, ...values]) => {
    if (name === LABEL) return [];
    const given = [parameters.type ?? [], parameters['service-type'] ?? []].flat();
    const types = given.map((type) => type.toLowerCase());
    return {
      name,
      types,
      isPreferred: types.includes('pref') || parameters.pref === '1',
      label: labels.get(String(parameters.group)) ?? null,
      values: values.map((value) =>
        Array.isArray(value) ? value.map((part) => textOf(part, type)) : textOf(value, type),
      ),
    };
  });
}

// Apple writes its own labels as `_$!<Mother>!$_`.
function labelOf(value: unknown): string {
  return textOf(value).replace(/^_\$!<(.*)>!\$_$/, '$1');
}

// ical.js keeps these escapes, and that of a comma outside text; that of a colon is in no RFC, but Google and Apple write it in
// URLs.
function textOf(value: unknown, type = 'text'): string {
  return String(value)
    .replace(type === 'text' ? /\\([;:])/g : /\\([,;:])/g, '$1')
    .trim();
}
