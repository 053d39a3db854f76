// Lists of every resource: pages, order with ties, time windows, and cursors that hold for their own list alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CONTRACT, CREATABLE } from '../support/contract.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { insertAtOnce } from '../support/read-only.ts';
import { type Client, clientOf, expectError, expectFault, minimalBody, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;
/** Resource → its records, in the order in which they were made; three share each moment. */
const made: Record<string, Json[]> = {};
let start: number;
/** An interaction of long ago, which leaves its contact as it is, and the contact out of what is counted. */
let about: Json;

const RECORDS = 9;
const STEP_MS = 1_000;

// As one writer makes them: they share their moment.
async function makeThree(resource: string): Promise<void> {
  if (!CREATABLE.includes(resource)) return void (await insertAtOnce(harness, resource, [{}, {}, {}]));
  const bodies = [1, 2, 3].map(() =>
    resource === 'interactions' ? { ...about, title: uniqueEmail() } : minimalBody(resource),
  );
  const { summary } = (await api.post(`/${resource}/batch`, bodies)).body.data;
  expect(summary.succeeded).toBe(3);
}

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  for (const { id } of await api.list('/pipelines')) await api.del(`/pipelines/${id}`);
  // An organization without pipelines takes no deals: the first to be made is another resource's help.
  await api.create('pipelines');
  const { main_contact, type, direction } = await api.create('interactions');
  about = { main_contact, type, direction, interaction_date: 0 };
  start = harness.clock.now + STEP_MS;
  for (let count = 0; count < RECORDS; count += 3) {
    harness.clock.now += STEP_MS;
    for (const resource of Object.keys(CONTRACT)) await makeThree(resource);
  }
  for (const resource of Object.keys(CONTRACT))
    made[resource] = await all(`/${resource}?sort_direction=asc&created_since=${start}`);
});
afterAll(() => harness.close());

