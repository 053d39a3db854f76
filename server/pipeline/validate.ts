// Step 7, validation: the body against the operation's schema; every fault with its path and what is allowed.
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Format, IsEmail } from 'typebox/format';
import { Settings } from 'typebox/system';
import { EMAIL_CHARACTERS_MAX } from '../../db/declare/fields.ts';
import { isObject, type JsonValue } from '../../db/declare/json.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { type Detail, invalid, validationError } from '../errors.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { detailsOf, type Fault } from './faults.ts';
import { below, FAULTS_MAX, parseJson, unstorable } from './json.ts';

// Twice what `custom` or a list may have. Above that the size is told alone: to go through it all would take seconds.
const ENTRIES_MAX = 200;
// How long the items of a batch keep other requests waiting at a time.
const TURN_MS_MAX = 10;

const validators = new WeakMap<TSchema, Validator>();

function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    Settings.Set({ maxErrors: FAULTS_MAX });
    // Half a second for a megabyte: what is too long anyway is not looked at, its length is told by the schema.
    Format.Set('email', (text) => text.length > EMAIL_CHARACTERS_MAX || IsEmail(text));
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  return validator;
}

/** A body that an operation can take. */
export interface ValidBody {
  /** What was sent; an array for a batch. */
  body: JsonValue;
  /** For each item of a batch its faults; only one without any is to be carried out. */
  itemFaults: readonly Detail[][];
}

/**
 * The body of a request, valid for its operation; items of a batch may have faults of their own.
 * @throws ApiError 422 with all faults
 */
export async function validateBody(
  operation: Operation,
  bytes: Uint8Array,
  contentType: string | null,
): Promise<ValidBody> {
  const { body: schema, inspect } = operation;
  if (schema === undefined) return { body: null, itemFaults: [] };
  const { value, isSuspect } = parseJson(bytes, contentType);
  const faultsIn = (one: JsonValue) => bodyFaults(schema, inspect, one, isSuspect);
  if (operation.isBatch === true)
    return { body: value, itemFaults: await faultsOfEach(batchItems(value), faultsIn) };
  const faults = faultsIn(value);
  if (faults.length > 0) throw validationError(faults);
  return { body: value, itemFaults: [] };
}

async function faultsOfEach(
  items: JsonValue[],
  faultsIn: (item: JsonValue) => Detail[],
): Promise<Detail[][]> {
  const faults: Detail[][] = [];
  let turnEnds = performance.now() + TURN_MS_MAX;
  for (const item of items) {
    if (performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + TURN_MS_MAX;
    }
    faults.push(faultsIn(item));
  }
  return faults;
}

function bodyFaults(
  schema: TSchema,
  inspect: Operation['inspect'],
  value: JsonValue,
  isSuspect: boolean,
): Detail[] {
  const oversized = oversizedPart(value, '');
  if (oversized !== undefined) return [oversized];
  const faults = isSuspect ? unstorable(value) : [];
  addFaults(faults, schemaFaults(schema, value));
  if (inspect !== undefined && isObject(value)) addFaults(faults, inspect(value));
  return faults;
}

// A path that is faulty already is told once.
function addFaults(faults: Detail[], more: Detail[]): void {
  if (more.length === 0) return;
  const told = new Set(faults.map(({ path }) => path));
  faults.push(...more.filter(({ path }) => !told.has(path)));
}

function batchItems(value: JsonValue): JsonValue[] {
  if (!Array.isArray(value)) throw invalid('', 'The body must be an array of items.');
  if (value.length <= BATCH_ITEMS_MAX) return value;
  const message = `A batch has at most ${BATCH_ITEMS_MAX} items; this one has ${value.length}.`;
  throw invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}

function schemaFaults(schema: TSchema, value: JsonValue): Detail[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const details = detailsOf(validator.Errors(value) as unknown as Fault[], schema);
  // Whatever fails is refused, even where there are no words for it.
  if (details.length === 0) return [{ path: '', message: 'is not valid here', code: 'VALIDATION_FAILED' }];
  const seen = new Set<string>();
  return details.filter(({ path, message }) => {
    const key = `${path}\0${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function oversizedPart(value: JsonValue, path: string): Detail | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (count > ENTRIES_MAX) {
    const what = Array.isArray(value) ? 'items' : 'keys';
    return {
      path,
      message: `has ${count} ${what}; nothing here takes more than ${ENTRIES_MAX}`,
      code: 'VALIDATION_OUT_OF_RANGE',
    };
  }
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'object') continue;
    const found = oversizedPart(item, below(path, name));
    if (found !== undefined) return found;
  }
  return undefined;
}
