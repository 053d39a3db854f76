// v1 people found: queries with filters and pages, ids that are nobody's, and people seen as contacts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectEnvelope } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import {
  dataOf,
  foreignKey,
  mail,
  type People,
  peopleOf,
  refusedAs,
  type V1Client,
  v1ClientOf,
  WHOLE_PERSON,
} from '../support/v1.ts';

let harness: Harness;
let foreign = '';
let v1: V1Client['v1'];
let v2: V1Client['v2'];
let shown: V1Client['shown'];
let create: People['create'];
let upsert: People['upsert'];
beforeAll(async () => {
  harness = await startHarness();
  foreign = await foreignKey(harness);
  const client = v1ClientOf(harness);
  ({ v1, v2, shown } = client);
  ({ create, upsert } = peopleOf(client));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';

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

describe('absent people', () => {
  test('are a 404, whatever the id looks like, and so are those of others', async () => {
    const { id } = await create();
    const odd = ['absent', '0', '%00', '%zz', '..%2f', 'x'.repeat(2_000), crypto.randomUUID(), `${id}0`];
    for (const [path, key] of [...odd.map((one) => [one]), [id, foreign], [id.toUpperCase()]]) {
      for (const [method, body] of [['GET'], ['PATCH', { title: 'x' }], ['DELETE']] as const)
        refusedAs(await v1(method, `/people/${path}`, body, key), 404, 'RESOURCE_NOT_FOUND');
    }
    expect((await shown(`/people/${id}`)).id).toBe(id);
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

describe('people are contacts', () => {
  test('what v1 writes v2 shows', async () => {
    const person = await upsert({ email: mail(), altEmails: [mail()], ...WHOLE_PERSON });
    const contact = (await v2('GET', `/contacts/${person.id}`)).body.data;
    expect(contact).toMatchObject({
      id: person.id,
      email: person.email,
      alt_emails: person.altEmails,
      first_name: 'Ada',
      personal_phone: WHOLE_PERSON.personalPhone,
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
    expect(await shown(`/people/${contact.id}`)).toEqual({
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
