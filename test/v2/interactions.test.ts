// Interactions: whom they are about, when two are one, and what they move.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const BASE = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' };
const rfc3339 = (ms: number) => new Date(ms).toISOString();
const contactsNow = async () => (await api.list('/contacts?limit=200')).length;

async function contactWith(fields: Json = {}): Promise<Json> {
  return api.create('contacts', { email: uniqueEmail(), ...fields });
}

describe('whom it is about', () => {
  test('an id, or an email, primary or alternative, in any case', async () => {
    const company_id = (await api.create('companies')).id;
    const alternative = uniqueEmail();
    const { id, email } = await contactWith({ company_id, alt_emails: [alternative] });
    for (const contact of [
      { main_contact: id },
      { main_contact: id, main_contact_email: null },
      { main_contact_email: email },
      { main_contact_email: alternative.toUpperCase(), main_contact: null },
    ])
      expect(await api.create('interactions', { ...BASE, ...contact })).toMatchObject({
        main_contact: id,
        contact_ids: [id],
        company_ids: [company_id],
        is_duplicate: false,
      });
  });

  test('is answered as it is then shown, somebody who was not known too', async () => {
    const company_id = (await api.create('companies')).id;
    const { email } = await contactWith({ company_id });
    const emails = [email, uniqueEmail(), uniqueEmail()];
    const items = emails.map((main_contact_email) => ({ ...BASE, main_contact_email, summary: 'S' }));
    const batch = (await api.post('/interactions/batch', [...items, items[2]])).body.data.items;
    for (const { data } of [...batch, { data: await api.create('interactions', items[0]) }]) {
      const { is_duplicate, ...record } = data;
      expect(is_duplicate).toBe(false);
      expect(JSON.stringify(record)).toBe(JSON.stringify(await api.fetch('interactions', data.id)));
    }
  });

  test('exactly one of the two must be there', async () => {
    const { id, email } = await contactWith();
    for (const contact of [{}, { main_contact: null }, { main_contact: null, main_contact_email: null }])
      expectFault(
        await api.post('/interactions', { ...BASE, ...contact }),
        'VALIDATION_REQUIRED_FIELD',
        'main_contact',
      );
    const both = { ...BASE, main_contact: id, main_contact_email: email };
    const reply = await api.post('/interactions', both);
    expectError(reply, 422, 'VALIDATION_FAILED', reply.body.error.details[0].path);
    expect(reply.body.error.message).toContain('main_contact_email');
  });

  test('an unknown email makes the contact, where the key may write contacts', async () => {
    const [one, two] = [uniqueEmail(), uniqueEmail()];
    const { main_contact } = await api.create('interactions', { ...BASE, main_contact_email: one });
    expect(await api.fetch('contacts', main_contact)).toMatchObject({
      email: one,
      first_name: null,
      owner_id: null,
      last_interaction_at: rfc3339(harness.clock.now),
    });
    const { key } = await harness.issue({ scopes: ['interactions:write', 'contacts:read'] });
    const before = await contactsNow();
    const reply = await clientOf(harness, key).post('/interactions', { ...BASE, main_contact_email: two });
    expectFault(reply, 'VALIDATION_FAILED', 'main_contact_email');
    expect(await contactsNow()).toBe(before);
    const known = await clientOf(harness, key).post('/interactions', { ...BASE, main_contact_email: one });
    expect(known.body.data.main_contact).toBe(main_contact);
  });
});

test('the date is now unless given, null included', async () => {
  const { id } = await contactWith();
  for (const date of [{}, { interaction_date: null }])
    expect((await api.create('interactions', { ...BASE, main_contact: id, ...date })).interaction_date).toBe(
      harness.clock.now,
    );
  const given = { ...BASE, main_contact: id, interaction_date: 86_400_000 };
  expect((await api.create('interactions', given)).interaction_date).toBe(86_400_000);
});

