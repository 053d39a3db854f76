// An organization with something of everything, and all of its content with names instead of ids.
import type { Harness, Json } from './harness.ts';
import { insertReadOnly } from './read-only.ts';
import { clientOf } from './v2.ts';

/** Something of everything: links, trees, stages of every kind, an owner, custom values of every type. */
export async function fillOrganization(harness: Harness): Promise<void> {
  const { send, alice, clock } = harness;
  const create = (resource: string, body: Json) => clientOf(harness).create(resource, body);
  const acme = await create('companies', {
    name: 'Acme',
    domain: 'acme.test',
    custom: { a: 1, b: '1', c: true },
  });
  const ada = await create('contacts', {
    email: 'ada@acme.test',
    company_id: acme.id,
    owner_id: alice,
    title: '',
  });
  const bob = await create('contacts', { first_name: 'Bob', alt_emails: ['b@acme.test'] });
  const [sales] = (await send('GET', '/api/v2/pipelines')).body.data;
  const stages = [{ ...sales.stages[0] }, { name: 'Extra', probability: 0.5 }, ...sales.stages.slice(1)];
  const body = { stages: stages.map(({ position: _, ...stage }) => stage) };
  const changed = (await send('PATCH', `/api/v2/pipelines/${sales.id}`, { body })).body.data;
  const partners = await create('pipelines', {
    name: 'Partners',
    stages: [{ name: 'New' }, { name: 'Won', type: 'won' }],
  });
  const deal = await create('deals', {
    name: 'First',
    company_id: acme.id,
    point_of_contact_id: ada.id,
    stage_id: changed.stages[1].id,
  });
  await create('deals', { name: 'Second', pipeline_id: partners.id, stage_id: partners.stages[1].id });
  await create('tasks', {
    name: 'Call',
    deal_id: deal.id,
    person_id: ada.id,
    due_date: 5,
    main_assignee_id: alice,
  });
  const child = await create('notes', { title: 'Child' });
  const root = await create('notes', { title: 'Root', content: 'x\ny' });
  const leaf = await create('notes', { title: 'Leaf', parent_id: child.id });
  // The parent is younger than its child: the order of creation is not that of the tree.
  await send('PATCH', `/api/v2/notes/${child.id}`, { body: { parent_id: root.id } });
  const segment = await create('segments', { name: 'Firms', record_type: 'company' });
  clock.now += 1_000;
  await create('interactions', {
    type: 'EMAIL',
    direction: 'OUTBOUND',
    title: 'Hi',
    main_contact: ada.id,
    contact_ids: [bob.id],
    interaction_date: 7,
  });
  for (const contact of [bob, ada]) {
    clock.now += 1_000;
    await send('POST', `/api/v2/deals/${deal.id}/contacts`, {
      body: { contact_id: contact.id, supervisor: bob.id },
    });
  }
  await send('POST', `/api/v2/deals/${deal.id}/companies`, { body: { company_id: acme.id } });
  await send('POST', `/api/v2/notes/${leaf.id}/records`, {
    body: { record_type: 'deal', record_id: deal.id },
  });
  await send('POST', `/api/v2/segments/${segment.id}/members`, { body: { record_id: acme.id } });
  await insertReadOnly(harness, 'meetings', { title: 'Kick-off', external_id: 'm1' });
}

/** The resources that an import can write, in the order in which it does. */
export const IMPORTED = [
  'companies',
  'contacts',
  'pipelines',
  'deals',
  'tasks',
  'notes',
  'segments',
  'interactions',
];

const GIVEN_ANEW = [
  'created_by',
  'created_at',
  'updated_at',
  'stage_changed_at',
  'closed_at',
  'done_at',
  'linked_at',
];

/** Everything of an organization, with names instead of ids. */
export async function contentOf(harness: Harness, key: string, withOwners: boolean): Promise<Json> {
  const names = new Map<string, string>();
  const content: Json = {};
  for (const resource of IMPORTED) {
    const records = await listAll(harness, resource, key);
    for (const record of records) {
      names.set(record.id, `${resource} ${record.name ?? record.title ?? record.email ?? record.first_name}`);
      for (const stage of record.stages ?? []) names.set(stage.id, `${record.name}/${stage.name}`);
    }
    content[resource] = records;
  }
  for (const resource of ['contacts', 'companies']) {
    for (const record of content[resource])
      names.set(record.id, `${resource} ${record.email ?? record.name ?? record.first_name}`);
  }
  const links: Record<string, string[]> = {
    deals: ['contacts', 'companies'],
    notes: ['records'],
    segments: ['members'],
  };
  for (const [resource, paths] of Object.entries(links)) {
    for (const record of content[resource]) {
      for (const path of paths) {
        const { body } = await harness.send('GET', `/api/v2/${resource}/${record.id}/${path}`, {
          key,
        });
        record[path] = body.data.map((item: Json) => [
          item.record_id ?? item.id,
          item.supervisor,
          item.record_type,
        ]);
      }
    }
  }
  const plain = JSON.stringify(content, (field, value: Json) => {
    if (GIVEN_ANEW.includes(field)) return undefined;
    if (field === 'last_interaction_at') return undefined;
    if (!withOwners && ['owner_id', 'main_assignee_id'].includes(field)) return null;
    return names.get(value) ?? value;
  });
  const parsed = JSON.parse(plain);
  for (const { contact_ids, company_ids } of parsed.interactions)
    for (const ids of [contact_ids, company_ids]) ids.sort();
  for (const list of Object.values(parsed) as Json[])
    list.sort((one: Json, other: Json) => (one.id < other.id ? -1 : 1));
  return parsed;
}

/** Every record of a resource, the oldest first. */
export function listAll(harness: Harness, resource: string, key?: string): Promise<Json[]> {
  return clientOf(harness, key).all(`/${resource}?sort_direction=asc`);
}
