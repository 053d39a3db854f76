// The rules of a resource that a row can be held against before it is sent, so that a dry run finds what a run would.
import { Compile, type Validator } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import type { Field } from '../../../db/declare/fields.ts';
import type { Data, JsonValue } from '../../../db/declare/json.ts';
import { isObject } from '../../../db/declare/json.ts';
import type { Resource } from '../../../db/declare/resource.ts';
import { normalizeDomain } from '../../../db/declare/text.ts';
import { writableFields } from '../plan/headers.ts';
import type { Rejection } from '../row.ts';

const CUSTOM_KEYS_MAX = 100;
const CUSTOM_CHARACTERS_MAX = 1_000;
const KEY_CHARACTERS_MAX = 100;

/** Checks bodies of one resource. */
export class BodyChecker {
  readonly #resource: Resource;
  readonly #validators = new Map<string, Validator>();
  readonly #currencies = new Set(Intl.supportedValuesOf('currency'));

  constructor(resource: Resource) {
    this.#resource = resource;
  }

  /** Every fault of a body; none if the server has no reason that can be known beforehand to refuse it. */
  faultsOf(body: Data): Rejection[] {
    const faults = Object.entries(body).flatMap(([name, value]) => this.#faultsOfField(name, value));
    return [...faults, ...this.#missing(body), ...contactFaults(this.#resource, body)];
  }

  #faultsOfField(name: string, value: JsonValue): Rejection[] {
    const field = this.#resource.fields[name];
    if (field === undefined) return [];
    const unstorable = unstorableText(name, value);
    if (unstorable !== null) return [unstorable];
    if (field.kind === 'custom') return customFaults(value);
    const errors = this.#errors(name, field, value);
    if (errors.length > 0) return errors;
    if (field.kind === 'domain' && normalizeDomain(String(value)) === '') {
      return [fault('INVALID_FORMAT', name, 'must be an internet domain, such as example.com')];
    }
    if (name === 'currency' && !this.#currencies.has(String(value))) {
      return [fault('INVALID_FORMAT', name, `"${value}" is no ISO 4217 code in capitals, such as EUR`)];
    }
    return [];
  }

  #errors(name: string, field: Field, value: JsonValue): Rejection[] {
    const validator = this.#validators.get(name) ?? Compile(field.schema);
    this.#validators.set(name, validator);
    if (validator.Check(value)) return [];
    const [error] = validator.Errors(value);
    return [error === undefined ? fault('FAILED', name, 'is not valid') : describe(name, error)];
  }

  #missing(body: Data): Rejection[] {
    const missing = writableFields(this.#resource)
      .filter(([name, { required }]) => required && body[name] === undefined)
      .map(([name]) => fault('REQUIRED_FIELD', name, 'is required'));
    const { identifying } = this.#resource;
    const [first] = identifying;
    if (first !== undefined && identifying.every((name) => body[name] === undefined || body[name] === '')) {
      missing.push(fault('REQUIRED_FIELD', first, `at least one of ${identifying.join(', ')} is required`));
    }
    return missing;
  }
}

function describe(name: string, error: TLocalizedValidationError): Rejection {
  const path = `${name}${error.instancePath.replaceAll('/', '.')}`;
  switch (error.keyword) {
    case 'format':
      return fault('INVALID_FORMAT', path, `is no valid ${error.params.format}`);
    case 'minLength':
    case 'maxLength':
      return fault(
        'OUT_OF_RANGE',
        path,
        `must have at ${sideOf(error.keyword)} ${error.params.limit} characters`,
      );
    case 'minimum':
    case 'maximum':
      return fault('OUT_OF_RANGE', path, `must be at ${sideOf(error.keyword)} ${error.params.limit}`);
    case 'minItems':
    case 'maxItems':
      return fault('OUT_OF_RANGE', path, `must have at ${sideOf(error.keyword)} ${error.params.limit} items`);
    default:
      return fault('FAILED', path, error.message);
  }
}

function sideOf(keyword: string): 'least' | 'most' {
  return keyword.startsWith('min') ? 'least' : 'most';
}

function customFaults(value: JsonValue): Rejection[] {
  if (!isObject(value)) {
    return [fault('FAILED', 'custom', 'must be an object')];
  }
  const faults: Rejection[] = [];
  if (Object.keys(value).length > CUSTOM_KEYS_MAX) {
    faults.push(fault('OUT_OF_RANGE', 'custom', `must have at most ${CUSTOM_KEYS_MAX} keys`));
  }
  for (const [key, one] of Object.entries(value)) {
    const path = `custom.${key}`;
    if ([...key].length > KEY_CHARACTERS_MAX) {
      faults.push(
        fault('OUT_OF_RANGE', 'custom', `the key "${key}" has more than ${KEY_CHARACTERS_MAX} characters`),
      );
    } else if (key === '__proto__') {
      faults.push(fault('FAILED', path, 'is no name that a field can have'));
    } else if (typeof one === 'object' && one !== null) {
      faults.push(fault('FAILED', path, 'must be a string, a number, true, false or null'));
    } else if (typeof one === 'string' && [...one].length > CUSTOM_CHARACTERS_MAX) {
      faults.push(fault('OUT_OF_RANGE', path, `must have at most ${CUSTOM_CHARACTERS_MAX} characters`));
    } else if (typeof one === 'number' && Math.abs(one) > Number.MAX_SAFE_INTEGER) {
      faults.push(fault('OUT_OF_RANGE', path, `is beyond ±${Number.MAX_SAFE_INTEGER}`));
    }
  }
  return faults;
}

function contactFaults(resource: Resource, body: Data): Rejection[] {
  if (resource.fields.main_contact_email === undefined) return [];
  const names = 'exactly one of main_contact and main_contact_email';
  const given = [body.main_contact, body.main_contact_email].filter((value) => value !== undefined);
  if (given.length === 1) return [];
  return given.length === 0
    ? [fault('REQUIRED_FIELD', 'main_contact', `${names} is required`)]
    : [fault('FAILED', 'main_contact_email', `${names} must be present, not both`)];
}

function unstorableText(path: string, value: JsonValue): Rejection | null {
  const text = JSON.stringify(value);
  // JSON writes a lone surrogate and NUL as escapes.
  if (!/\\u(?:0000|[dD][89a-fA-F])/.test(text) || isStorable(value)) return null;
  return fault('FAILED', path, 'holds NUL or half of a character pair, which cannot be stored');
}

function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, one]) => isStorable(key) && isStorable(one));
}

function fault(kind: string, path: string, message: string): Rejection {
  return { code: `VALIDATION_${kind}`, path, message };
}