describe('duplicates', () => {
  /** Sends two; gives whether the second was answered with the first. */
  async function isSame(first: Json, second: Json): Promise<boolean> {
    const { data: one } = (await api.post('/interactions', { ...BASE, ...first })).body;
    expect(one.is_duplicate).toBe(false);
    const reply = await api.post('/interactions', { ...BASE, ...second });
    expect(reply.status).toBe(201);
    const { data: two } = reply.body;
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2/interactions/${two.id}`);
    expect(two.is_duplicate).toBe(two.id === one.id);
    if (two.is_duplicate) expect({ ...two, is_duplicate: false }).toEqual(one);
    return two.is_duplicate;
  }

  test('with primary_id: type, primary_id and secondary_id agree, and nothing else need', async () => {
    const main_contact = (await contactWith()).id;
    const someoneElse = { title: 'Other', direction: 'EVENT', interaction_date: 5 };
    const primary_id = () => Bun.randomUUIDv7();
    const other = { main_contact: (await contactWith()).id, ...someoneElse };
    const rows: [Json, Json, boolean][] = [
      [{}, other, true],
      [{ secondary_id: 'b' }, { ...other, secondary_id: 'b' }, true],
      [{ secondary_id: 'b' }, { main_contact, secondary_id: 'c' }, false],
      [{ secondary_id: 'b' }, { main_contact }, false],
      [{}, { main_contact, secondary_id: 'b' }, false],
      [{}, { main_contact, type: 'MEMO' }, false],
      [{}, { main_contact, primary_id: 'another' }, false],
    ];
    for (const [first, second, same] of rows) {
      const id = primary_id();
      expect(await isSame({ main_contact, primary_id: id, ...first }, { primary_id: id, ...second })).toBe(
        same,
      );
    }
  });

  test('without: contact, type, direction, title and an explicitly given date agree', async () => {
    const other = (await contactWith()).id;
    const interaction_date = 1_767_225_600_000;
    const rows: [Json, Json, boolean][] = [
      [{}, {}, true],
      [{}, { summary: 'Other' }, true],
      [{}, { secondary_id: 's' }, true],
      [{}, { main_contact: other }, false],
      [{}, { type: 'MEMO' }, false],
      [{}, { direction: 'OUTBOUND' }, false],
      [{}, { title: 'hello' }, false],
      [{}, { interaction_date: interaction_date + 1 }, false],
      [{}, { interaction_date: null }, false],
    ];
    for (const [first, second, same] of rows) {
      const main_contact = (await contactWith()).id;
      const common = { main_contact, interaction_date };
      expect(await isSame({ ...common, ...first }, { ...common, ...second })).toBe(same);
    }
    const { id } = await contactWith();
    expect(await isSame({ main_contact: id }, { main_contact: id })).toBe(false);
  });

  test('the contact may be named by email', async () => {
    const { id, email } = await contactWith();
    const interaction_date = 1;
    expect(
      await isSame({ main_contact: id, interaction_date }, { main_contact_email: email, interaction_date }),
    ).toBe(true);
  });

  test('write nothing: no contact, no time, no change', async () => {
    const { id } = await contactWith();
    const first = { ...BASE, main_contact: id, primary_id: 'write-nothing', interaction_date: 1_000 };
    const { id: interaction } = await api.create('interactions', first);
    const before = [await api.fetch('contacts', id), await contactsNow()];
    const { main_contact: _, ...again } = { ...first, interaction_date: 9_000 };
    for (const contact of [{ main_contact: id }, { main_contact_email: uniqueEmail() }]) {
      const reply = await api.create('interactions', { ...again, ...contact });
      expect(reply).toMatchObject({ id: interaction, is_duplicate: true, main_contact: id });
    }
    expect([await api.fetch('contacts', id), await contactsNow()]).toEqual(before);
  });

  test('are recognized within one batch', async () => {
    const item = { ...BASE, main_contact_email: uniqueEmail(), primary_id: 'in-batch' };
    const { data } = (await api.post('/interactions/batch', [item, item])).body;
    expect(data.summary).toEqual({ total: 2, succeeded: 2, failed: 0 });
    const [first, second] = data.items.map((one: Json) => one.data);
    expect(first).toMatchObject({ title: BASE.title, is_duplicate: false });
    expect(second).toEqual({ id: first.id, is_duplicate: true });
  });

  test("cannot be read with a key that can only write: of another's only the ID is shown, in a batch and by itself", async () => {
    const { id, email } = await contactWith();
    const said = { ...BASE, title: 'Secret', summary: 'Secret', main_contact: id };
    const { id: existing } = await api.create('interactions', { ...said, primary_id: 'not-to-be-read' });
    const { key } = await harness.issue({ scopes: ['interactions:write'] });
    const writer = clientOf(harness, key);
    const guess = { ...BASE, main_contact_email: email, primary_id: 'not-to-be-read' };
    const alone = await writer.post('/interactions', guess);
    const batch = await writer.post('/interactions/batch', [guess]);
    expect([alone.status, alone.body.data]).toEqual([201, { id: existing, is_duplicate: true }]);
    expect(batch.body.data.items[0].data).toEqual({ id: existing, is_duplicate: true });
    expect(alone.text + batch.text).not.toContain('Secret');
    // What it has written itself it is shown.
    const own = await writer.create('interactions', { ...said, title: 'Own', primary_id: 'its-own' });
    expect(own).toMatchObject({ title: 'Own', is_duplicate: false, contact_ids: [id] });
  });

  test('are not looked for in another organization', async () => {
    const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
    const body = { ...BASE, main_contact_email: uniqueEmail(), primary_id: 'two-organizations' };
    await api.create('interactions', body);
    expect((await other.create('interactions', body)).is_duplicate).toBe(false);
  });
});

test('last_interaction_at of the contact and its company moves forward, never back', async () => {
  const company_id = (await api.create('companies')).id;
  const { id } = await contactWith({ company_id });
  const last = async () => [
    (await api.fetch('contacts', id)).last_interaction_at,
    (await api.fetch('companies', company_id)).last_interaction_at,
  ];
  expect(await last()).toEqual([null, null]);
  for (const [date, expected] of [
    [2_000, 2_000],
    [1_000, 2_000],
    [3_000, 3_000],
  ] as const) {
    await api.create('interactions', { ...BASE, main_contact: id, interaction_date: date });
    expect(await last()).toEqual([rfc3339(expected), rfc3339(expected)]);
  }
  const colleague = (await contactWith({ company_id })).id;
  await api.create('interactions', { ...BASE, main_contact: colleague, interaction_date: 2_500 });
  expect((await api.fetch('contacts', colleague)).last_interaction_at).toBe(rfc3339(2_500));
  expect(await last()).toEqual([rfc3339(3_000), rfc3339(3_000)]);
});

test('an interaction stays when its contact and company go', async () => {
  const company_id = (await api.create('companies')).id;
  const { id } = await contactWith({ company_id });
  const made = await api.create('interactions', { ...BASE, main_contact: id });
  await api.del(`/companies/${company_id}`);
  expect(await api.fetch('interactions', made.id)).toMatchObject({ company_ids: [], contact_ids: [id] });
  await api.del(`/contacts/${id}`);
  expect(await api.fetch('interactions', made.id)).toMatchObject({ main_contact: null, contact_ids: [] });
});

test('every type and direction of the contract is taken', async () => {
  const { id } = await contactWith();
  const types =
    'DIRECT_MESSAGE EMAIL MEETING MEMO BOOKING_CREATED BOOKING_CANCELLED MANUAL API_EVENT VOICE_NOTE';
  for (const type of types.split(' '))
    expect((await api.create('interactions', { ...BASE, type, main_contact: id })).type).toBe(type);
  for (const direction of ['INBOUND', 'OUTBOUND', 'HYBRID', 'INTERNAL', 'EVENT'])
    expect((await api.create('interactions', { ...BASE, direction, main_contact: id })).direction).toBe(
      direction,
    );
});

describe('interactions of several', () => {
  const lastOf = async (resource: string, id: string) =>
    (await api.fetch(resource, id)).last_interaction_at ?? null;

  test('link everyone, the main contact and its company too, whether they are in the lists or not', async () => {
    const [own, acme] = [await api.create('companies'), await api.create('companies')];
    const main = await contactWith({ company_id: own.id });
    // The company of another contact is not added.
    const other = await contactWith({ company_id: (await api.create('companies')).id });
    const everyone = { contact_ids: [main.id, other.id].sort(), company_ids: [own.id, acme.id].sort() };
    for (const lists of [
      { contact_ids: [other.id], company_ids: [acme.id] },
      { contact_ids: [other.id, main.id], company_ids: [acme.id, own.id] },
      { contact_ids: [other.id, other.id, other.id], company_ids: [acme.id, acme.id] },
    ])
      for (const contact of [{ main_contact: main.id }, { main_contact_email: main.email }]) {
        const body = { ...BASE, ...contact, ...lists };
        const created = await api.create('interactions', body);
        expect(created).toMatchObject({ main_contact: main.id, ...everyone });
        const { is_duplicate, ...shown } = created;
        expect(await api.fetch('interactions', created.id)).toEqual(shown);
        const batch = (await api.post('/interactions/batch', [body])).body.data;
        expect(batch.items[0].data).toMatchObject(everyone);
      }
  });

  test('empty lists and null are as if left out', async () => {
    const company_id = (await api.create('companies')).id;
    const { id } = await contactWith({ company_id });
    for (const list of [[], null]) {
      const body = { ...BASE, main_contact: id, contact_ids: list, company_ids: list };
      expect(await api.create('interactions', body)).toMatchObject({
        contact_ids: [id],
        company_ids: [company_id],
      });
    }
  });

  test('come with a contact that is created too', async () => {
    const [other, company] = [await contactWith(), await api.create('companies')];
    const body = { ...BASE, main_contact_email: uniqueEmail(), contact_ids: [other.id] };
    const alone = await api.create('interactions', { ...body, company_ids: [company.id] });
    const { main_contact, contact_ids, company_ids } = alone;
    expect([contact_ids, company_ids]).toEqual([[main_contact, other.id].sort(), [company.id]]);
    const { is_duplicate, ...shown } = alone;
    expect(await api.fetch('interactions', alone.id)).toEqual(shown);
    const companyOnly = { ...BASE, main_contact_email: uniqueEmail(), company_ids: [company.id] };
    expect((await api.create('interactions', companyOnly)).company_ids).toEqual([company.id]);
  });

  test('move last_interaction_at of everyone forward, never back', async () => {
    const [later, earlier] = [await contactWith(), await contactWith()];
    const [main, company] = [await contactWith(), await api.create('companies')];
    await api.create('interactions', { ...BASE, main_contact: later.id, interaction_date: 9_000 });
    await api.create('interactions', { ...BASE, main_contact: earlier.id, interaction_date: 1_000 });
    const lists = { contact_ids: [later.id, earlier.id], company_ids: [company.id] };
    const unmoved = await api.fetch('contacts', later.id);
    harness.clock.now += 1_000;
    const { created_at } = await api.create('interactions', {
      ...{ ...BASE, main_contact: main.id, interaction_date: 5_000 },
      ...lists,
    });
    // Who has a later one is not touched at all.
    expect(await api.fetch('contacts', later.id)).toEqual(unmoved);
    for (const [resource, { id }] of [
      ['contacts', main],
      ['contacts', earlier],
      ['companies', company],
    ] as const) {
      const { last_interaction_at, updated_at } = await api.fetch(resource, id);
      expect([last_interaction_at, updated_at]).toEqual([rfc3339(5_000), created_at]);
    }
    await api.create('interactions', { ...BASE, main_contact: main.id, interaction_date: 4_000, ...lists });
    expect([await lastOf('contacts', earlier.id), await lastOf('companies', company.id)]).toEqual([
      rfc3339(5_000),
      rfc3339(5_000),
    ]);
  });

  test('are found by each of those involved', async () => {
    const [main, other, company] = [await contactWith(), await contactWith(), await api.create('companies')];
    const body = { ...BASE, main_contact: main.id, contact_ids: [other.id], company_ids: [company.id] };
    const { id } = await api.create('interactions', body);
    for (const filter of [
      `contact_id=${main.id}`,
      `contact_id=${other.id}`,
      `company_id=${company.id}`,
      `contact_id=${other.id}&company_id=${company.id}&type=EMAIL`,
    ])
      expect(await api.ids(`/interactions?${filter}`)).toEqual([id]);
  });

  test('are duplicates regardless of the lists: the first stays as it is', async () => {
    const [main, first, second] = [await contactWith(), await contactWith(), await contactWith()];
    const company = await api.create('companies');
    for (const identity of [
      { primary_id: Bun.randomUUIDv7(), interaction_date: 1_000 },
      { interaction_date: 2_000 },
    ]) {
      const body = { ...BASE, main_contact: main.id, ...identity };
      const original = await api.create('interactions', { ...body, contact_ids: [first.id] });
      for (const lists of [{}, { contact_ids: [second.id], company_ids: [company.id] }]) {
        const again = await api.create('interactions', { ...body, ...lists });
        expect(again).toEqual({ ...original, is_duplicate: true });
      }
    }
    expect(await lastOf('contacts', second.id)).toBeNull();
    expect(await lastOf('companies', company.id)).toBeNull();
  });

  test('take 100 of each, and a list with 101 is refused', async () => {
    const created = async (resource: string) => {
      const bodies = Array.from({ length: 100 }, (_, index) => ({ [NAMES[resource] ?? '']: `N${index}` }));
      const { items } = (await api.post(`/${resource}/batch`, bodies)).body.data;
      return items.map(({ data }: Json) => data.id).sort();
    };
    const NAMES: Record<string, string> = { contacts: 'first_name', companies: 'name' };
    const [contact_ids, company_ids] = [await created('contacts'), await created('companies')];
    const main = await contactWith();
    const body = { ...BASE, main_contact: main.id, interaction_date: 7_000, contact_ids, company_ids };
    const made = await api.create('interactions', body);
    expect(made).toMatchObject({ contact_ids: [...contact_ids, main.id].sort(), company_ids });
    const rows = await Promise.all([
      ...contact_ids.map((id: string) => lastOf('contacts', id)),
      ...company_ids.map((id: string) => lastOf('companies', id)),
    ]);
    expect(new Set(rows)).toEqual(new Set([rfc3339(7_000)]));
    for (const [field, list] of Object.entries({ contact_ids, company_ids })) {
      const reply = await api.post('/interactions', { ...body, [field]: [...list, list[0]] });
      expectFault(reply, 'VALIDATION_OUT_OF_RANGE', field);
      expect(reply.body.error.message).toContain('must have at most 100 items');
    }
  });

  test('every ID that is of no visible record is reported at its place, and nothing is written', async () => {
    const main = await contactWith();
    const body = {
      ...{ ...BASE, company_ids: ['absent'], main_contact: main.id },
      contact_ids: [main.id, main.id, main.id, 'absent', main.id, 'absent'],
    };
    const reply = await api.post('/interactions', body);
    expectError(reply, 422, 'VALIDATION_FAILED', 'company_ids.0', 'contact_ids.3', 'contact_ids.5');
    expect(reply.body.error.details.map(({ path, message }: Json) => [path, message])).toEqual([
      ['company_ids.0', 'must be the ID of an existing company'],
      ['contact_ids.3', 'must be the ID of an existing contact'],
      ['contact_ids.5', 'must be the ID of an existing contact'],
    ]);
    expect(await lastOf('contacts', main.id)).toBeNull();
    expect(await api.list(`/interactions?contact_id=${main.id}`)).toEqual([]);
  });

  test('a bad item of a batch affects no other', async () => {
    const [main, other] = [await contactWith(), await contactWith()];
    const item = { ...BASE, main_contact: main.id, contact_ids: [other.id] };
    const { items, summary } = (
      await api.post('/interactions/batch', [item, { ...item, contact_ids: [other.id, 'x'] }, item])
    ).body.data;
    expect(summary).toEqual({ total: 3, succeeded: 2, failed: 1 });
    expect(items[1].error.details).toEqual([
      { path: 'contact_ids.1', message: expect.any(String), code: 'VALIDATION_FAILED' },
    ]);
    for (const { data } of [items[0], items[2]]) expect(data.contact_ids).toEqual([main.id, other.id].sort());
  });

  test('with a key bound to a user, all of them must be visible to it; the company of the main contact is added in any case', async () => {
    const alice = await api.withKey({ userId: harness.alice });
    const company = await api.create('companies', { name: 'Hidden', owner_id: harness.bob });
    const hidden = await contactWith({ owner_id: harness.bob });
    const own = await contactWith({ owner_id: harness.alice, company_id: company.id });
    const body = { ...BASE, main_contact: own.id };
    expectFault(
      await alice.post('/interactions', { ...body, contact_ids: [own.id, hidden.id] }),
      'VALIDATION_FAILED',
      'contact_ids.1',
    );
    expectFault(
      await alice.post('/interactions', { ...body, company_ids: [company.id] }),
      'VALIDATION_FAILED',
      'company_ids.0',
    );
    const made = await alice.create('interactions', { ...body, contact_ids: [own.id] });
    expect(made).toMatchObject({ contact_ids: [own.id], company_ids: [company.id] });
  });

  test('who is deleted is left out from then on', async () => {
    const [main, other, company] = [await contactWith(), await contactWith(), await api.create('companies')];
    const body = { ...BASE, main_contact: main.id, contact_ids: [other.id], company_ids: [company.id] };
    const { id } = await api.create('interactions', body);
    await api.del(`/contacts/${main.id}`);
    await api.del(`/companies/${company.id}`);
    expect(await api.fetch('interactions', id)).toMatchObject({
      ...{ main_contact: null, contact_ids: [other.id], company_ids: [] },
    });
  });
});
