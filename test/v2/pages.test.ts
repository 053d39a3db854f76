// Pages of lists that are long, that change while they are read, and that are asked for in many ways.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

test('a list of more than 20 gives 20', async () => {
  for (let count = 0; count < 25; count++) await api.create('tasks', { name: 'Many', done: true });
  const first = await api.get('/tasks?done=true');
  expect(first.body.data).toHaveLength(20);
  expect(first.body.page_info.has_next_page).toBe(true);
  const { end_cursor } = first.body.page_info;
  const second = await api.get(`/tasks?done=true&cursor=${end_cursor}`);
  expect(second.body.data).toHaveLength(5);
  expect(second.body.page_info.has_next_page).toBe(false);
  for (const filters of ['', 'done=false&', 'done=true&main_assignee_id=x&'])
    expectFault(
      await api.get(`/tasks?${filters}cursor=${end_cursor}`),
      'VALIDATION_INVALID_FORMAT',
      'cursor',
    );
});

for (const direction of ['asc', 'desc'] as const) {
  test(`${direction}: no record is repeated or skipped while others come and go between pages`, async () => {
    const segment = await api.create('segments', { name: 'Moving' });
    const ids: string[] = [];
    const add = async () => {
      const { id } = await api.create('contacts', { first_name: 'Moving' });
      await api.post(`/segments/${segment.id}/members`, { record_id: id });
      ids.push(id);
    };
    for (let count = 0; count < 12; count++) await add();
    const path = `/contacts?segment_id=${segment.id}&sort_direction=${direction}&limit=3`;
    const standing = new Set(ids);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.get(path + cursor);
      seen.push(...body.data.map((one: Json) => one.id));
      if (!body.page_info.has_next_page) break;
      // The last one shown goes, so does one that is to come; a new one arrives at the same moment.
      const coming = (direction === 'asc' ? ids : ids.toReversed()).find((id) => !seen.includes(id));
      for (const id of [String(seen.at(-1)), String(coming)]) {
        await api.del(`/contacts/${id}`);
        standing.delete(id);
      }
      await add();
      cursor = `&cursor=${body.page_info.end_cursor}`;
      if (ids.length > 40) throw new Error('the list never ends');
    }
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of standing) expect(seen).toContain(id);
  });
}

test('lists of more shapes than the database keeps statements for all go on working', async () => {
  const filters = [
    'done=true',
    'main_assignee_id=x',
    'company_id=x',
    'deal_id=x',
    'person_id=x',
    'due_before=1',
    'due_after=1',
  ];
  for (let shape = 0; shape < 2 ** filters.length * 5; shape++) {
    const query = filters.filter((_, index) => (shape >> index) & 1);
    const order = shape >> filters.length;
    query.push(order & 1 ? 'sort_direction=asc' : 'sort_direction=desc');
    query.push(order & 2 ? 'sort_by=updated_at' : 'sort_by=created_at');
    if (order & 4) query.push('created_since=0');
    expect((await api.get(`/tasks?${query.join('&')}`)).status).toBe(200);
  }
  expect((await api.get('/contacts')).status).toBe(200);
});
