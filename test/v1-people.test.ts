// v1 people: every row of their table, over the contacts of v2.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectEnvelope, expectRefusal } from './support/envelope.ts';
import { BASE_URL, type Harness, type Json, type Reply, startHarness } from './support/harness.ts';

let harness: Harness;
let foreign = '';
let count = 0;
beforeAll(async () => {
  harness = await startHarness();
  foreign = (await harness.issue({ api: 'v1', orgId: harness.otherOrgId })).key;
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';
const v1 = (method: string, path: string, body?: Json, key?: string) =>
  harness.send(method, `/api/v1${path}`, { body, key });
const v2 = (method: string, path: string, body?: Json) => harness.send(method, `/api/v2${path}`, { body });

function dataOf(reply: Reply, status: number): Json {
  expect([reply.status, reply.body?.error]).toEqual([status, undefined]);
  expectEnvelope(reply, 'success', '1');
  return reply.body.data;
}

function mail(name = 'p'): string {
  count += 1;
  return `${name}${count}@people.test`;
}

const create = async (fields: Json = {}): Promise<Json> =>
  dataOf(
    await v1('POST', '/people', { type: 'email', identifier: mail(), firstName: 'Ada', ...fields }),
    201,
  );
const upsert = async (fields: Json): Promise<Json> => dataOf(await v1('PUT', '/people', fields), 200);
const fetched = async (id: string): Promise<Json> => dataOf(await v1('GET', `/people/${id}`), 200);
const refusedAs = (reply: Reply, status: number, code: string, ...paths: string[]) =>
  expectRefusal(reply, status, code, paths.length === 0 ? undefined : paths.map((path) => [path, code]), '1');

const FULL = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  title: 'Countess',
  phone: '+44 20 7946 0000',
  personalPhone: '+44 7700 900000',
  linkedin: 'in/ada',
  twitter: '@ada',
  facebook: 'ada',
  instagram: '@ada.l',
  whatsapp: '+44 7700 900001',
  remarks: 'Met at the Society.',
};

describe('POST /people', () => {
  test('creates, and shows only what is set', async () => {
    const email = mail('New');
    const reply = await v1('POST', '/people', { type: 'email', identifier: email, firstName: 'Ada' });
    const person = dataOf(reply, 201);
    expect(person).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email,
      firstName: 'Ada',
      createdBy: expect.any(String),
      creationTime: new Date(harness.clock.now).toISOString(),
    });
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v1/people/${person.id}`);
    expect(await fetched(person.id)).toEqual(person);
  });

  test('takes lastName and title', async () => {
    const person = await create({ lastName: 'King', title: 'Countess' });
    expect(person).toMatchObject({ lastName: 'King', title: 'Countess' });
  });

  test('an email in use, primary or alternative, in any case, is a 409 that shows nothing of its owner', async () => {
    const [email, alt] = [mail('Primary'), mail('Alt')];
    await upsert({ email, altEmails: [alt], lastName: 'Hidden' });
    for (const identifier of [email, email.toUpperCase(), alt, alt.toLowerCase()]) {
      const reply = await v1('POST', '/people', { type: 'email', identifier, firstName: 'B' });
      refusedAs(reply, 409, 'RESOURCE_CONFLICT', 'identifier');
      expect(reply.text).not.toContain('Hidden');
    }
    expect(
      (await v1('POST', '/people', { type: 'email', identifier: email, firstName: 'B' }, foreign)).status,
    ).toBe(201);
  });

  for (const body of [
    { identifier: 'a@b.co', firstName: 'A' },
    { type: 'email', firstName: 'A' },
    { type: 'email', identifier: 'a@b.co' },
  ]) {
    test(`needs all of type, identifier and firstName: ${Object.keys(body).join()}`, async () => {
      const missing = ['type', 'identifier', 'firstName'].find((name) => !(name in body)) ?? '';
      refusedAs(await v1('POST', '/people', body), 422, 'VALIDATION_REQUIRED_FIELD', missing);
    });
  }

  for (const name of [
    ...Object.keys(FULL).slice(3),
    'email',
    'altEmails',
    'companyId',
    'owner',
    'id',
    'custom',
  ]) {
    test(`takes no ${name}`, async () => {
      const body = { type: 'email', identifier: mail(), firstName: 'A', [name]: 'x' };
      refusedAs(await v1('POST', '/people', body), 422, FAILED, name);
    });
  }
});

describe('PUT /people', () => {
  test('creates with every field, and takes it back as it was', async () => {
    const person = { email: mail(), altEmails: [mail(), mail()], ...FULL };
    const created = await upsert(person);
    expect(created).toEqual({
      ...person,
      id: expect.any(String),
      createdBy: expect.any(String),
      creationTime: expect.any(String),
    });
    expect(await upsert(person)).toEqual(created);
    expect(await fetched(created.id)).toEqual(created);
  });

  test('merges: only what is present changes', async () => {
    const email = mail();
    const { id } = await upsert({ email, ...FULL });
    const merged = await upsert({ email, title: 'Analyst', altEmails: ['other@merge.test'] });
    expect(merged).toMatchObject({ id, email, ...FULL, title: 'Analyst', altEmails: ['other@merge.test'] });
    expect(await upsert({ email })).toEqual(merged);
  });

  test('finds by an alternative email, in any case; the primary stays what it was', async () => {
    const [email, alt] = [mail('Main'), mail('Second')];
    const { id } = await upsert({ email, altEmails: [alt] });
    for (const spelling of [alt, alt.toUpperCase(), email.toUpperCase()]) {
      expect(await upsert({ email: spelling, firstName: spelling })).toMatchObject({
        id,
        email,
        altEmails: [alt],
        firstName: spelling,
      });
    }
    expect((await v1('POST', '/people/query', { filter: { email } })).body.data).toHaveLength(1);
  });

  test('an alternative email of somebody else is a 422, in a create and in a merge', async () => {
    const taken = mail();
    await upsert({ email: taken });
    const own = mail();
    for (let round = 0; round < 2; round++) {
      const reply = await v1('PUT', '/people', {
        email: own,
        altEmails: ['free@alt.test', taken.toUpperCase()],
      });
      refusedAs(reply, 422, FAILED, 'altEmails.1');
      if (round === 0) await upsert({ email: own });
    }
    expect((await v1('POST', '/people/query', { filter: { email: 'free@alt.test' } })).body.data).toEqual([]);
  });

  test('needs an email and knows no other fields', async () => {
    refusedAs(await v1('PUT', '/people', { firstName: 'A' }), 422, 'VALIDATION_REQUIRED_FIELD', 'email');
    refusedAs(await v1('PUT', '/people', { email: mail(), type: 'email' }), 422, FAILED, 'type');
    refusedAs(await v1('PUT', '/people', { email: mail(), firstName: null }), 422, FAILED, 'firstName');
  });

  test('other organizations are not touched', async () => {
    const email = mail();
    const own = await upsert({ email, lastName: 'Ours' });
    const other = dataOf(await v1('PUT', '/people', { email, firstName: 'Theirs' }, foreign), 200);
    expect(other.id).not.toBe(own.id);
    expect(JSON.stringify(other)).not.toContain('Ours');
  });
});

describe('PATCH /people/{personId}', () => {
  test('changes what is present', async () => {
    const { id, ...before } = await create();
    const patched = dataOf(
      await v1('PATCH', `/people/${id}`, { title: 'CTO', altEmails: ['x@patch.test'] }),
      200,
    );
    expect(patched).toEqual({ id, ...before, title: 'CTO', altEmails: ['x@patch.test'] });
    const email = mail();
    expect(dataOf(await v1('PATCH', `/people/${id}`, { email, altEmails: [] }), 200)).toEqual({
      id,
      ...before,
      email,
      title: 'CTO',
    });
    expect(dataOf(await v1('PATCH', `/people/${id}`, {}), 200)).toMatchObject({ email, title: 'CTO' });
  });

  test('its own emails can change places', async () => {
    const [email, alt] = [mail(), mail()];
    const { id } = await upsert({ email, altEmails: [alt] });
    const swapped = dataOf(await v1('PATCH', `/people/${id}`, { email: alt, altEmails: [email] }), 200);
    expect(swapped).toMatchObject({ email: alt, altEmails: [email] });
  });

  test('an email in use is a 422, never a 409', async () => {
    const [taken, alt] = [mail(), mail()];
    await upsert({ email: taken, altEmails: [alt] });
    const { id } = await create();
    for (const [body, path] of [
      [{ email: taken.toUpperCase() }, 'email'],
      [{ email: alt }, 'email'],
      [{ altEmails: ['mine@patch.test', taken] }, 'altEmails.1'],
    ] as const) {
      refusedAs(await v1('PATCH', `/people/${id}`, body), 422, FAILED, path);
    }
    expect((await fetched(id)).altEmails).toBeUndefined();
  });

  test('knows no other fields, and no null', async () => {
    const { id } = await create();
    for (const body of [
      { companyId: 'x' },
      { owner: 'x' },
      { id: 'x' },
      { creationTime: 'x' },
      { first_name: 'x' },
    ])
      refusedAs(await v1('PATCH', `/people/${id}`, body), 422, FAILED, Object.keys(body)[0] ?? '');
    for (const name of ['title', 'email', 'altEmails'])
      refusedAs(await v1('PATCH', `/people/${id}`, { [name]: null }), 422, FAILED, name);
  });
});

describe('absent people', () => {
  test('are a 404, whatever the id looks like, and so are those of others', async () => {
    const { id } = await create();
    const odd = ['absent', '0', '%00', '%zz', '..%2f', 'x'.repeat(2_000), crypto.randomUUID(), `${id}0`];
    for (const [path, key] of [...odd.map((one) => [one]), [id, foreign], [id.toUpperCase()]]) {
      for (const [method, body] of [['GET'], ['PATCH', { title: 'x' }], ['DELETE']] as const)
        refusedAs(await v1(method, `/people/${path}`, body, key), 404, 'RESOURCE_NOT_FOUND');
    }
    expect((await fetched(id)).id).toBe(id);
  });

  test('a deleted one is gone from both versions, and its email is free', async () => {
    const person = await create();
    const gone = await v1('DELETE', `/people/${person.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE'])
      refusedAs(await v1(method, `/people/${person.id}`), 404, 'RESOURCE_NOT_FOUND');
    expect((await v2('GET', `/contacts/${person.id}`)).status).toBe(404);
    expect((await create({ identifier: person.email })).id).not.toBe(person.id);
  });
});

