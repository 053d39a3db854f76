// v1 interactions that repeat themselves, queries, and ids that are nobody's.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectEnvelope } from '../support/envelope.ts';
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
let contact = '';
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
  ({ contact, send, log } = await interactionsOf(client));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';

describe('duplicates', () => {
  const totalOf = async () => (await v1('POST', '/interactions/query', { limit: 21 })).body.data[0].id;

  test('by type, primaryId and secondaryId, whatever else differs', async () => {
    const primaryId = uniqueName('message');
    const first = await log({ primaryId, title: 'One' });
    const newest = await totalOf();
    const again = await send({ primaryId, title: 'Two', direction: 'OUTBOUND', interactionDate: 5 });
    expect(dataOf(again, 201)).toEqual({ id: first.id, isDuplicate: true });
    expect(again.headers.get('Location')).toBe(`${BASE_URL}/api/v1/interactions/${first.id}`);
    expect([await totalOf(), (await shown(`/interactions/${first.id}`)).title]).toEqual([newest, 'One']);
    const others = [
      { type: 'MEMO', primaryId },
      { primaryId, secondaryId: 's' },
      { primaryId: uniqueName('other') },
    ];
    for (const fields of others) expect((await log(fields)).isDuplicate).toBe(false);
    expect((await log({ primaryId, secondaryId: 's' })).isDuplicate).toBe(true);
    expect((await log({ primaryId })).id).toBe(first.id);
  });

  test('without primaryId by contact, type, direction, title and a date that is given', async () => {
    const fields = { title: uniqueName('Title'), interactionDate: 1_700_000_000_000 };
    const first = await log(fields);
    expect(await log({ ...fields, summary: 'Other' })).toEqual({ id: first.id, isDuplicate: true });
    const other = (await v2('POST', '/contacts', { first_name: 'Other' })).body.data.id;
    for (const change of [
      { mainContact: other },
      { type: 'MEMO' },
      { direction: 'OUTBOUND' },
      { title: uniqueName('Title') },
      { interactionDate: 1_700_000_000_001 },
      { primaryId: uniqueName('message') },
    ]) {
      expect((await log({ ...fields, ...change })).isDuplicate).toBe(false);
    }
    const undated = { title: uniqueName('Title') };
    for (let round = 0; round < 2; round++) expect((await log(undated)).isDuplicate).toBe(false);
  });

  test('two at once are one', async () => {
    const primaryId = uniqueName('message');
    const replies = await Promise.all(Array.from({ length: 10 }, () => log({ primaryId })));
    expect(new Set(replies.map((reply) => reply.id)).size).toBe(1);
    expect(replies.filter((reply) => reply.isDuplicate)).toHaveLength(9);
  });

  test('organizations have their own', async () => {
    const primaryId = uniqueName('message');
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
      ...LEAST_INTERACTION,
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
