// Checks a value against its declaration, with the same errors in the same words wherever the value comes from.

import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Format, IsEmail } from 'typebox/format';
import { Settings } from 'typebox/system';
import { memoize } from '../cache.ts';
import { type Fault, forbiddenKeyFault, keyPath } from './faults.ts';
import { NAME_CHARACTERS_MAX } from './fields.ts';
import { type Data, isObject, type JsonValue } from './json.ts';
import { faultsOfErrors, type SchemaError } from './schema-faults.ts';
import { isDomain, isInternationalEmail } from './text.ts';

// Maximum number of faults collected for one body; a body of normal size has far fewer.
const FAULTS_MAX = 2_000;
// Twice what `custom` or a list can have. Above that only the size is reported: checking every entry would take seconds.
const ENTRIES_MAX = 200;

/** What a value is checked against. */
export interface Declaration {
  schema: TSchema;
  /** Faults that an object has beyond the schema; if the schema rejects it, its values can have any type. */
  inspect?: ((value: Data) => Fault[]) | undefined;
}

/** What is known about the source of a value. */
export interface Origin {
  /** Whether it could contain characters or numbers that records cannot store. */
  isSuspect?: boolean;
  /** Maximum number of items or keys in any part of it. */
  entriesMax?: number;
}

/** Every fault of a value; for a path with several faults, only the first. */
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

// A path is reported once.
function addFaults(faults: Fault[], more: readonly Fault[]): void {
  if (more.length === 0) return;
  const told = new Set(faults.map(({ path }) => path));
  faults.push(...more.filter(({ path }) => !told.has(path)));
}

function schemaFaults(schema: TSchema, value: JsonValue): Fault[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const faults = faultsOfErrors(validator.Errors(value) as unknown as SchemaError[], schema);
  // A value that fails is always rejected, even if no message fits.
  return faults.length > 0
    ? faults
    : [{ path: '', message: 'is not a valid value', code: 'VALIDATION_FAILED' }];
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

// Checking a megabyte takes half a second: text that is certainly too long is skipped, and the schema reports its length.
function setFormat(name: string, holds: (text: string) => boolean): void {
  Format.Set(name, (text) => text.length > 2 * NAME_CHARACTERS_MAX || holds(text));
}

function oversizedPart(value: JsonValue, path: string, entriesMax: number): Fault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Object.keys(value);
  if (names.length > entriesMax) {
    const what = Array.isArray(value) ? 'items' : 'keys';
    const message = `has ${names.length} ${what}, more than the ${entriesMax} that any field allows`;
    return { path, message, code: 'VALIDATION_OUT_OF_RANGE' };
  }
  for (const name of names) {
    const item = (value as Data)[name];
    if (typeof item !== 'object' || item === null) continue;
    const found = oversizedPart(item, keyPath(path, name), entriesMax);
    if (found !== undefined) return found;
  }
  return undefined;
}

// What records cannot store: NUL, lone surrogates, numbers outside ±(2^53−1).
function addUnstorable(faults: Fault[], value: JsonValue, path: string): void {
  if (faults.length >= FAULTS_MAX) return;
  if (typeof value === 'string') addTextFault(faults, value, path);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const message = `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
    faults.push({ path, message, code: 'VALIDATION_OUT_OF_RANGE' });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const itemPath = keyPath(path, key);
    if (key === '__proto__') faults.push(forbiddenKeyFault(itemPath));
    addTextFault(faults, key, itemPath);
    addUnstorable(faults, item, itemPath);
  }
}

function addTextFault(faults: Fault[], text: string, path: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const message = 'must not contain NUL characters or unpaired surrogates';
  const shown = path.toWellFormed().replaceAll('\0', '\uFFFD');
  faults.push({ path: shown, message, code: 'VALIDATION_FAILED' });
}
