// The columns of a table for people: what a record is, with the names of others instead of their IDs.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import type { Included } from '../api/envelope.ts';
import { nameOf } from '../api/record-name.ts';
import type { Names } from '../follow/names.ts';
import { shortIdOf } from '../input/short-id.ts';
import type { PeopleColumn } from '../terminal/people-table.ts';
import { relativeTime } from '../terminal/relative-time.ts';
import { cellText, valueAt } from '../terminal/table.ts';
import { INCLUDED_IDS } from './included.ts';

/** A record and what came with it. */
export interface ShownRecord {
  record: Data;
  included: Included;
}

/** What the cells need to know besides their record. */
export interface PeopleFacts {
  resource: Resource;
  /** The names that responses do not include. */
  names: Pick<Names, 'of'>;
  nowMs: number;
}

const HEADINGS: Readonly<Record<string, string>> = {
  ...{ estimated_value: 'value', estimated_close_date: 'closes', employee_count: 'employees' },
  ...{ created_at: 'created', linked_at: 'linked', interaction_date: 'when', start_time: 'starts' },
  ...{ started_at: 'started', record_type: 'type', member_count: 'members', due_date: 'due' },
  ...{ duration_seconds: 'seconds', has_transcript: 'transcript' },
};
const NAMES_MAX = 3;

/** The columns of what is shown at a glance, with the ID at the end. */
export function glanceColumns(names: readonly string[], facts: PeopleFacts): PeopleColumn<ShownRecord>[] {
  return [...names.filter((name) => name !== 'id'), 'id'].map((name) => ({
    ...columnOf(name, facts),
    heading: (HEADINGS[name] ?? name).replaceAll('_', ' ').toUpperCase(),
  }));
}

/** The columns of chosen fields, in their order; references by name. */
export function chosenColumns(fields: readonly string[], facts: PeopleFacts): PeopleColumn<ShownRecord>[] {
  return fields.map((field) => columnOf(nameInPlaceOf(field, facts.resource), facts));
}

/** `company` for company_id. */
export function nameInPlaceOf(field: string, { fields }: Resource): string {
  const { kind, references } = fields[field] ?? {};
  return kind === 'reference' && references && field.endsWith('_id') ? field.slice(0, -'_id'.length) : field;
}

/** The reference whose name stands for it: company_id of `company`. */
export function referenceNamed(
  name: string,
  { fields }: Resource,
): { field: string; resource: string } | undefined {
  const { kind, references } = fields[`${name}_id`] ?? {};
  return kind === 'reference' && references ? { field: `${name}_id`, resource: references } : undefined;
}

function columnOf(name: string, facts: PeopleFacts): PeopleColumn<ShownRecord> {
  const { kind } = facts.resource.fields[name] ?? {};
  return {
    heading: name.toUpperCase(),
    isNumber: kind === 'number' || kind === 'integer',
    text: (shown) => textOf(name, shown, facts).replace(/\s+/g, ' '),
  };
}

function textOf(name: string, { record, included }: ShownRecord, facts: PeopleFacts): string {
  const { resource } = facts;
  if (name === 'id') return shownId(record);
  if (name === 'name' && resource.fields.name === undefined) return fullName(record);
  if (resource.fields[name] === undefined) {
    const related = namesIncluded(name, { record, included }, resource);
    if (related !== undefined) return related;
    const reference = referenceNamed(name, resource);
    const id = reference && record[reference.field];
    if (typeof id === 'string')
      return facts.names.of(id) ?? (reference?.resource === 'users' ? '' : shortIdOf(id));
  }
  return valueText(name, valueAt(record, name), record, facts);
}

/** The ID in its short form, if the record can be found by that. */
function shownId({ id, created_at: createdAt }: Data): string {
  const text = String(id ?? '');
  const ms = Number.parseInt(text.replaceAll('-', '').slice(0, 12), 16);
  const isOfCreation = typeof createdAt !== 'string' || Date.parse(createdAt) === ms;
  return isOfCreation ? shortIdOf(text) : text;
}

function fullName({ first_name, last_name }: Data): string {
  return [first_name, last_name].filter((part) => typeof part === 'string').join(' ');
}

/** The names of what a record includes; undefined if it does not say. */
function namesIncluded(
  name: string,
  { record, included }: ShownRecord,
  resource: Resource,
): string | undefined {
  const include = Object.hasOwn(includesOf(resource), name) ? includesOf(resource)[name] : undefined;
  const all = record[INCLUDED_IDS];
  const ids = isObject(all) ? all[name] : undefined;
  if (include === undefined || !Array.isArray(ids)) return undefined;
  const names = ids.map(String).map((id) => nameOf(included[include.group]?.[id] ?? {}) ?? shortIdOf(id));
  const rest = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** The value of a field in words. */
export function valueText(
  name: string,
  value: JsonValue | undefined,
  record: Data,
  { resource, nowMs }: Pick<PeopleFacts, 'resource' | 'nowMs'>,
): string {
  const field = resource.fields[name];
  if (value === null || value === undefined || value === false) return '';
  if (value === true) return 'yes';
  const ms = instantOf(name, value, field?.kind);
  if (ms !== undefined) return relativeTime(ms, nowMs);
  if (typeof value === 'number') return `${value.toLocaleString('en-US')}${unitOf(name, record)}`;
  if (Array.isArray(value) && value.every(isObject)) return value.map(partName).join(', ');
  return (isObject(value) ? nameOf(value) : null) ?? cellText(value, name, {});
}

function partName(part: JsonValue): string {
  return isObject(part) ? (nameOf(part) ?? '') : '';
}

function instantOf(name: string, value: JsonValue, kind: string | undefined): number | undefined {
  if (kind === 'instant' && typeof value === 'number') return value;
  const isTime = kind === 'timestamp' || name === 'linked_at';
  return isTime && typeof value === 'string' ? Date.parse(value) : undefined;
}

function unitOf(name: string, { currency }: Data): string {
  return name === 'estimated_value' && typeof currency === 'string' ? ` ${currency}` : '';
}
