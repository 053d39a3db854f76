// A change that changes no value writes nothing: the record keeps its updated_at and its version.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CHANGEABLE, CONTRACT } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

/** A record of the resource with as many of its fields set as its references allow. */
async function wholeRecord(resource: string): Promise<Json> {
  const company = await api.create('companies');
  const contact = await api.create('contacts');
  const deal = await api.create('deals');
  const owner_id = harness.alice;
  const bodies: Record<string, Json> = {
    contacts: {
      ...{
        email: uniqueEmail(),
        alt_emails: [uniqueEmail(), uniqueEmail()],
        first_name: 'Ada',
        title: 'CTO',
      },
      ...{ keep_in_touch: true, company_id: company.id, owner_id, custom: { b: 1, a: 'x', c: true } },
    },
    companies: {
      ...{ domain: `${crypto.randomUUID()}.example`, name: 'N', employee_count: 5, owner_id },
      ...{ estimated_revenue: 12.5, custom: { a: 1 } },
    },
    deals: {
      ...{ name: 'D', estimated_value: 1250.5, currency: 'EUR', estimated_close_date: '2026-03-31' },
      ...{ company_id: company.id, point_of_contact_id: contact.id, owner_id, custom: { a: 1 } },
    },
    pipelines: {
      name: 'P',
      stages: [
        { name: 'A', probability: 0.25 },
        { name: 'B', type: 'won' },
      ],
    },
    tasks: {
      ...{ name: 'T', description: 'x', due_date: 1_767_225_600_000, done: true, company_id: company.id },
      ...{ deal_id: deal.id, person_id: contact.id, main_assignee_id: owner_id },
    },
    notes: { title: 'N', content: 'x', parent_id: (await api.create('notes')).id, is_archived: true },
    segments: { name: 'S', description: 'x' },
  };
  return api.create(resource, bodies[resource]);
}

async function expectUnchanged(resource: string, record: Json, body: Json): Promise<void> {
  harness.clock.now += 1_000;
  const path = `/${resource}/${record.id}`;
  const etag = (await api.get(path)).headers.get('ETag');
  expect(await api.update(resource, record.id, body)).toEqual(record);
  const after = await api.get(path);
  expect(after.body.data).toEqual(record);
  expect(after.headers.get('ETag')).toBe(etag);
}

for (const resource of CHANGEABLE) {
  describe(resource, () => {
    const { writable = [], fixed = [] } = CONTRACT[resource] ?? {};
    const changeable = writable.filter((name) => !fixed.includes(name));

    test('what is sent back as shown changes nothing, all at once and each alone', async () => {
      const record = await wholeRecord(resource);
      await expectUnchanged(
        resource,
        record,
        Object.fromEntries(changeable.map((name) => [name, record[name]])),
      );
      for (const name of changeable) await expectUnchanged(resource, record, { [name]: record[name] });
    });

    test('clearing what is not set changes nothing', async () => {
      const record = await api.create(resource);
      for (const name of changeable)
        if (record[name] === null) await expectUnchanged(resource, record, { [name]: null });
    });

    test('one new value among others that stay is a change', async () => {
      const record = await wholeRecord(resource);
      const body = Object.fromEntries(changeable.map((name) => [name, record[name]]));
      const [name = ''] = Object.keys(body).filter((one) => ['name', 'title'].includes(one));
      harness.clock.now += 1_000;
      const after = await api.update(resource, record.id, { ...body, [name]: 'Other' });
      expect(after).toEqual({
        ...record,
        [name]: 'Other',
        updated_at: new Date(harness.clock.now).toISOString(),
      });
    });
  });
}

test('a domain is compared as it is stored', async () => {
  const company = await api.create('companies', { domain: 'unchanged.example' });
  await expectUnchanged('companies', company, { domain: 'HTTPS://www.Unchanged.example./about' });
});

