// Lists in the model: filters, windows and order over all records that an actor sees.
import type { Json } from '../support/harness.ts';
import { normalized } from './values.ts';
import { type Actor, type Data, OWNER, type World } from './world.ts';

type Passes = (record: Data, value: Json, world: World) => boolean;

interface FilterModel {
  passes: Passes;
  /** The resources that the value can be an ID of. */
  refersTo?: string[];
  /** Values that are no ids. */
  values?: Json[];
}

const equals =
  (name: string): Passes =>
  (record, value) =>
    record[name] === value;
const lower = (text: unknown) => String(text).toLowerCase();
const reference = (name: string, ...refersTo: string[]): FilterModel => ({ passes: equals(name), refersTo });
const oneOf = (name: string, ...values: Json[]): FilterModel => ({ passes: equals(name), values });
const before = (name: string, ...values: number[]): FilterModel => ({
  passes: (record, value) => record[name] !== null && record[name] < value,
  values,
});
const after = (name: string, ...values: number[]): FilterModel => ({
  passes: (record, value) => record[name] !== null && record[name] >= value,
  values,
});
const linked = (collection: string, from: 'parent' | 'child', ...refersTo: string[]): FilterModel => ({
  refersTo,
  passes: (record, value, world) =>
    world.links.some(
      (link) =>
        link.collection === collection &&
        (from === 'parent'
          ? link.parent === value && link.child === record.id
          : link.child === value && link.parent === record.id),
    ),
});
const either = (one: FilterModel, other: FilterModel): FilterModel => ({
  ...one,
  passes: (...args) => one.passes(...args) || other.passes(...args),
});
const holds = (name: string, refersTo: string): FilterModel => ({
  passes: (record, value) => record[name].includes(value),
  refersTo: [refersTo],
});

const externalId: FilterModel = {
  passes: (record, value, world) =>
    world.externalIds.some(
      ({ record: id, ...row }) => id === record.id && `${row.source}:${row.id}` === value,
    ),
  values: ['crm:1', 'crm:2', 'erp:1', 'erp:a:b'],
};

const DATES = [0, 1_000, 2_000, 3_000];
const segment = linked('segments/members', 'parent', 'segments');

/** The filters of each resource. */
export const FILTERS: Record<string, Record<string, FilterModel>> = {
  contacts: {
    external_id: externalId,
    email: {
      passes: ({ email, alt_emails }, value) =>
        [email, ...alt_emails].some((one) => one !== null && lower(one) === lower(value)),
      values: ['ada@X.example', 'cyd@y.example'],
    },
    phone: {
      passes: ({ phone, personal_phone }, value) => phone === value || personal_phone === value,
      values: ['A', 'B'],
    },
    company_id: reference('company_id', 'companies'),
    owner_id: reference('owner_id', 'users'),
    segment_id: segment,
  },
  companies: {
    external_id: externalId,
    domain: {
      passes: ({ domain }, value) => domain === normalized(value),
      values: ['https://www.ACME.example/about', 'OTHER.example'],
    },
    name: {
      passes: ({ name }, value) => name !== null && lower(name) === lower(value),
      values: ['a', 'B'],
    },
    owner_id: reference('owner_id', 'users'),
    segment_id: segment,
  },
  pipelines: {},
  deals: {
    external_id: externalId,
    pipeline_id: reference('pipeline_id', 'pipelines'),
    stage_id: reference('stage_id', 'stages'),
    status: oneOf('status', 'open', 'won', 'lost'),
    owner_id: reference('owner_id', 'users'),
    company_id: either(reference('company_id', 'companies'), linked('deals/companies', 'child', 'companies')),
    contact_id: either(
      reference('point_of_contact_id', 'contacts'),
      linked('deals/contacts', 'child', 'contacts'),
    ),
  },
  tasks: {
    external_id: externalId,
    done: oneOf('done', true, false),
    main_assignee_id: reference('main_assignee_id', 'users'),
    company_id: reference('company_id', 'companies'),
    deal_id: reference('deal_id', 'deals'),
    person_id: reference('person_id', 'contacts'),
    due_before: before('due_date', ...DATES),
    due_after: after('due_date', ...DATES),
  },
  notes: {
    external_id: externalId,
    is_archived: oneOf('is_archived', true, false),
    parent_id: reference('parent_id', 'notes'),
    record_id: linked('notes/records', 'child', 'contacts', 'companies', 'deals'),
  },
  segments: { external_id: externalId, record_type: oneOf('record_type', 'contact', 'company') },
  interactions: {
    contact_id: holds('contact_ids', 'contacts'),
    company_id: holds('company_ids', 'companies'),
    type: oneOf('type', 'EMAIL', 'MEMO'),
    direction: oneOf('direction', 'INBOUND', 'EVENT'),
  },
  meetings: {
    deal_id: reference('deal_id', 'deals'),
    company_id: reference('company_id', 'companies'),
    start_before: before('start_time', ...DATES),
    start_after: after('start_time', ...DATES),
  },
  recordings: {
    meeting_id: reference('meeting_id', 'meetings'),
    has_transcript: oneOf('has_transcript', true, false),
  },
  bookings: {
    status: oneOf('status', 'booked', 'cancelled'),
    attendee_email: {
      passes: ({ attendee }, value) => attendee !== null && lower(attendee.email) === lower(value),
      values: ['ADA@x.example'],
    },
    start_before: before('start_time', ...DATES),
    start_after: after('start_time', ...DATES),
  },
};

export interface ListModel {
  filters: Data;
  since: { created_since?: number; updated_since?: number };
  sortBy: string;
  direction: string;
}

/** What a list shows the actor, all pages together. */
export function list(world: World, actor: Actor, resource: string, query: ListModel): Data[] {
  const { filters, since, sortBy, direction } = query;
  const declared = FILTERS[resource] ?? {};
  for (const [name, value] of Object.entries(filters))
    if (isHidden(world, actor, declared[name]?.refersTo, value)) return [];
  const at = (record: Data, field: string) => Date.parse(record[field]);
  const found = world
    .seenBy(actor, resource)
    .filter((record) =>
      Object.entries(filters).every(([name, value]) => declared[name]?.passes(record, value, world)),
    )
    .filter((record) => at(record, 'created_at') >= (since.created_since ?? 0))
    .filter((record) => at(record, 'updated_at') >= (since.updated_since ?? 0))
    .toSorted((a, b) => at(a, sortBy) - at(b, sortBy) || (a.id < b.id ? -1 : 1));
  if (direction === 'desc') found.reverse();
  return found.map((record) => world.show(actor, resource, record));
}

// A filter by a record that the actor does not see finds nothing.
function isHidden(world: World, actor: Actor, targets: string[] | undefined, value: Json): boolean {
  const resources = (targets ?? []).filter((name) => OWNER[name] !== undefined);
  return resources.length > 0 && resources.every((name) => world.find(actor, name, value) === undefined);
}
