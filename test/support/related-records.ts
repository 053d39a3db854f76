// What a response should include, found the slow way: from whole lists, and from the links that they are tied by.
import type { Harness, Json } from './harness.ts';
import { type Random, randomNumbers } from './random.ts';
import { insertReadOnly } from './read-only.ts';
import { type Client, uniqueEmail } from './v2.ts';

/** Everything that a client can list, by resource, with all links by their kind. */
export interface Listed {
  records: Record<string, Json[]>;
  links: Record<string, Json[]>;
  users: Json[];
}

const RESOURCES = [
  ...['companies', 'contacts', 'pipelines', 'deals', 'tasks', 'notes', 'segments', 'interactions'],
  ...['meetings', 'recordings', 'bookings'],
];
const KINDS = ['deals.contacts', 'deals.companies', 'notes.records', 'segments.members'];

/** Lists everything that a client can see. */
export async function listEverything(api: Client, users: Json[]): Promise<Listed> {
  const records: Listed['records'] = {};
  for (const name of RESOURCES) records[name] = await api.all(`/${name}`);
  const links: Listed['links'] = {};
  for (const kind of KINDS) links[kind] = await api.all(`/links?of=${kind}`);
  return { records, links, users };
}

/** Finds the IDs to which one record leads, in any order, with repeats, also of what is not there. */
type Find = (record: Json, listed: Listed) => string[];

const own =
  (...names: string[]): Find =>
  (record) =>
    names.flatMap((name) => record[name] ?? []);
const inverse =
  (resource: string, name: string): Find =>
  ({ id }, { records }) =>
    (records[resource] ?? []).filter((one) => one[name] === id).map((one) => one.id);
const children =
  (kind: string, type?: string): Find =>
  ({ id }, { links }) =>
    (links[kind] ?? [])
      .filter((link) => link.parent_id === id && (type === undefined || link.record_type === type))
      .map((link) => link.id);
const parents =
  (kind: string): Find =>
  ({ id }, { links }) =>
    (links[kind] ?? []).filter((link) => link.id === id).map((link) => link.parent_id);
const any =
  (...finds: Find[]): Find =>
  (record, listed) =>
    finds.flatMap((find) => find(record, listed));

/** Where what a name includes stands in a response, and how it is found. */
export const INCLUDES: Record<string, Record<string, [group: string, find: Find]>> = {
  companies: {
    owner: ['users', own('owner_id')],
    contacts: ['contacts', inverse('contacts', 'company_id')],
    deals: ['deals', any(inverse('deals', 'company_id'), parents('deals.companies'))],
    segments: ['segments', parents('segments.members')],
    notes: ['notes', parents('notes.records')],
    tasks: ['tasks', inverse('tasks', 'company_id')],
  },
  contacts: {
    company: ['companies', own('company_id')],
    owner: ['users', own('owner_id')],
    companies: ['companies', own('company_id')],
    deals: ['deals', any(inverse('deals', 'point_of_contact_id'), parents('deals.contacts'))],
    segments: ['segments', parents('segments.members')],
    notes: ['notes', parents('notes.records')],
    tasks: ['tasks', inverse('tasks', 'person_id')],
  },
  pipelines: { deals: ['deals', inverse('deals', 'pipeline_id')] },
  deals: {
    company: ['companies', own('company_id')],
    owner: ['users', own('owner_id')],
    pipeline: ['pipelines', own('pipeline_id')],
    stage: ['stages', own('stage_id')],
    contacts: ['contacts', any(own('point_of_contact_id'), children('deals.contacts'))],
    companies: ['companies', any(own('company_id'), children('deals.companies'))],
    notes: ['notes', parents('notes.records')],
    tasks: ['tasks', inverse('tasks', 'deal_id')],
  },
  tasks: {
    company: ['companies', own('company_id')],
    owner: ['users', own('main_assignee_id')],
    contacts: ['contacts', own('person_id')],
    companies: ['companies', own('company_id')],
    deals: ['deals', own('deal_id')],
  },
  notes: {
    owner: ['users', own('created_by')],
    contacts: ['contacts', children('notes.records', 'contact')],
    companies: ['companies', children('notes.records', 'company')],
    deals: ['deals', children('notes.records', 'deal')],
  },
  segments: {
    owner: ['users', own('created_by')],
    contacts: ['contacts', children('segments.members')],
    companies: ['companies', children('segments.members')],
  },
  interactions: {
    owner: ['users', own('created_by')],
    contacts: ['contacts', own('main_contact', 'contact_ids')],
    companies: ['companies', own('company_ids')],
  },
  meetings: {
    company: ['companies', own('company_id')],
    owner: ['users', own('owner_id')],
    companies: ['companies', own('company_id')],
    deals: ['deals', own('deal_id')],
  },
  recordings: { owner: ['users', own('owner_id')] },
  bookings: { owner: ['users', own('owner_id')] },
};