test('alternative addresses are compared as a set, without repeats and the primary address', async () => {
  const [email, one, two] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
  const contact = await api.create('contacts', { email, alt_emails: [one, two] });
  await expectUnchanged('contacts', contact, { alt_emails: [two, one] });
  await expectUnchanged('contacts', contact, { alt_emails: [two, email.toUpperCase(), one, two] });
  for (const alt_emails of [[one], [two, one, uniqueEmail()], [one.toUpperCase(), two], []]) {
    harness.clock.now += 1_000;
    const after = await api.update('contacts', contact.id, { alt_emails });
    expect(after).toEqual({ ...contact, alt_emails, updated_at: new Date(harness.clock.now).toISOString() });
    await api.update('contacts', contact.id, { alt_emails: contact.alt_emails });
  }
});

test('custom is compared after merging', async () => {
  const contact = await api.create('contacts', { first_name: 'A', custom: { a: 1, b: 'x' } });
  for (const custom of [{}, { a: 1 }, { b: 'x', a: 1 }, { absent: null }])
    await expectUnchanged('contacts', contact, { custom });
  const after = await api.update('contacts', contact.id, { custom: { b: null } });
  expect(after.custom).toEqual({ a: 1 });
  expect(after.updated_at > contact.updated_at).toBe(true);
});

test('stages are compared with what they keep', async () => {
  const pipeline = await wholeRecord('pipelines');
  const [a, b] = pipeline.stages;
  await expectUnchanged('pipelines', pipeline, { stages: [{ id: a.id }, { id: b.id, type: 'won' }] });
  const bodies = [
    [{ id: b.id }, { id: a.id }],
    [{ id: a.id }, { name: 'B', type: 'won' }],
    [{ id: a.id, probability: null }, { id: b.id }],
  ];
  for (const stages of bodies) {
    const record = await api.create('pipelines', { name: 'P', stages: [a, b].map(({ name }) => ({ name })) });
    const ids = new Map([a, b].map(({ id }, index) => [id, record.stages[index].id]));
    const sent = stages.map(({ id, ...rest }: Json) => ({
      ...(id && { id: ids.get(id) }),
      ...rest,
      probability: 0.5,
    }));
    const after = await api.update('pipelines', record.id, { stages: sent });
    expect(after.updated_at > record.updated_at).toBe(true);
  }
});

test('the stage in which a deal already is, and a task that is already done, change nothing', async () => {
  const deal = await api.create('deals');
  await expectUnchanged('deals', deal, { stage_id: deal.stage_id });
  await expectUnchanged('deals', deal, { pipeline_id: deal.pipeline_id });
  const task = await api.create('tasks', { name: 'T', done: true });
  await expectUnchanged('tasks', task, { done: true });
});

test('what would be refused is refused, whatever else stays as it is', async () => {
  const contact = await api.create('contacts', { first_name: 'A' });
  const taken = await api.create('contacts', { email: uniqueEmail() });
  const reply = await api.patch(`/contacts/${contact.id}`, { first_name: 'A', email: taken.email });
  expect(reply.status).toBe(409);
});

describe('version 1', () => {
  test('PATCH and PUT of what a person already has change nothing', async () => {
    const email = uniqueEmail();
    const contact = await api.create('contacts', { email, first_name: 'A', phone: '5' });
    harness.clock.now += 1_000;
    const send = (method: string, path: string, body: Json) =>
      harness.send(method, `/api/v1${path}`, { body });
    expect((await send('PATCH', `/people/${contact.id}`, { phone: '5' })).status).toBe(200);
    expect((await send('PUT', '/people', { email, firstName: 'A' })).status).toBe(200);
    expect(await api.fetch('contacts', contact.id)).toEqual(contact);
  });

  test('PATCH of what a company already has changes nothing', async () => {
    const company = await api.create('companies', { domain: 'v1-unchanged.example', custom: { tier: 'a' } });
    harness.clock.now += 1_000;
    const body = { domain: 'www.v1-unchanged.example', tier: 'a' };
    const reply = await harness.send('PATCH', `/api/v1/companies/${company.id}`, { body });
    expect(reply.status).toBe(200);
    expect(await api.fetch('companies', company.id)).toEqual(company);
  });
});
