// Somebody's records, each text in them with a mark that nobody else's answers may have: something of everything, tied together.
import type { Field } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { CHANGEABLE, CREATABLE, READ_ONLY } from './contract.ts';
import { KINDS } from './endpoints.ts';
import type { Harness, Json, Reply } from './harness.ts';
import { insertReadOnly, insertTranscribed } from './read-only.ts';
import { type Client, clientOf, minimalBody } from './v2.ts';

export interface World {
  mark: string;
  /** Whether its key is bound to a user, who has no pipelines. */
  isUsers: boolean;
  /** A key that sees all of it. */
  v2: string;
  /** The id for each name that the contract's rows have: `contacts`, `deals`, `child`; and for `users` and `stages`. */
  ids: Readonly<Record<string, string>>;
}

interface Owner {
  mark: string;
  orgNumber: number;
  /** The user's id, and whether the key is bound to that user. */
  userId: string;
  isUsers: boolean;
  v2: string;
}

/** Writes a world. */
export async function makeWorld(harness: Harness, owner: Owner): Promise<World> {
  const api = clientOf(harness, owner.v2);
  const ids: Record<string, string> = { users: owner.userId };
  const make = async (resource: string, more: Json = {}) => {
    // Two of each, so that there is a second page.
    for (let count = 0; count < 2; count++) {
      const marked = markedFields(resource, owner.mark, count);
      const { main_contact_email: _, ...least } = minimalBody(resource);
      ids[resource] = (await api.create(resource, { ...least, ...marked, ...more })).id;
    }
    return ids[resource] ?? '';
  };
  const company = { company_id: await make('companies') };
  const contact = await make('contacts', company);
  // Those of the organization: nobody's own.
  if (!owner.isUsers) await make('pipelines', { stages: [{ name: owner.mark }] });
  const pipelines = owner.isUsers ? null : await api.fetch('pipelines', ids.pipelines ?? '');
  const stage = pipelines && { pipeline_id: pipelines.id, stage_id: pipelines.stages[0].id };
  ids.stages = pipelines?.stages[0].id ?? '';
  const deal = await make('deals', { ...company, ...stage, point_of_contact_id: contact });
  await make('tasks', { ...company, deal_id: deal, person_id: contact });
  await make('notes');
  await make('segments', { record_type: 'contact' });
  await make('interactions', { main_contact: contact, primary_id: `primary ${owner.mark}` });
  for (const resource of READ_ONLY) ids[resource] = await integrated(harness, owner, resource, ids);
  await tie(api, owner.mark, ids);
  for (const resource of CHANGEABLE.filter((name) => ids[name] !== undefined)) {
    const { id } = await api.create(resource, {
      ...minimalBody(resource),
      ...nameOf(resource, `deleted ${owner.mark}`),
    });
    await api.del(`/${resource}/${id}`);
    ids[`deleted_${resource}`] = id;
  }
  const webhook = { url: `https://${owner.mark}.example/`, events: ['*'], description: owner.mark };
  ids.webhooks = (await api.post('/webhooks', webhook)).body.data.id;
  return { mark: owner.mark, isUsers: owner.isUsers, v2: owner.v2, ids };
}

/** Everything of a world as its own key sees it. */
export async function dumpOf(harness: Harness, { v2, ids, isUsers }: World): Promise<Json> {
  const api = clientOf(harness, v2);
  const dump: Json = {};
  for (const resource of [...CREATABLE, ...READ_ONLY])
    if (!isUsers || resource !== 'pipelines') dump[resource] = await api.list(`/${resource}?limit=200`);
  for (const path of [
    `deals/${ids.deals}/contacts`,
    `deals/${ids.deals}/companies`,
    `notes/${ids.notes}/records`,
    `contacts/${ids.contacts}/external_ids`,
  ])
    dump[path] = await api.list(`/${path}`);
  dump.webhooks = await api.list('/webhooks');
  for (const of of KINDS) dump[of] = await api.list(`/links?of=${of}&limit=200`);
  return dump;
}

/** Where the world shows in an answer, in its body or its headers: nothing if it is hidden. */
export function tracesOf({ mark, ids }: World, reply: Reply): string[] {
  const text = `${reply.text}\n${JSON.stringify([...reply.headers])}`.toLowerCase();
  const traces = [mark, ...Object.entries(ids).flatMap(([name, id]) => (name === 'users' ? [] : [id]))];
  return traces.filter((trace) => trace !== '' && text.includes(trace.toLowerCase()));
}

function nameOf(resource: string, mark: string): Data {
  const { fields } = getResource(resource);
  const name = ['name', 'title', 'first_name'].find((one) => one in fields) ?? '';
  return { [name]: mark };
}

function markedFields(resource: string, mark: string, count: number): Data {
  const marked: Data = {};
  for (const [name, field] of Object.entries(getResource(resource).fields)) {
    const value = field.access === 'read' ? undefined : markedValue(name, field, `${mark}-${count}`);
    if (value !== undefined) marked[name] = value;
  }
  return marked;
}

function markedValue(name: string, { kind }: Field, mark: string): JsonValue | undefined {
  if (name === 'currency' || name === 'primary_id' || name === 'main_contact_email') return undefined;
  if (kind === 'text') return `${name}-${mark}`;
  if (kind === 'email') return `${mark}@hidden.example`;
  if (kind === 'emails') return [`alt-${mark}@hidden.example`];
  if (kind === 'domain') return `${mark}.example`;
  return kind === 'custom' ? { [mark]: mark } : undefined;
}

async function integrated(
  { store, clock }: Harness,
  { mark, orgNumber, userId }: Owner,
  resource: string,
  ids: Readonly<Record<string, string>>,
): Promise<string> {
  const where = { store, orgNumber, clock };
  const person = { name: mark, email: `${mark}-0@hidden.example` };
  const fields: Record<string, Data> = {
    meetings: {
      description: mark,
      location: mark,
      organizer: person,
      attendees: [{ ...person, contact_id: null }],
    },
    recordings: {},
    bookings: {
      attendee: { ...person, contact_id: null },
      guests: [person.email],
      cancellation_reason: mark,
    },
  };
  let id = '';
  for (let count = 0; count < 2; count++) {
    const more: Data = resource === 'meetings' ? {} : { meeting_id: ids.meetings ?? '' };
    const external_id = `external ${mark} ${count}`;
    const all = { ...fields[resource], ...more, title: mark, external_id, owner_id: userId };
    id = await (resource === 'recordings'
      ? insertTranscribed(where, all)
      : insertReadOnly(where, resource, all));
  }
  return id;
}

async function tie(api: Client, mark: string, ids: Record<string, string>): Promise<void> {
  const { contacts, companies, deals, notes, segments, meetings } = ids;
  for (const [path, body] of [
    [`/deals/${deals}/contacts`, { contact_id: contacts, supervisor: contacts }],
    [`/deals/${deals}/companies`, { company_id: companies }],
    [`/notes/${notes}/records`, { record_type: 'contact', record_id: contacts }],
    [`/segments/${segments}/members`, { record_id: contacts }],
  ] as const)
    await api.post(path, body);
  const source = crypto.randomUUID();
  for (const resource of CHANGEABLE)
    if (ids[resource] !== undefined)
      await api.post(`/${resource}/${ids[resource]}/external_ids`, { source, id: mark });
  await api.put(`/meetings/${meetings}/deal`, { deal_id: deals });
  await api.put(`/meetings/${meetings}/company`, { company_id: companies });
  Object.assign(ids, { source, linked: deals, child: contacts, dealing: deals, firm: companies });
  Object.assign(ids, { noted: notes, subject: contacts, joined: segments, member: contacts });
}
