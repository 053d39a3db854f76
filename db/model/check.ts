// Checks a value against its declaration: the same faults, in the same words, wherever it comes from.

import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Format, IsEmail } from 'typebox/format';
import { Settings } from 'typebox/system';
import { memoize } from '../cache.ts';
import { below, type Fault, forbiddenKey } from './faults.ts';
import { NAME_CHARACTERS_MAX } from './fields.ts';
import { type Data, isObject, type JsonValue } from './json.ts';
import { faultsOfErrors, type SchemaError } from './schema-faults.ts';
import { isDomain, isInternationalEmail } from './text.ts';

// Most faults that one body is told of; one of sane size has far fewer.
const FAULTS_MAX = 2_000;
// Twice what `custom` or a list may have. Above that the size is told alone: to go through it all would take seconds.
const ENTRIES_MAX = 200;

/** What a value must keep to. */
export interface Declaration {
  schema: TSchema;
  /** Faults beyond the schema that an object has by itself; one that the schema refuses may hold values of any type. */
  inspect?: ((value: Data) => Fault[]) | undefined;
}

/** What is known of where a value comes from. */
export interface Origin {
  /** Whether it may hold characters or numbers that no record can hold. */
  isSuspect?: boolean;
  /** Most items or keys that a part of it may have. */
  entriesMax?: number;
}

/** Every fault of a value; a path that is faulty in several ways is told for the first of them. */
export function faultsOf(value: JsonValue, { schema, inspect }: Declaration, origin: Origin = {}): Fault[] {
  const { isSuspect = true, entriesMax = ENTRIES_MAX } = origin;
  const oversized = oversizedPart(value, '', entriesMax);
  if (oversized !== undefined) return [oversized];
  const faults: Fault[] = [];
  if (isSuspect) addUnstorable(faults, value, '');
  addFaults(faults, schemaFaults(schema, value));
  if (inspect !== undefined && isObject(value)) addFaults(faults, inspect(value));
  return faults;
}

// A path that is faulty already is told once.
function addFaults(faults: Fault[], more: readonly Fault[]): void {
  if (more.length === 0) return;
  const told = new Set(faults.map(({ path }) => path));
  faults.push(...more.filter(({ path }) => !told.has(path)));
}

function schemaFaults(schema: TSchema, value: JsonValue): Fault[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const faults = faultsOfErrors(validator.Errors(value) as unknown as SchemaError[], schema);
  // Whatever fails is refused, even where there are no words for it.
  return faults.length > 0 ? faults : [{ path: '', message: 'is not valid here', code: 'VALIDATION_FAILED' }];
}

const validatorOf = memoize((schema: TSchema): Validator => {
  prepareChecker();
  return Compile(schema);
});

let isPrepared = false;

function prepareChecker(): void {
  if (isPrepared) return;
  isPrepared = true;
  const currencies = new Set(Intl.supportedValuesOf('currency'));
  Settings.Set({ maxErrors: FAULTS_MAX });
  setFormat('email', (text) => IsEmail(text) || isInternationalEmail(text));
  setFormat('domain', isDomain);
  setFormat('currency', (text) => currencies.has(text));
}

// Half a second for a megabyte: what is surely too long is not looked at, its length is told by the schema.
function setFormat(name: string, holds: (text: string) => boolean): void {
  Format.Set(name, (text) => text.length > 2 * NAME_CHARACTERS_MAX || holds(text));
}

function oversizedPart(value: JsonValue, path: string, entriesMax: number): Fault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Object.keys(value);
  if (names.length > entriesMax) {
    const what = Array.isArray(value) ? 'items' : 'keys';
    const message = `has ${names.length} ${what}; nothing here takes more than ${entriesMax}`;
    return { path, message, code: 'VALIDATION_OUT_OF_RANGE' };
  }
  for (const name of names) {
    const item = (value as Data)[name];
    if (typeof item !== 'object' || item === null) continue;
    const found = oversizedPart(item, below(path, name), entriesMax);
    if (found !== undefined) return found;
  }
  return undefined;
}

// What no record can hold: NUL, lone surrogates, numbers past ±(2^53−1).
function addUnstorable(faults: Fault[], value: JsonValue, path: string): void {
  if (faults.length >= FAULTS_MAX) return;
  if (typeof value === 'string') addTextFault(faults, value, path);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const message = `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
    faults.push({ path, message, code: 'VALIDATION_OUT_OF_RANGE' });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const itemPath = below(path, key);
    if (key === '__proto__') faults.push(forbiddenKey(itemPath));
    addTextFault(faults, key, itemPath);
    addUnstorable(faults, item, itemPath);
  }
}

function addTextFault(faults: Fault[], text: string, path: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const message = 'must not contain the character NUL or half of a surrogate pair';
  const shown = path.toWellFormed().replaceAll('\0', '\uFFFD');
  faults.push({ path: shown, message, code: 'VALIDATION_FAILED' });
}
