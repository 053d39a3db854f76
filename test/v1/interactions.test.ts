// v1 interactions and authenticate: what a create takes, and what v2 then shows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import {
  dataOf,
  foreignKey,
  type Interactions,
  interactionsOf,
  LEAST_INTERACTION,
  refusedAs,
  uniqueName,
  type V1Client,
  v1ClientOf,
} from '../support/v1.ts';

let harness: Harness;
let foreign = '';
let v1: V1Client['v1'];
let v2: V1Client['v2'];
let shown: V1Client['shown'];
let send: Interactions['send'];
let log: Interactions['log'];
beforeAll(async () => {
  harness = await startHarness();
  const client = v1ClientOf(harness);
  ({ v1, v2, shown } = client);
  foreign = await foreignKey(harness);
  ({ send, log } = await interactionsOf(client));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';

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
    expect(await shown(`/interactions/${data.id}`)).toMatchObject({
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
    const interaction = await shown(`/interactions/${id}`);
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
    for (const name of Object.keys(LEAST_INTERACTION))
      refusedAs(await send({ [name]: undefined }), 422, 'VALIDATION_REQUIRED_FIELD', name);
    refusedAs(await send({ title: ' ' }), 422, 'VALIDATION_REQUIRED_FIELD', 'title');
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
    expect((await shown(`/interactions/${id}`)).interactionDate).toBe('2023-11-14T22:13:20.123Z');
  });
});

describe('mainContactEmail', () => {
  const byEmail = (mainContactEmail: string, fields: Json = {}, key?: string) =>
    send({ mainContact: undefined, mainContactEmail, ...fields }, key);

  test('finds by primary and alternative email, in any case', async () => {
    const [email, alt] = [`${uniqueName('Found')}@i.test`, `${uniqueName('Alt')}@i.test`];
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
      const email = `${uniqueName('New')}@i.test`;
      dataOf(await byEmail(email, {}, key), 201);
      expect(await contactsOf(email)).toMatchObject([{ email, last_interaction_at: expect.any(String) }]);
    }
  });

  test('refuses where it may not, and makes nothing', async () => {
    const { key } = await harness.issue({ api: 'v1', scopes: ['interactions:write', 'people:read'] });
    const email = `${uniqueName('never')}@i.test`;
    refusedAs(await byEmail(email, {}, key), 422, FAILED, 'mainContactEmail');
    expect(await contactsOf(email)).toEqual([]);
    expect((await byEmail('main@contact.test', {}, key)).status).toBe(201);
  });

  test('a duplicate makes no contact', async () => {
    const primaryId = uniqueName('message');
    const { id } = await log({ primaryId });
    const email = `${uniqueName('never')}@i.test`;
    expect(dataOf(await byEmail(email, { primaryId }), 201)).toEqual({ id, isDuplicate: true });
    expect(await contactsOf(email)).toEqual([]);
  });
});

test('interactions are those of v2, and move lastInteraction forward only', async () => {
  const company = (await v2('POST', '/companies', { name: 'C' })).body.data.id;
  const person = (await v2('POST', '/contacts', { first_name: 'P', company_id: company })).body.data.id;
  const { id } = await log({ mainContact: person, primaryId: uniqueName('m'), interactionDate: 2_000 });
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
  expect(await shown(`/interactions/${other.id}`)).toMatchObject({
    title: 'By v2',
    interactionDate: '1970-01-01T00:00:03.000Z',
  });
  expect(dataOf(await v1('GET', `/people/${person}`), 200).lastInteraction).toBe('1970-01-01T00:00:03.000Z');
});
