// v1 interactions and authenticate: their rows, over the interactions of v2.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectEnvelope, expectRefusal } from './support/envelope.ts';
import { BASE_URL, type Harness, type Json, type Reply, startHarness } from './support/harness.ts';

let harness: Harness;
let foreign = '';
let contact = '';
let count = 0;
beforeAll(async () => {
  harness = await startHarness();
  foreign = (await harness.issue({ api: 'v1', orgId: harness.otherOrgId })).key;
  contact = (await v2('POST', '/contacts', { email: 'main@contact.test' })).body.data.id;
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

function unique(name: string): string {
  count += 1;
  return `${name}-${count}`;
}

const LEAST = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' };
const send = (fields: Json = {}, key?: string) =>
  v1('POST', '/interactions', { ...LEAST, mainContact: contact, ...fields }, key);
const log = async (fields: Json = {}): Promise<Json> => dataOf(await send(fields), 201);
const shown = async (id: string): Promise<Json> => dataOf(await v1('GET', `/interactions/${id}`), 200);
const refusedAs = (reply: Reply, status: number, code: string, ...paths: string[]) =>
  expectRefusal(reply, status, code, paths.length === 0 ? undefined : paths.map((path) => [path, code]), '1');
const contactsOf = async (email: string): Promise<Json[]> =>
  (await v2('GET', `/contacts?email=${encodeURIComponent(email)}`)).body.data;

describe('GET /authenticate', () => {
  test('tells the name of the organization, to a key with ALL itself', async () => {
    expect(dataOf(await v1('GET', '/authenticate'), 200)).toEqual({ team_name: 'Acme' });
    expect(dataOf(await v1('GET', '/authenticate', undefined, foreign), 200)).toEqual({ team_name: 'Other' });
    const scopes = ['people:read', 'people:write', 'companies:read', 'companies:write'];
    const { key } = await harness.issue({ api: 'v1', scopes: [...scopes, 'companies:remove'] });
    const reply = await v1('GET', '/authenticate', undefined, key);
    expect(refusedAs(reply, 403, 'AUTH_INSUFFICIENT_SCOPE').message).toContain('ALL');
    expect(reply.text).not.toContain('Acme');
  });
});

describe('POST /interactions', () => {
  test('creates, and answers with id and isDuplicate', async () => {
    const reply = await send({ summary: 'Long', interactionDate: 1_700_000_000_123 });
    const data = dataOf(reply, 201);
    expect(data).toEqual({ id: expect.any(String), isDuplicate: false });
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v1/interactions/${data.id}`);
    expect(await shown(data.id)).toMatchObject({
      id: data.id,
      type: 'EMAIL',
      direction: 'INBOUND',
      title: 'Hello',
      summary: 'Long',
      createdBy: expect.any(String),
      interactionDate: '2023-11-14T22:13:20.123Z',
      creationTime: new Date(harness.clock.now).toISOString(),
    });
  });

  test('without a date it happened now, and what is unset is left out', async () => {
    const { id } = await log();
    const interaction = await shown(id);
    expect(interaction.interactionDate).toBe(new Date(harness.clock.now).toISOString());
    expect('summary' in interaction).toBe(false);
    expect(Object.values(interaction)).not.toContain(null);
  });

  const types =
    'DIRECT_MESSAGE EMAIL MEETING MEMO BOOKING_CREATED BOOKING_CANCELLED MANUAL API_EVENT VOICE_NOTE';
  test('takes every type and direction, and no other', async () => {
    for (const type of types.split(' ')) expect((await send({ type })).status).toBe(201);
    for (const direction of ['INBOUND', 'OUTBOUND', 'HYBRID', 'INTERNAL', 'EVENT'])
      expect((await send({ direction })).status).toBe(201);
    for (const type of ['CALL', 'email', '', null, 5]) refusedAs(await send({ type }), 422, FAILED, 'type');
    for (const direction of ['BOTH', 'inbound', null])
      refusedAs(await send({ direction }), 422, FAILED, 'direction');
  });

  test('needs type, direction and title', async () => {
    for (const name of Object.keys(LEAST))
      refusedAs(await send({ [name]: undefined }), 422, 'VALIDATION_REQUIRED_FIELD', name);
    expect((await send({ title: '' })).status).toBe(201);
  });

  test('needs exactly one of mainContact and mainContactEmail', async () => {
    const none = await send({ mainContact: undefined });
    refusedAs(none, 422, 'VALIDATION_REQUIRED_FIELD', 'mainContact');
    expect(none.text).not.toContain('main_contact');
    const both = await send({ mainContactEmail: 'main@contact.test' });
    refusedAs(both, 422, FAILED, 'mainContactEmail');
    expect(both.text).not.toContain('main_contact');
  });

  test('refuses what is not a field, of its type or within its length', async () => {
    const rows: [Json, string, string][] = [
      [{ contactId: 'x' }, FAILED, 'contactId'],
      [{ main_contact: 'x' }, FAILED, 'main_contact'],
      [{ id: 'x' }, FAILED, 'id'],
      [{ title: 5 }, FAILED, 'title'],
      [{ summary: null }, FAILED, 'summary'],
      [{ primaryId: 5 }, FAILED, 'primaryId'],
      [{ interactionDate: '2026-01-01' }, FAILED, 'interactionDate'],
      [{ interactionDate: null }, FAILED, 'interactionDate'],
      [{ interactionDate: 1e16 }, 'VALIDATION_OUT_OF_RANGE', 'interactionDate'],
      [{ title: 'x'.repeat(1_001) }, 'VALIDATION_OUT_OF_RANGE', 'title'],
      [{ summary: 'x'.repeat(10_001) }, 'VALIDATION_OUT_OF_RANGE', 'summary'],
      [
        { mainContact: undefined, mainContactEmail: 'nobody' },
        'VALIDATION_INVALID_FORMAT',
        'mainContactEmail',
      ],
    ];
    for (const [fields, code, path] of rows) refusedAs(await send(fields), 422, code, path);
  });

  test('a contact that is not there, or of another organization, is a 422 in the same words', async () => {
    const absent = refusedAs(await send({ mainContact: 'absent' }), 422, FAILED, 'mainContact');
    expect(refusedAs(await send({}, foreign), 422, FAILED, 'mainContact')).toEqual(absent);
  });

  test('a date with a fraction is kept to the millisecond', async () => {
    const { id } = await log({ interactionDate: 1_700_000_000_123.9 });
    expect((await shown(id)).interactionDate).toBe('2023-11-14T22:13:20.123Z');
  });
});

describe('mainContactEmail', () => {
  const byEmail = (mainContactEmail: string, fields: Json = {}, key?: string) =>
    send({ mainContact: undefined, mainContactEmail, ...fields }, key);

  test('finds by primary and alternative email, in any case', async () => {
    const [email, alt] = [`${unique('Found')}@i.test`, `${unique('Alt')}@i.test`];
    const { id } = (await v2('POST', '/contacts', { email, alt_emails: [alt] })).body.data;
    for (const spelling of [email, email.toUpperCase(), alt.toLowerCase()]) {
      const interaction = dataOf(await byEmail(spelling), 201).id;
      expect((await v2('GET', `/interactions/${interaction}`)).body.data.main_contact).toBe(id);
    }
    expect(await contactsOf(email)).toHaveLength(1);
  });

  test('makes the contact where the key may', async () => {
    const both = ['interactions:write', 'people:write'];
    for (const scopes of [['ALL'], both]) {
      const { key } = await harness.issue({ api: 'v1', scopes });
      const email = `${unique('New')}@i.test`;
      dataOf(await byEmail(email, {}, key), 201);
      expect(await contactsOf(email)).toMatchObject([{ email, last_interaction_at: expect.any(String) }]);
    }
  });

  test('refuses where it may not, and makes nothing', async () => {
    const { key } = await harness.issue({ api: 'v1', scopes: ['interactions:write', 'people:read'] });
    const email = `${unique('never')}@i.test`;
    refusedAs(await byEmail(email, {}, key), 422, FAILED, 'mainContactEmail');
    expect(await contactsOf(email)).toEqual([]);
    expect((await byEmail('main@contact.test', {}, key)).status).toBe(201);
  });

  test('a duplicate makes no contact', async () => {
    const primaryId = unique('message');
    const { id } = await log({ primaryId });
    const email = `${unique('never')}@i.test`;
    expect(dataOf(await byEmail(email, { primaryId }), 201)).toEqual({ id, isDuplicate: true });
    expect(await contactsOf(email)).toEqual([]);
  });
});

describe('duplicates', () => {
  const totalOf = async () => (await v1('POST', '/interactions/query', { limit: 21 })).body.data[0].id;

  test('by type, primaryId and secondaryId, whatever else differs', async () => {
    const primaryId = unique('message');
    const first = await log({ primaryId, title: 'One' });
    const newest = await totalOf();
    const again = await send({ primaryId, title: 'Two', direction: 'OUTBOUND', interactionDate: 5 });
    expect(dataOf(again, 201)).toEqual({ id: first.id, isDuplicate: true });
    expect(again.headers.get('Location')).toBe(`${BASE_URL}/api/v1/interactions/${first.id}`);
    expect([await totalOf(), (await shown(first.id)).title]).toEqual([newest, 'One']);
    const others = [
      { type: 'MEMO', primaryId },
      { primaryId, secondaryId: 's' },
      { primaryId: unique('other') },
    ];
    for (const fields of others) expect((await log(fields)).isDuplicate).toBe(false);
    expect((await log({ primaryId, secondaryId: 's' })).isDuplicate).toBe(true);
    expect((await log({ primaryId })).id).toBe(first.id);
  });

  test('without primaryId by contact, type, direction, title and a date that is given', async () => {
    const fields = { title: unique('Title'), interactionDate: 1_700_000_000_000 };
    const first = await log(fields);
    expect(await log({ ...fields, summary: 'Other' })).toEqual({ id: first.id, isDuplicate: true });
    const other = (await v2('POST', '/contacts', { first_name: 'Other' })).body.data.id;
    for (const change of [
      { mainContact: other },
      { type: 'MEMO' },
      { direction: 'OUTBOUND' },
      { title: unique('Title') },
      { interactionDate: 1_700_000_000_001 },
      { primaryId: unique('message') },
    ]) {
      expect((await log({ ...fields, ...change })).isDuplicate).toBe(false);
    }
    const undated = { title: unique('Title') };
    for (let round = 0; round < 2; round++) expect((await log(undated)).isDuplicate).toBe(false);
  });

  test('two at once are one', async () => {
    const primaryId = unique('message');
    const replies = await Promise.all(Array.from({ length: 10 }, () => log({ primaryId })));
    expect(new Set(replies.map((reply) => reply.id)).size).toBe(1);
    expect(replies.filter((reply) => reply.isDuplicate)).toHaveLength(9);
  });

  test('organizations have their own', async () => {
    const primaryId = unique('message');
    await log({ primaryId });
    const email = { mainContact: undefined, mainContactEmail: 'main@contact.test' };
    expect(dataOf(await send({ primaryId, ...email }, foreign), 201).isDuplicate).toBe(false);
  });
});

describe('POST /interactions/query', () => {
  const query = async (body: Json): Promise<Json> => {
    const reply = await v1('POST', '/interactions/query', body);
    expectEnvelope(reply, 'list', '1');
    return reply.body;
  };

  test('filters by contact and company', async () => {
    const company = (await v2('POST', '/companies', { name: 'C' })).body.data.id;
    const person = (await v2('POST', '/contacts', { first_name: 'P', company_id: company })).body.data.id;
    const { id } = await log({ mainContact: person });
    for (const filter of [
      { contactId: person },
      { companyId: company },
      { contactId: person, companyId: company },
    ])
      expect((await query({ filter })).data.map((one: Json) => one.id)).toEqual([id]);
    expect((await query({ filter: { contactId: 'absent' } })).data).toEqual([]);
    expect((await query({ filter: { contactId: contact, companyId: company } })).data).toEqual([]);
    const reply = await v1('POST', '/interactions/query', { filter: { contactId: person } }, foreign);
    expect(reply.body.data).toEqual([]);
  });

  test('pages: 20 by default, 21 at most', async () => {
    const person = (await v2('POST', '/contacts', { first_name: 'P' })).body.data.id;
    const items = Array.from({ length: 45 }, (_, index) => ({
      ...LEAST,
      title: `I${index}`,
      main_contact: person,
    }));
    await v2('POST', '/interactions/batch', items);
    const filter = { contactId: person };
    const titles = ({ data }: Json) => data.map((one: Json) => one.title);
    const newest = items.map((item) => item.title).toReversed();
    const first = await query({ filter });
    expect(titles(first)).toEqual(newest.slice(0, 20));
    const second = await query({ filter, limit: 21, cursor: first.page_info.end_cursor });
    expect(titles(second)).toEqual(newest.slice(20, 41));
    const last = await query({ filter, limit: 21, cursor: second.page_info.end_cursor });
    expect([titles(last), last.page_info.has_next_page]).toEqual([newest.slice(41), false]);
  });

  test('refuses other limits and filters', async () => {
    const rows: [Json, string, string][] = [
      [{ limit: 0 }, 'VALIDATION_OUT_OF_RANGE', 'limit'],
      [{ limit: 22 }, 'VALIDATION_OUT_OF_RANGE', 'limit'],
      [{ limit: '5' }, FAILED, 'limit'],
      [{ filter: { email: 'x' } }, FAILED, 'filter.email'],
      [{ filter: { type: 'EMAIL' } }, FAILED, 'filter.type'],
      [{ filter: { contactId: 5 } }, FAILED, 'filter.contactId'],
      [{ sort: 'x' }, FAILED, 'sort'],
      [{ cursor: 'x' }, 'VALIDATION_INVALID_FORMAT', 'cursor'],
    ];
    for (const [body, code, path] of rows)
      refusedAs(await v1('POST', '/interactions/query', body), 422, code, path);
  });
});

describe('absent interactions', () => {
  test('are a 404, and so are those of others', async () => {
    const { id } = await log();
    for (const [path, key] of [['absent'], [crypto.randomUUID()], ['%00'], [id, foreign]])
      refusedAs(await v1('GET', `/interactions/${path}`, undefined, key), 404, 'RESOURCE_NOT_FOUND');
  });
});

test('interactions are those of v2, and move lastInteraction forward only', async () => {
  const company = (await v2('POST', '/companies', { name: 'C' })).body.data.id;
  const person = (await v2('POST', '/contacts', { first_name: 'P', company_id: company })).body.data.id;
  const { id } = await log({ mainContact: person, primaryId: unique('m'), interactionDate: 2_000 });
  expect((await v2('GET', `/interactions/${id}`)).body.data).toMatchObject({
    id,
    main_contact: person,
    interaction_date: 2_000,
    contact_ids: [person],
    company_ids: [company],
  });
  await log({ mainContact: person, interactionDate: 1_000 });
  for (const path of [`/people/${person}`, `/companies/${company}`])
    expect(dataOf(await v1('GET', path), 200).lastInteraction).toBe('1970-01-01T00:00:02.000Z');
  const made = { type: 'MEMO', direction: 'INTERNAL', title: 'By v2', main_contact: person };
  const other = (await v2('POST', '/interactions', { ...made, interaction_date: 3_000 })).body.data;
  expect(await shown(other.id)).toMatchObject({
    title: 'By v2',
    interactionDate: '1970-01-01T00:00:03.000Z',
  });
  expect(dataOf(await v1('GET', `/people/${person}`), 200).lastInteraction).toBe('1970-01-01T00:00:03.000Z');
});
