// The translation between v1 and v2: names, dates, and what v1 leaves out. Pure functions without rules of their own.
import { instantText } from '../../db/model/instants.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { INTERACTION_FIELDS, PERSON_FIELDS } from '../../db/model/v1-names.ts';

// v1 name → v2 name, where camelCase and snake_case are not enough.
const RENAMED: Record<string, string> = {
  owner: 'owner_id',
  lastInteraction: 'last_interaction_at',
  creationTime: 'created_at',
};
const RENAMED_BACK = Object.fromEntries(Object.entries(RENAMED).map(([v1, v2]) => [v2, v1]));

/** Writable fields of a v1 company; all other properties are additional. */
export const COMPANY_WRITABLE_FIELDS = [
  'domain',
  'name',
  'linkedin',
  'twitter',
  'facebook',
  'instagram',
  'crunchbase',
] as const;

/** Fields of a v1 company that the service sets. */
export const COMPANY_READ_ONLY_FIELDS = ['id', 'createdBy', 'creationTime', 'lastInteraction'] as const;

/** The v2 name of a v1 field. */
export function v2Name(name: string): string {
  return RENAMED[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The v1 name of a v2 field. */
export function v1Name(name: string): string {
  return RENAMED_BACK[name] ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The path of a v2 fault, dotted, in v1 names; additional properties of companies are at the top level in v1. */
export function v1Path(path: string): string {
  const [first = '', ...rest] = path.split('.');
  return first === 'custom' ? rest.join('.') : [v1Name(first), ...rest].join('.');
}

/** A version 2 text in version 1 terms: its field names, and people instead of contacts. */
export function v1Text(text: string): string {
  const inV1Names = text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, v1Name);
  return inV1Names.replace(/\bcontact\b/g, 'person').replace(/\bcontacts\b/g, 'people');
}

/** A v1 body in v2 names. */
export function toV2(body: Data): Data {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [v2Name(name), value]));
}

/** Version 1 field names, each with its name in version 2. */
type Names = ReadonlyMap<string, string>;

const namesOf = (fields: readonly string[]): Names => new Map(fields.map((name) => [name, v2Name(name)]));
const PERSON_NAMES = namesOf(PERSON_FIELDS);
const COMPANY_NAMES = namesOf([...COMPANY_READ_ONLY_FIELDS, ...COMPANY_WRITABLE_FIELDS]);
const INTERACTION_NAMES = namesOf(INTERACTION_FIELDS);

/** Contact fields that can be large and that version 1 does not show. */
export const PERSON_UNSEEN = ['custom'] as const;

/** A contact as v1 shows it. */
export function toPerson(contact: Data): Data {
  return pick(contact, PERSON_NAMES);
}

/** A company as v1 shows it: additional properties are at the top level, unless a field has the same name. */
export function toCompany(company: Data): Data {
  const additional = Object.entries(company.custom as Data).filter(([name]) => !COMPANY_NAMES.has(name));
  return { ...Object.fromEntries(additional), ...pick(company, COMPANY_NAMES) };
}

/** A v1 company body in v2 terms: properties that are not v1 fields go to custom. */
export function fromCompany(body: Data): Data {
  const fields: Data = {};
  const custom: Data = {};
  for (const [name, value] of Object.entries(body)) {
    const isField = COMPANY_WRITABLE_FIELDS.some((field) => field === name);
    (isField ? fields : custom)[name] = value;
  }
  return Object.keys(custom).length === 0 ? fields : { ...fields, custom };
}

/** An interaction as v1 shows it. */
export function toInteraction(interaction: Data): Data {
  const shown = pick(interaction, INTERACTION_NAMES);
  shown.interactionDate = instantText(Number(interaction.interaction_date));
  return shown;
}

function pick(record: Data, names: Names): Data {
  const shown: Data = {};
  for (const [name, field] of names) {
    const value = record[field];
    if (isSet(value)) shown[name] = value;
  }
  return shown;
}

// v1 types are not nullable, so unset fields are left out.
function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}
