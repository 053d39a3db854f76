// Lists of the members of large segments, which are searched in another way than those of small ones.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { linkTable, tableOf } from '../../db/engine/schema.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf } from '../support/v2.ts';

const CONTACTS = 1_200;

let harness: Harness;
let api: Client;
let contacts: Json[] = [];
/** Some 1,100 of the contacts, and some 70 of them. */
let large: string;
let small: string;
let members: Record<string, Set<string>>;

/** Makes a segment of Alice's. */
async function makeSegment(ids: readonly string[]): Promise<string> {
  const { orgNumber, store } = harness;
  const { key } = await harness.issue({ userId: harness.alice });
  const { id: segment_id } = await clientOf(harness, key).create('segments');
  const made = { org_id: orgNumber, segment_id, created_at: 0 };
  const rows = ids.map((record_id) => ({ ...made, record_id }));
  await store.write(orgNumber, (trx) => trx.insertInto(linkTable('segment_members')).values(rows).execute());
  return segment_id;
}

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  const { orgNumber, alice, store } = harness;
  const ids: string[] = [];
  for (let count = 0; count < CONTACTS; count += 100) {
    const bodies = Array.from({ length: 100 }, (_, index) => ({
      first_name: `${count + index}`,
      owner_id: index % 2 === 0 ? alice : null,
    }));
    const { items } = (await api.post('/contacts/batch', bodies)).body.data;
    ids.push(...items.map(({ data }: Json) => data.id));
  }
  // Seven share each instant, in an order of their own.
  for (const [index, id] of ids.entries()) {
    const updated_at = harness.clock.now + ((index * 131) % Math.ceil(CONTACTS / 7));
    await store.write(orgNumber, (trx) =>
      trx
        .updateTable(tableOf({ name: 'contacts' }))
        .set({ updated_at })
        .where('id', '=', id)
        .execute(),
    );
  }
  const ofLarge = ids.filter((_, index) => index % 11 !== 3);
  const ofSmall = ids.filter((_, index) => index % 17 === 5);
  large = await makeSegment(ofLarge);
  small = await makeSegment(ofSmall);
  members = { [large]: new Set(ofLarge), [small]: new Set(ofSmall) };
  contacts = await api.all('/contacts', 150);
  expect(contacts).toHaveLength(CONTACTS);
}, 300_000);
afterAll(() => harness.close());

for (const by of ['created_at', 'updated_at']) {
  for (const direction of ['asc', 'desc']) {
    test(`by ${by} ${direction}, alone, with a filter and for a user`, async () => {
      const alice = await api.withKey({ userId: harness.alice });
      const sorted = contacts.toSorted((a, b) => {
        const [left, right] = a[by] === b[by] ? [a.id, b.id] : [a[by], b[by]];
        return left < right === (direction === 'asc') ? -1 : 1;
      });
      const order = `&sort_by=${by}&sort_direction=${direction}`;
      const isAlices = (one: Json) => one.owner_id === harness.alice;
      for (const segment of [large, small]) {
        const expected = sorted.filter(({ id }) => members[segment]?.has(id));
        const path = `/contacts?segment_id=${segment}${order}`;
        expect(await api.all(path, 150)).toEqual(expected);
        expect(await api.all(`${path}&owner_id=${harness.alice}`, 150)).toEqual(expected.filter(isAlices));
        expect(await alice.all(path, 150)).toEqual(expected.filter(isAlices));
      }
    });
  }
}
