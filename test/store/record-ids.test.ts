// Ids of records: of the very millisecond of created_at, so that their order is that in which the records were made.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { instantOfId, recordId, smallestId } from '../../db/tables/record-id.ts';
import { CONTRACT, CREATABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, minimalBody } from '../support/v2.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const AT_ONCE = 20_000;

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const millisecondsOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

for (const resource of Object.keys(CONTRACT)) {
  test(`an id in ${resource} has the millisecond of created_at`, async () => {
    // Ahead of the clock of the machine, and behind it.
    for (const now of [Date.now() + 3_600_000, Date.now() - 3_600_000]) {
      harness.clock.now = now;
      const made = CREATABLE.includes(resource)
        ? await api.create(resource)
        : await api.fetch(resource, await insertReadOnly(harness, resource));
      expect(made.id).toMatch(UUID_V7);
      expect(millisecondsOf(made.id)).toBe(Date.parse(made.created_at));
      expect(instantOfId(made.id)).toBe(Date.parse(made.created_at));
    }
  });
}

test.each(['', 'unknown', 'x'.repeat(36)])('%p has no instant', (id) => {
  expect(instantOfId(id)).toBeNaN();
});

test('so have those of stages, and of a contact that an interaction makes', async () => {
  const pipeline = await api.create('pipelines');
  for (const { id } of pipeline.stages) expect(millisecondsOf(id)).toBe(Date.parse(pipeline.created_at));
  const interaction = await api.create('interactions', minimalBody('interactions'));
  const contact = await api.fetch('contacts', interaction.main_contact);
  expect(millisecondsOf(contact.id)).toBe(Date.parse(contact.created_at));
});

test('ids of one instant are distinct and in order, however many', () => {
  const now = Date.now();
  const ids = Array.from({ length: AT_ONCE }, () => recordId(now));
  expect(ids.filter((id) => !UUID_V7.test(id) || millisecondsOf(id) !== now)).toEqual([]);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(AT_ONCE);
  // What is left to chance: 40 bits.
  expect(new Set(ids.map((id) => id.slice(26))).size).toBeGreaterThan(AT_ONCE - 5);
});

test('an instant of before gives an id of before, and the next one goes on', () => {
  const now = Date.now();
  const ids = [recordId(now - 1), recordId(now), recordId(now + 1)];
  const [earlier = '', same = '', later = ''] = [recordId(now - 1), recordId(now), recordId(now + 1)];
  expect([...ids, earlier, same, later].toSorted()).toEqual([
    ids[0] ?? '',
    earlier,
    ids[1] ?? '',
    same,
    ids[2] ?? '',
    later,
  ]);
});

test('the least id of an instant is below those of it, and above those of the one before', () => {
  const now = Date.now();
  for (let count = 0; count < 100; count++) {
    expect(smallestId(now) < recordId(now)).toBe(true);
    expect(recordId(now - 1) < smallestId(now)).toBe(true);
  }
});

test('a list takes instants that no id can have', async () => {
  const contact = await api.create('contacts');
  for (const [since, ids] of [
    ['-999999999999999', [contact.id]],
    ['1969-12-31T23:59:59Z', [contact.id]],
    ['999999999999999', []],
    ['9999-12-31T23:59:59Z', []],
  ] as const)
    expect(await api.ids(`/contacts?limit=1&created_since=${since}`)).toEqual([...ids]);
});

test('the records of an ingest are in the order of its file', async () => {
  const { store, otherOrgNumber } = harness;
  const count = 3_000;
  const entry = (index: number) => ({ line: 1, sequence: null, data: { external_id: `m${index}` } });
  const groups = Array.from({ length: count }, (_, index) => ({
    uid: `m${index}`,
    entries: [entry(index)],
    spared: [],
    extent: null,
  }));
  const options = { orgNumber: otherOrgNumber, createdBy: 'o', ownerId: null, clock: Date.now };
  await ingestMeetings(store, options, groups);
  const rows: Json[] = await store.read
    .selectFrom('meetings' as 'records')
    .selectAll()
    .where('org_id', '=', otherOrgNumber)
    .orderBy('id')
    .execute();
  expect(rows.map(({ external_id }) => external_id)).toEqual(groups.map(({ uid }) => uid));
  expect(rows.filter(({ id, created_at }) => millisecondsOf(id) !== created_at)).toEqual([]);
});
