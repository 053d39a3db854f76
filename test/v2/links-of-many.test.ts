// Lists of all links of a kind where a user, or one type of segment, has thousands: these are searched in another way than few.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { linkTable } from '../../db/engine/schema.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf } from '../support/v2.ts';

/** How many members each of Alice's large segments has: two together have more than are sorted. */
const MEMBERS = 2_600;

let harness: Harness;
let api: Client;
/** Alice's, bob's and nobody's contacts in turn. */
const contacts: string[] = [];
const owners: (string | null)[] = [];
/** Of the links, newest first. */
let links: Json[] = [];
const segments: Record<string, string> = {};

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  const { orgNumber, alice, bob, store } = harness;
  for (let count = 0; count < 300; count += 100) {
    const bodies = Array.from({ length: 100 }, (_, index) => {
      owners.push([alice, bob, null][index % 3] ?? null);
      return { first_name: `${count + index}`, owner_id: owners.at(-1) };
    });
    const { items } = (await api.post('/contacts/batch', bodies)).body.data;
    contacts.push(...items.map(({ data }: Json) => data.id));
  }
  for (const [name, userId] of Object.entries({ one: alice, two: alice, few: bob })) {
    const { key } = await harness.issue({ userId });
    segments[name] = (await clientOf(harness, key).create('segments', { name })).id;
  }
  const rows = ['one', 'two', 'few'].flatMap((name) =>
    Array.from({ length: name === 'few' ? 50 : MEMBERS }, (_, index) => ({
      org_id: orgNumber,
      segment_id: segments[name] ?? '',
      // Some of them are contacts that there are.
      record_id: contacts[(index * 7) % 2_600] ?? `gone-${index}`,
      // Seven share each instant.
      created_at: 1_000 + ((index * 131) % Math.ceil(MEMBERS / 7)),
    })),
  );
  for (let from = 0; from < rows.length; from += 500)
    await store.write(orgNumber, (trx) =>
      trx
        .insertInto(linkTable('segment_members'))
        .values(rows.slice(from, from + 500))
        .execute(),
    );
  links = rows
    .map(({ segment_id, record_id, created_at }) => ({
      ...{ parent_id: segment_id, id: record_id, linked_at: new Date(created_at).toISOString() },
    }))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
}, 300_000);
afterAll(() => harness.close());

const keyOf = ({ linked_at, parent_id, id }: Json) => `${linked_at} ${parent_id} ${id}`;
const isSeenBy =
  (user: string) =>
  ({ id }: Json) =>
    owners[contacts.indexOf(id)] === user;

const all = (client: Client, query = '') => client.all(`/links?of=segments.members${query}`, 190);

describe('all pages of', () => {
  test('the whole organization', async () => {
    expect(await all(api)).toEqual(links);
  });

  test('some parents', async () => {
    const expected = links.filter(({ parent_id }) => parent_id !== segments.two);
    expect(await all(api, `&parent_id=${segments.few}&parent_id=${segments.one}`)).toEqual(expected);
  });

  test('one type of segment', async () => {
    const { key } = await harness.issue({ scopes: ['segments:read', 'contacts:read'] });
    expect(await all(clientOf(harness, key))).toEqual(links);
    const other = await harness.issue({ scopes: ['segments:read', 'companies:read'] });
    expect(await all(clientOf(harness, other.key))).toEqual([]);
  });

  test('a user with many, and of one with few', async () => {
    for (const [user, own] of [
      [harness.alice, [segments.one, segments.two]],
      [harness.bob, [segments.few]],
    ] as const) {
      const client = await api.withKey({ userId: user });
      const expected = links.filter(isSeenBy(user)).filter(({ parent_id }) => own.includes(parent_id));
      expect(expected.length).toBeGreaterThan(0);
      expect(await all(client)).toEqual(expected);
      const ofOne = expected.filter(({ parent_id }) => parent_id === own[0]);
      expect(await all(client, `&parent_id=${own[0]}&parent_id=absent`)).toEqual(ofOne);
    }
  });
});