describe('POST /people/query', () => {
  const names = async (body: Json): Promise<string[]> => {
    const reply = await v1('POST', '/people/query', body);
    expectEnvelope(reply, 'list', '1');
    return reply.body.data.map((one: Json) => one.firstName);
  };

  test('filters, alone and together', async () => {
    const company = dataOf(await v1('POST', '/companies', { domain: 'query.test' }), 201).id;
    const [email, alt] = [mail('Find'), mail('Other')];
    const made = { first_name: 'Found', email, alt_emails: [alt], phone: '1', personal_phone: '2' };
    await v2('POST', '/contacts', { ...made, company_id: company, owner_id: harness.bob });
    await v2('POST', '/contacts', { first_name: 'Colleague', company_id: company, phone: '2' });
    const rows: [Json, string[]][] = [
      [{ email: email.toUpperCase() }, ['Found']],
      [{ email: alt }, ['Found']],
      [{ phone: '1' }, ['Found']],
      [{ phone: '2' }, ['Colleague', 'Found']],
      [{ companyId: company }, ['Colleague', 'Found']],
      [{ owner: harness.bob }, ['Found']],
      [{ companyId: company, owner: harness.bob, email }, ['Found']],
      [{ companyId: company, owner: harness.alice }, []],
      [{ companyId: 'absent' }, []],
      [{ owner: '' }, []],
      [{ phone: "1' OR 1=1" }, []],
    ];
    for (const [filter, expected] of rows)
      expect([filter, await names({ filter })]).toEqual([filter, expected]);
    expect((await v1('POST', '/people/query', { filter: { email } }, foreign)).body.data).toEqual([]);
    expect(await names({ filter: {}, limit: 1 })).toEqual(['Colleague']);
  });

  test('pages: 20 by default, 100 at most, newest first, by cursor', async () => {
    const pages = await startHarness();
    const items = Array.from({ length: 105 }, (_, index) => ({ first_name: `P${index}` }));
    for (const part of [items.slice(0, 60), items.slice(60)])
      await pages.send('POST', '/api/v2/contacts/batch', { body: part });
    const query = async (body: Json) => (await pages.send('POST', '/api/v1/people/query', { body })).body;
    const newest = items.map((one) => one.first_name).toReversed();
    const first = await query({});
    expect(first.data.map((one: Json) => one.firstName)).toEqual(newest.slice(0, 20));
    expect(first.page_info).toEqual({ has_next_page: true, end_cursor: expect.any(String) });
    const rest = await query({ limit: 100, cursor: first.page_info.end_cursor });
    expect(rest.data.map((one: Json) => one.firstName)).toEqual(newest.slice(20));
    expect(rest.page_info.has_next_page).toBe(false);
    expect((await query({ limit: 100 })).data).toHaveLength(100);
    expect((await query({ limit: 1 })).data).toHaveLength(1);
    await pages.close();
  });

  test('a limit beyond 1..100 and faults of type are refused', async () => {
    const rows: [Json, string, string][] = [
      [{ limit: 0 }, 'VALIDATION_OUT_OF_RANGE', 'limit'],
      [{ limit: 101 }, 'VALIDATION_OUT_OF_RANGE', 'limit'],
      [{ limit: -1 }, 'VALIDATION_OUT_OF_RANGE', 'limit'],
      [{ limit: 1.5 }, FAILED, 'limit'],
      [{ limit: '20' }, FAILED, 'limit'],
      [{ limit: null }, FAILED, 'limit'],
      [{ cursor: '' }, 'VALIDATION_INVALID_FORMAT', 'cursor'],
      [{ cursor: 'x' }, 'VALIDATION_INVALID_FORMAT', 'cursor'],
      [{ cursor: 5 }, FAILED, 'cursor'],
      [{ filter: [] }, FAILED, 'filter'],
      [{ filter: 'x' }, FAILED, 'filter'],
      [{ filter: { email: 5 } }, FAILED, 'filter.email'],
      [{ filter: { email: null } }, FAILED, 'filter.email'],
      [{ filter: { firstName: 'A' } }, FAILED, 'filter.firstName'],
      [{ filter: { company_id: 'A' } }, FAILED, 'filter.company_id'],
      [{ filter: { toString: 'A' } }, FAILED, 'filter.toString'],
      [{ filters: {} }, FAILED, 'filters'],
      [{ page: 2 }, FAILED, 'page'],
    ];
    for (const [body, code, path] of rows)
      refusedAs(await v1('POST', '/people/query', body), 422, code, path);
  });

  test('a cursor belongs to its filter and its organization', async () => {
    await create();
    await create();
    const { end_cursor: cursor } = (await v1('POST', '/people/query', { limit: 1 })).body.page_info;
    expect((await v1('POST', '/people/query', { cursor, limit: 50 })).status).toBe(200);
    const code = 'VALIDATION_INVALID_FORMAT';
    refusedAs(await v1('POST', '/people/query', { cursor, filter: { phone: '1' } }), 422, code, 'cursor');
    refusedAs(await v1('POST', '/people/query', { cursor }, foreign), 422, code, 'cursor');
    refusedAs(await v1('POST', '/interactions/query', { cursor }), 422, code, 'cursor');
    expect((await v2('GET', `/contacts?cursor=${cursor}`)).status).toBe(422);
  });
});

