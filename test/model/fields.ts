// The fields of the model's resources: what each takes, and what a body has wrong by itself.
import type { Json } from '../support/harness.ts';
import type { Data, Fault } from './world.ts';

export type Kind =
  | 'text'
  | 'required text'
  | 'email'
  | 'emails'
  | 'domain'
  | 'boolean'
  | 'count'
  | 'number'
  | 'instant'
  | 'date'
  | 'currency'
  | 'custom'
  | 'stages'
  | { values: string[]; required?: boolean }
  | { refersTo: string; fixed?: boolean }
  | { listOf: string };

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'text' as Kind]));
const refersTo = (resource: string): Kind => ({ refersTo: resource });
const TYPES = ['EMAIL', 'MEETING', 'MEMO', 'API_EVENT'];
const DIRECTIONS = ['INBOUND', 'OUTBOUND', 'EVENT'];

/** Writable fields of each resource. */
export const FIELDS: Record<string, Record<string, Kind>> = {
  contacts: {
    email: 'email',
    alt_emails: 'emails',
    ...texts('first_name', 'last_name', 'title', 'phone', 'personal_phone', 'linkedin', 'twitter'),
    ...texts('facebook', 'instagram', 'whatsapp', 'remarks'),
    company_id: refersTo('companies'),
    owner_id: refersTo('users'),
    keep_in_touch: 'boolean',
    custom: 'custom',
  },
  companies: {
    domain: 'domain',
    ...texts('name', 'linkedin', 'twitter', 'facebook', 'instagram', 'crunchbase', 'industry'),
    employee_count: 'count',
    estimated_revenue: 'number',
    ...texts('city', 'state', 'country'),
    owner_id: refersTo('users'),
    custom: 'custom',
  },
  pipelines: { name: 'required text', stages: 'stages' },
  deals: {
    name: 'required text',
    pipeline_id: { refersTo: 'pipelines', fixed: true },
    stage_id: { refersTo: 'stages', fixed: true },
    estimated_value: 'number',
    currency: 'currency',
    estimated_close_date: 'date',
    company_id: refersTo('companies'),
    point_of_contact_id: refersTo('contacts'),
    owner_id: refersTo('users'),
    custom: 'custom',
  },
  tasks: {
    name: 'required text',
    description: 'text',
    due_date: 'instant',
    done: 'boolean',
    company_id: refersTo('companies'),
    deal_id: refersTo('deals'),
    person_id: refersTo('contacts'),
    main_assignee_id: refersTo('users'),
  },
  notes: {
    title: 'required text',
    content: 'text',
    parent_id: refersTo('notes'),
    is_archived: 'boolean',
  },
  segments: { name: 'required text', description: 'text', record_type: { values: ['contact', 'company'] } },
  interactions: {
    type: { values: TYPES, required: true },
    direction: { values: DIRECTIONS, required: true },
    title: 'required text',
    summary: 'text',
    interaction_date: 'instant',
    main_contact: refersTo('contacts'),
    main_contact_email: 'email',
    primary_id: 'text',
    secondary_id: 'text',
    contact_ids: { listOf: 'contacts' },
    company_ids: { listOf: 'companies' },
  },
};

/** Fields that the service sets, at their start. */
const READ_ONLY: Record<string, Data> = {
  contacts: { last_interaction_at: null },
  companies: { last_interaction_at: null },
  deals: { status: 'open', stage_changed_at: null, closed_at: null },
  tasks: { done_at: null },
  segments: { member_count: 0 },
};

/** The fields of one resource. */
export function fieldsOf(resource: string): Record<string, Kind> {
  return FIELDS[resource] ?? {};
}

/** A record with no field set yet. */
export function blank(resource: string): Data {
  const record: Data = {};
  for (const [name, kind] of Object.entries(fieldsOf(resource))) record[name] = initialOf(kind);
  delete record.main_contact_email;
  return { ...record, ...structuredClone(READ_ONLY[resource] ?? {}) };
}

function initialOf(kind: Kind): Json {
  if (kind === 'emails' || isList(kind)) return [];
  if (kind === 'custom') return {};
  if (kind === 'boolean') return false;
  return typeof kind === 'object' && 'values' in kind && !kind.required ? kind.values[0] : null;
}

/** What null leaves in a field. */
export function clearedOf(kind: Kind): Json {
  return kind === 'emails' || kind === 'custom' || isList(kind) ? initialOf(kind) : null;
}

function isList(kind: Kind): kind is { listOf: string } {
  return typeof kind === 'object' && 'listOf' in kind;
}

const IDENTIFYING: Record<string, string[]> = {
  contacts: ['email', 'phone', 'first_name', 'last_name'],
  companies: ['domain', 'name'],
};

/** The fault of a record that nothing identifies. */
export function identityFaults(resource: string, record: Data): Fault[] {
  const names = IDENTIFYING[resource] ?? [];
  const says = (value: Json) => (typeof value === 'string' ? value.trim() !== '' : (value ?? null) !== null);
  const isNamed = names.some((name) => says(record[name]));
  return names.length === 0 || isNamed ? [] : [{ path: String(names[0]), code: 'VALIDATION_REQUIRED_FIELD' }];
}