/** All records of a list, page after page. */
async function all(path: string, limit = 200): Promise<Json[]> {
  const found: Json[] = [];
  for (let cursor = ''; ; ) {
    const { body, status } = await api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    expect(status).toBe(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    found.push(...body.data);
    if (!body.page_info.has_next_page) return found;
    expect(body.data).toHaveLength(limit);
    cursor = `&cursor=${encodeURIComponent(body.page_info.end_cursor)}`;
  }
}

const idsOf = (records: Json[]): string[] => records.map((record) => record.id);
const madeOf = (resource: string): Json[] => made[resource] ?? [];
const since = () => `created_since=${start}`;

/** The records in the order of a list. */
function ordered(records: Json[], by: string, direction: string): string[] {
  const sorted = records.toSorted((a, b) => {
    const [left, right] = a[by] === b[by] ? [a.id, b.id] : [a[by], b[by]];
    return left < right ? -1 : 1;
  });
  return idsOf(direction === 'asc' ? sorted : sorted.reverse());
}

for (const resource of Object.keys(CONTRACT)) {
  const path = `/${resource}`;
  const sorts = resource === 'pipelines' ? ['created_at'] : ['created_at', 'updated_at'];
  describe(resource, () => {
    test('the envelope is whole', async () => {
      const { body } = await api.get(`${path}?limit=2`);
      expect(Object.keys(body)).toEqual(['object', 'data', 'page_info', 'meta']);
      expect(body).toMatchObject({
        object: 'list',
        page_info: { has_next_page: true, end_cursor: expect.any(String) },
        meta: { request_id: expect.any(String), api_version: '2', timestamp: expect.any(String) },
      });
      const empty = await api.get(`${path}?created_since=${harness.clock.now + 1}`);
      expect(empty.body.data).toEqual([]);
      expect(empty.body.page_info).toEqual({ has_next_page: false, end_cursor: null });
    });

    test('pages of every size show each record once, newest first', async () => {
      const expected = idsOf(madeOf(resource)).reverse();
      expect(expected).toHaveLength(RECORDS);
      for (const limit of [1, 2, 3, 4, RECORDS - 1, RECORDS, RECORDS + 1])
        expect(idsOf(await all(`${path}?${since()}`, limit))).toEqual(expected);
    });

    for (const by of sorts) {
      for (const direction of ['asc', 'desc']) {
        test(`is sorted by ${by} ${direction}, ties by id`, async () => {
          const query = `${since()}&sort_by=${by}&sort_direction=${direction}`;
          expect(idsOf(await all(`${path}?${query}`, 2))).toEqual(ordered(madeOf(resource), by, direction));
        });
      }
      test(`${by.replace('_at', '_since')} is inclusive, in RFC 3339 and in Unix ms`, async () => {
        const name = by.replace('_at', '_since');
        const [first = 0, second = 0, third = 0] = new Set(
          madeOf(resource).map((one) => Date.parse(one[by])),
        );
        const rows: [number, number][] = [
          [first, 9],
          [first + 1, 6],
          [second, 6],
          [third, 3],
          [third + 1, 0],
        ];
        for (const [at, count] of rows) {
          const offset = new Date(at + 7_200_000).toISOString().replace('Z', '%2B02:00');
          for (const text of [String(at), new Date(at).toISOString(), offset])
            expect(await api.list(`${path}?${name}=${text}&limit=200`)).toHaveLength(count);
        }
      });
    }

    test('limits are integers from 1 to 200, 20 unless given', async () => {
      expect(await api.list(`${path}?limit=200`)).not.toBeEmpty();
      for (const limit of ['0', '201', '-1', '1000000'])
        expectFault(await api.get(`${path}?limit=${limit}`), 'VALIDATION_OUT_OF_RANGE', 'limit');
      for (const limit of ['x', '1.5', '0x5', '1e1', '%205', '5%20', '+5', 'null', '05', ''])
        expectFault(await api.get(`${path}?limit=${limit}`), 'VALIDATION_FAILED', 'limit');
    });

    test('parameters are refused that are unknown, empty, repeated or of another list', async () => {
      const refused = ['page=1', 'Limit=1', 'sort=created_at', 'sort_by=id', 'sort_by=', 'sort_direction=up'];
      if (resource === 'pipelines') refused.push('sort_by=updated_at', 'updated_since=0');
      for (const query of refused)
        expectFault(await api.get(`${path}?${query}`), 'VALIDATION_FAILED', String(query.split('=')[0]));
      for (const query of ['limit=1&limit=1', 'sort_direction=asc&sort_direction=asc', 'cursor=&x=1']) {
        const reply = await api.get(`${path}?${query}`);
        expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_FAILED']);
      }
      expectError(await api.get(`${path}?x=1&limit=0`), 422, 'VALIDATION_FAILED', 'x', 'limit');
      for (const text of ['yesterday', '2026-02-30T00:00:00Z', '2026-01-01', '1.5', '2026-01-01T00:00:00'])
        expectFault(
          await api.get(`${path}?created_since=${text}`),
          'VALIDATION_INVALID_FORMAT',
          'created_since',
        );
    });

    test('a cursor is refused by every list but its own, and altered', async () => {
      const first: Reply = await api.get(`${path}?limit=2`);
      const cursor: string = first.body.page_info.end_cursor;
      expect(cursor).toMatch(/^[\w-]+$/);
      for (const { id } of first.body.data) {
        expect(cursor).not.toContain(id);
        expect(Buffer.from(cursor, 'base64url').length).toBeGreaterThan(0);
      }
      const other = resource === 'contacts' ? 'companies' : 'contacts';
      const middle = Math.floor(cursor.length / 2);
      const flipped =
        cursor.slice(0, middle) + (cursor[middle] === 'A' ? 'B' : 'A') + cursor.slice(middle + 1);
      const queries = [
        `${path}?sort_direction=asc&cursor=${cursor}`,
        `${path}?created_since=0&cursor=${cursor}`,
        `/${other}?cursor=${cursor}`,
        `${path}?cursor=${flipped}`,
        `${path}?cursor=${cursor}A`,
        `${path}?cursor=${cursor}=`,
        `${path}?cursor=${cursor.slice(0, -1)}`,
        `${path}?cursor=${cursor.toUpperCase()}`,
        `${path}?cursor=x`,
        `${path}?cursor=%00`,
      ];
      if (resource !== 'pipelines') queries.push(`${path}?sort_by=updated_at&cursor=${cursor}`);
      for (const query of queries) {
        const reply = await api.get(query);
        expect([reply.status, reply.body.error.details[0].path]).toEqual([422, 'cursor']);
      }
      const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
      const foreign = await clientOf(harness, key).get(`${path}?cursor=${cursor}`);
      expectFault(foreign, 'VALIDATION_INVALID_FORMAT', 'cursor');
      // The page may change its size, and say its order in words.
      const same = `${path}?sort_by=created_at&sort_direction=desc&limit=5&cursor=${cursor}`;
      expect((await api.get(same)).status).toBe(200);
    });
  });
}

test('a changed record moves in the order of updated_at, and the others stay in theirs', async () => {
  const path = `/tasks?sort_by=updated_at&sort_direction=asc&done=false&${since()}`;
  const before = idsOf(await all(path, 4));
  harness.clock.now += STEP_MS;
  await api.update('tasks', String(before[2]), { name: 'Changed' });
  const expected = [...before.filter((id) => id !== before[2]), before[2]];
  expect(idsOf(await all(path, 4))).toEqual(expected as string[]);
  const window = `/tasks?updated_since=${harness.clock.now}`;
  expect(await api.ids(window)).toEqual([String(before[2])]);
});
