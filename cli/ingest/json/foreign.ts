// Reads JSON from other services: takes what is needed, ignores the rest, and reports what is missing.
import { formatFault, keyPath, requiredFault } from '../../../db/model/faults.ts';
import { NAME_CHARACTERS_MAX } from '../../../db/model/fields.ts';
import type { Data } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';
import { isoMilliseconds } from '../../input/instant.ts';
import type { FaultList } from '../entries.ts';
import type { Person } from '../people.ts';

/** An object in such JSON, with its path. */
export class ForeignJson {
  readonly #value: Data;
  readonly #path: string;
  readonly #line: number;
  readonly #faults: FaultList;

  constructor(value: Data, line: number, faults: FaultList, path = '') {
    this.#value = value;
    this.#line = line;
    this.#faults = faults;
    this.#path = path;
  }

  /** Text, trimmed and cut to the length of a field; null if there is none. */
  text(name: string, charactersMax = NAME_CHARACTERS_MAX): string | null {
    const value = this.#value[name];
    if (typeof value !== 'string') return null;
    const whole = value.replaceAll('\0', '').toWellFormed().trim();
    return this.clipped(name, whole, charactersMax) || null;
  }

  /** A text made of several, cut to the length of a field. */
  clipped(name: string, text: string, charactersMax: number): string {
    return this.#faults.clipped(this.#line, keyPath(this.#path, name), text, charactersMax);
  }

  /** Required text. */
  required(name: string): string {
    const text = this.text(name);
    if (text === null) this.#faults.refuse(this.#line, [requiredFault(keyPath(this.#path, name))]);
    return text ?? '';
  }

  /** Unix milliseconds of an RFC 3339 time; null if there is none. */
  instant(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const instant = instantIn(text);
    if (instant !== undefined) return instant;
    this.#faults.refuse(this.#line, [formatFault(keyPath(this.#path, name), 'date-time')]);
    return null;
  }

  isTrue(name: string): boolean {
    return this.#value[name] === true;
  }

  has(name: string): boolean {
    return isObject(this.#value[name]);
  }

  /** The object with this name; an empty one if there is none. */
  object(name: string): ForeignJson {
    const value = this.#value[name];
    return new ForeignJson(isObject(value) ? value : {}, this.#line, this.#faults, keyPath(this.#path, name));
  }

  /** The objects in the array with this name. */
  objects(name: string): ForeignJson[] {
    const value = this.#value[name];
    const items = Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
    const path = keyPath(this.#path, name);
    return items.map(
      (item, index) => new ForeignJson(item, this.#line, this.#faults, keyPath(path, `${index}`)),
    );
  }

  /** The person in these two fields; null if both are empty. */
  person(nameField: string, emailField: string): Person | null {
    const person = { name: this.text(nameField), email: this.text(emailField) };
    return person.name === null && person.email === null ? null : person;
  }
}

/** Unix milliseconds of a time in RFC 3339; undefined if the text is not one. */
export function instantIn(text: string): number | undefined {
  return text.includes('T') ? isoMilliseconds(text) : undefined;
}

/** Only the given fields: the others are not stored. */
export function given(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
}