/** What is wrong with a body whatever the world is like. */
export function bodyFaults(resource: string, body: Data, isNew: boolean): Fault[] {
  const faults = givenFaults(resource, body, isNew);
  if (!isNew) return faults;
  const missing = [
    ...missingFaults(resource, body),
    ...(resource === 'interactions' ? contactFaults(body) : []),
  ];
  return [...faults, ...missing.filter(({ path }) => !faults.some((one) => one.path === path))];
}

/** What is wrong with the fields that a body has. */
export function givenFaults(resource: string, body: Data, isNew: boolean): Fault[] {
  const kinds = fieldsOf(resource);
  return Object.entries(body).flatMap(([path, value]) => {
    const kind = kinds[path];
    const isFixed = !isNew && path === 'record_type';
    if (kind === undefined || isFixed) return [{ path, code: 'VALIDATION_FAILED' }];
    return valueFaults(path, kind, value, isNew);
  });
}

/** What a body lacks to make a record. */
export function missingFaults(resource: string, body: Data): Fault[] {
  const missing = Object.entries(fieldsOf(resource)).filter(
    ([name, kind]) => isRequired(kind) && body[name] === undefined,
  );
  const faults = missing.map(([path]) => ({ path, code: 'VALIDATION_REQUIRED_FIELD' }));
  return [...faults, ...identityFaults(resource, body)];
}

function isRequired(kind: Kind): boolean {
  return kind === 'required text' || (typeof kind === 'object' && 'values' in kind && kind.required === true);
}

function contactFaults(body: Data): Fault[] {
  const byId = (body.main_contact ?? null) !== null;
  const byEmail = (body.main_contact_email ?? null) !== null;
  if (byId && byEmail) return [{ path: 'main_contact_email', code: 'VALIDATION_FAILED' }];
  return byId || byEmail ? [] : [{ path: 'main_contact', code: 'VALIDATION_REQUIRED_FIELD' }];
}

function takesNull(kind: Kind): boolean {
  if (typeof kind === 'object') return isList(kind) || ('refersTo' in kind && kind.fixed !== true);
  return !['required text', 'boolean', 'stages'].includes(kind);
}

function valueFaults(path: string, kind: Kind, value: Json, isNew: boolean): Fault[] {
  if (value === null) return takesNull(kind) ? [] : [{ path, code: 'VALIDATION_FAILED' }];
  if (kind === 'emails' && Array.isArray(value))
    return value.flatMap((one, index) => valueFaults(`${path}.${index}`, 'email', one, isNew));
  if (isList(kind) && Array.isArray(value))
    return value.flatMap((one, index) => valueFaults(`${path}.${index}`, 'text', one, isNew));
  if (kind === 'custom' && typeof value !== 'object') return [{ path, code: 'VALIDATION_FAILED' }];
  if (kind === 'custom')
    return Object.entries(value).flatMap(([key, one]) =>
      typeof one === 'object' && one !== null ? [{ path: `${path}.${key}`, code: 'VALIDATION_FAILED' }] : [],
    );
  if (kind === 'stages' && Array.isArray(value)) return stagesFaults(path, value, isNew);
  const code = scalarCode(kind, value);
  return code === null ? [] : [{ path, code }];
}

function stagesFaults(path: string, stages: Json[], isNew: boolean): Fault[] {
  if (stages.length === 0) return [{ path, code: 'VALIDATION_OUT_OF_RANGE' }];
  return stages.flatMap(({ probability, id, position }, index) => {
    const at = (name: string, code: string): Fault => ({ path: `${path}.${index}.${name}`, code });
    return [
      ...(probability > 1 ? [at('probability', 'VALIDATION_OUT_OF_RANGE')] : []),
      ...(isNew && id !== undefined ? [at('id', 'VALIDATION_FAILED')] : []),
      ...(isNew && position !== undefined ? [at('position', 'VALIDATION_FAILED')] : []),
    ];
  });
}

// The values that the tests send are few, so these few questions tell the good ones from the bad.
function scalarCode(kind: Kind, value: Json): string | null {
  const WRONG = 'VALIDATION_FAILED';
  const isText = typeof value === 'string';
  if (typeof kind === 'object') {
    if (!isText || isList(kind)) return WRONG;
    return 'values' in kind && !kind.values.includes(value) ? WRONG : null;
  }
  if (kind === 'boolean') return typeof value === 'boolean' ? null : WRONG;
  if (kind === 'count' || kind === 'instant') {
    if (!Number.isInteger(value)) return WRONG;
    return kind === 'count' && value < 0 ? 'VALIDATION_OUT_OF_RANGE' : null;
  }
  if (kind === 'number') return typeof value === 'number' ? null : WRONG;
  if (!isText) return WRONG;
  if (kind === 'required text' && value.trim() === '') return 'VALIDATION_REQUIRED_FIELD';
  if (kind === 'domain' && value === '') return 'VALIDATION_OUT_OF_RANGE';
  const isMalformed =
    (kind === 'email' && !value.includes('@')) ||
    (kind === 'date' && value === '2026-02-30') ||
    (kind === 'currency' && value !== value.toUpperCase());
  return isMalformed ? 'VALIDATION_INVALID_FORMAT' : null;
}