describe('people are contacts', () => {
  test('what v1 writes v2 shows', async () => {
    const person = await upsert({ email: mail(), altEmails: [mail()], ...FULL });
    const contact = (await v2('GET', `/contacts/${person.id}`)).body.data;
    expect(contact).toMatchObject({
      id: person.id,
      email: person.email,
      alt_emails: person.altEmails,
      first_name: 'Ada',
      personal_phone: FULL.personalPhone,
      company_id: null,
      owner_id: null,
      keep_in_touch: false,
      custom: {},
      created_at: person.creationTime,
      created_by: person.createdBy,
      last_interaction_at: null,
    });
  });

  test('what v2 writes v1 shows, in its own names and without what is unset', async () => {
    const company = (await v2('POST', '/companies', { name: 'Engines' })).body.data.id;
    const email = mail();
    const body = { email, last_name: 'B', company_id: company, owner_id: harness.alice, custom: { tier: 1 } };
    const contact = (await v2('POST', '/contacts', body)).body.data;
    const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact: contact.id };
    await v2('POST', '/interactions', { ...interaction, interaction_date: 1_700_000_000_000 });
    expect(await fetched(contact.id)).toEqual({
      id: contact.id,
      email,
      lastName: 'B',
      companyId: company,
      owner: harness.alice,
      createdBy: contact.created_by,
      creationTime: contact.created_at,
      lastInteraction: '2023-11-14T22:13:20.000Z',
    });
  });

  test('a v1 PUT of an email that v2 made updates that contact', async () => {
    const [email, alt] = [mail(), mail()];
    const made = { email, alt_emails: [alt], keep_in_touch: true, custom: { a: 1 } };
    const contact = (await v2('POST', '/contacts', made)).body.data;
    harness.clock.now += 1_000;
    await upsert({ email: alt, phone: '5' });
    const after = (await v2('GET', `/contacts/${contact.id}`)).body.data;
    expect(after).toEqual({ ...contact, phone: '5', updated_at: new Date(harness.clock.now).toISOString() });
  });
});