/** The IDs that a record should have under a name: of what can be listed, the ten newest. */
export function expectedIds(listed: Listed, resource: string, name: string, record: Json): string[] {
  const [group = '', find = () => []] = INCLUDES[resource]?.[name] ?? [];
  const known = new Set(recordsOf(listed, group).map(({ id }) => id));
  const found = new Set(find(record, listed).filter((id) => known.has(id)));
  return [...found].sort().reverse().slice(0, 10);
}

/** Everything of a group that a client can list. */
export function recordsOf({ records, users }: Listed, group: string): Json[] {
  if (group === 'users') return users;
  if (group === 'stages') return (records.pipelines ?? []).flatMap(({ stages }) => stages);
  return records[group] ?? [];
}

const COUNTS = { companies: 8, contacts: 30, deals: 30, tasks: 40, notes: 30, segments: 6 };

/** Fills an organization with records that lead to each other by chance; some have far more than ten related ones. */
export async function relateByChance(harness: Harness, api: Client, seed = 1): Promise<void> {
  const random = randomNumbers(seed);
  const ofAlice = await api.withKey({ userId: harness.alice });
  const owner = () => pick(random, [harness.alice, harness.bob, null]);
  const made: Record<string, Json[]> = {};
  const one = (name: string) => (random() < 0.2 ? null : (few(random, made[name] ?? [])?.id ?? null));
  const bodies: Record<keyof typeof COUNTS, () => Json> = {
    companies: () => ({ name: 'C', owner_id: owner() }),
    contacts: () => ({ first_name: 'P', owner_id: owner(), company_id: one('companies') }),
    deals: () => ({
      ...{ name: 'D', owner_id: owner(), company_id: one('companies') },
      point_of_contact_id: one('contacts'),
    }),
    tasks: () => ({
      ...{ name: 'T', main_assignee_id: owner(), company_id: one('companies') },
      ...{ deal_id: one('deals'), person_id: one('contacts') },
    }),
    notes: () => ({ title: 'N' }),
    segments: () => ({ name: 'S', record_type: pick(random, ['contact', 'company']) }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    made[name] = [];
    for (let count = 0; count < COUNTS[name as keyof typeof COUNTS]; count++) {
      const byAlice = ['notes', 'segments'].includes(name) && random() < 0.5;
      made[name].push(await (byAlice ? ofAlice : api).create(name, body()));
    }
  }
  await linkByChance(api, made, random);
  for (let count = 0; count < 10; count++) {
    await api.create('interactions', {
      ...{ type: 'EMAIL', direction: 'INBOUND', title: 'I', main_contact_email: uniqueEmail() },
      contact_ids: (made.contacts ?? []).filter(() => random() < 0.5).map(({ id }) => id),
      company_ids: [one('companies')].filter((id) => id !== null),
    });
    const mail = { type: 'EMAIL', direction: 'OUTBOUND', title: 'I' };
    await ofAlice.create('interactions', { ...mail, main_contact_email: uniqueEmail() });
    const meeting = await insertReadOnly(harness, 'meetings', {
      ...{ title: 'M', owner_id: owner(), company_id: one('companies'), deal_id: one('deals') },
    });
    await insertReadOnly(harness, 'recordings', { meeting_id: meeting, owner_id: owner() });
    await insertReadOnly(harness, 'bookings', { title: 'B', owner_id: owner() });
  }
}

async function linkByChance(api: Client, made: Record<string, Json[]>, random: Random): Promise<void> {
  const links = Array.from({ length: 400 }, (): Json => {
    const of = pick(random, KINDS);
    const [parents = '', children = ''] = of.split('.');
    const parent = few(random, made[parents] ?? []);
    const types: Record<string, string> = { contact: 'contacts', company: 'companies', deal: 'deals' };
    const type = parents === 'segments' ? parent.record_type : pick(random, Object.keys(types));
    const resource = children in made ? children : (types[type] ?? '');
    const id = few(random, made[resource] ?? []).id;
    return { of, parent_id: parent.id, id, ...(parents === 'notes' && { record_type: type }) };
  });
  for (let from = 0; from < links.length; from += 100)
    await api.batch('/links/batch', links.slice(from, from + 100));
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

// One of the values, often of the first ones.
function few(random: Random, values: readonly Json[]): Json {
  return values[Math.floor(random() ** 3 * values.length)];
}
