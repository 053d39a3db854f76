// The feed of a database that has come back without its last writes: others get their numbers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Cursors } from '../../server/signing/cursors.ts';
import { signingOf } from '../../server/signing/signing.ts';
import { EventReader } from '../support/event-stream.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
const released = new AbortController();
beforeAll(async () => {
  harness = await startHarness({ releaseOf: () => released.signal });
  api = clientOf(harness);
});
afterAll(() => harness.close());

const task = async (name: string) => (await api.create('tasks', { name })).id as string;
const cursorOf = async (query: string): Promise<string> =>
  (await api.get(`/changes?${query}`)).body.page_info.end_cursor;
const following = async (cursor: string): Promise<string[]> =>
  (await api.list(`/changes?cursor=${cursor}`)).map(({ record_id }: Json) => record_id);

async function streamed(lastEventId: string): Promise<EventReader> {
  const headers = { Authorization: `Bearer ${harness.v2}`, 'Last-Event-ID': lastEventId };
  return new EventReader(await harness.handle(new Request(`${BASE_URL}/api/v2/changes/stream`, { headers })));
}

/** Takes the changes after this one from the log, as if they had never been. */
async function lose(after: number): Promise<void> {
  const { store, orgNumber, clock } = harness;
  await store.write(orgNumber, async (trx) => {
    await trx.deleteFrom('changes').where('org_id', '=', orgNumber).where('sequence', '>', after).execute();
    await trx.updateTable('org_clocks').set({ last_change: after }).where('org_id', '=', orgNumber).execute();
  });
  clock.now += 1_000;
}

test('cursors from before are accepted, those of what was lost are refused although there are changes with its numbers', async () => {
  const head = async () => (await api.get('/changes?start=now')).body.page_info.head as number;
  await api.post('/tasks/batch', [{ name: 'A' }, { name: 'B' }, { name: 'C' }]);
  const last = await head();
  // Between changes that share a row, the last of a page, and the end.
  const before = [
    await cursorOf(`start=oldest&limit=${last - 1}`),
    await cursorOf(`start=oldest&limit=${last}`),
    await cursorOf('start=now'),
  ];
  await task('Lost');
  const note = await api.create('notes', { title: 'Lost' });
  const [event] = await (await streamed(before[2] ?? '')).take(1);
  const lost = [
    ...[await cursorOf('start=now'), await cursorOf(`start=oldest&limit=${last + 1}`)],
    ...[
      await cursorOf('start=oldest&resource=notes'),
      await cursorOf('start=now&sort_direction=desc&limit=1'),
    ],
  ];
  expect(note.title).toBe('Lost');
  await lose(last);
  // A place one change beyond the end can be from a newer snapshot: only later is it known that the change was lost.
  const first = await api.get(`/changes?cursor=${event?.id}`);
  expect([first.status, first.body.data]).toEqual([200, []]);
  const made = [await task('New'), await task('Newer'), await task('Newest')];
  expect(await head()).toBe(last + 3);
  for (const [index, cursor] of before.entries())
    expect([index, (await following(cursor)).slice(index === 0 ? 1 : 0)]).toEqual([index, made]);
  const [all = '', page = '', filtered = '', backwards = ''] = lost;
  for (const path of [
    ...[`cursor=${all}`, `cursor=${page}`, `cursor=${all}&wait=1`, `cursor=${filtered}&resource=notes`],
    ...[`cursor=${backwards}&sort_direction=desc`, `cursor=${first.body.page_info.end_cursor}`],
  ])
    expectFault(await api.get(`/changes?${path}`), 'VALIDATION_OUT_OF_RANGE', 'cursor');
  for (const id of [all, event?.id ?? '']) {
    const [{ event: name, data } = { event: '', data: null }] = await (await streamed(id)).all();
    expect([name, data.error.code]).toEqual(['error', 'VALIDATION_OUT_OF_RANGE']);
  }
});

test('a cursor of an earlier build, which has no instant, is refused', async () => {
  const cursors = new Cursors(signingOf(harness.store));
  const feed = { orgNumber: harness.orgNumber, path: '/changes', query: {} };
  const earlier = (await cursors.ofHidden(feed)).issue(Buffer.alloc(8));
  const opening = await cursors.ofFeed(feed);
  expect(() => opening.open(earlier, harness.clock.now)).toThrow('cursor: must be the end_cursor');
});
