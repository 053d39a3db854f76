// What requests leave in the audit log: deletes with what they delete, exports and walked lists once, and no word of people.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AuditRow } from '../../db/engine/schema.ts';
import { listAudit } from '../../db/tables/audit.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { clientOf } from '../support/v2.ts';

const FROM = { 'X-Test-Address': '192.0.2.44' };
const HOUR_MS = 60 * 60_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const entries = (): Promise<AuditRow[]> => listAudit(harness.store.read, { limit: 1_000 });
const newest = async () => (await entries())[0];
// What a request leaves behind it comes a little later.
const added = async (count: number): Promise<AuditRow[]> => {
  for (;;) {
    const all = await entries();
    if (all.length >= count) return all;
    await Bun.sleep(5);
  }
};

test('a delete is recorded with who asked, from where, and what is gone', async () => {
  const { id } = await clientOf(harness).create('contacts', { email: 'ada@example.com' });
  const { key, id: keyId } = await harness.issue({ scopes: ['contacts:delete'] });
  const reply = await harness.send('DELETE', `/api/v2/contacts/${id}`, { key, headers: FROM });
  expect(reply.status).toBe(204);
  expect(await newest()).toMatchObject({
    ...{ org_id: harness.orgNumber, created_at: harness.clock.now, action: 'record.deleted' },
    ...{ actor_type: 'key', actor: keyId, user_id: null, origin: '192.0.2.44' },
    ...{ target_type: 'contacts', target_id: id, details: null },
    request_id: reply.headers.get('X-Request-Id'),
  });
});

test('a delete by a key of a user tells the user, one of v1 the record it deletes', async () => {
  const { key } = await harness.issue({ userId: harness.alice });
  const mine = await clientOf(harness, key).create('tasks', { name: 'T' });
  await harness.send('DELETE', `/api/v2/tasks/${mine.id}`, { key });
  expect(await newest()).toMatchObject({ user_id: harness.alice, target_type: 'tasks', target_id: mine.id });
  const { id } = await clientOf(harness).create('contacts', { phone: '1' });
  await harness.send('DELETE', `/api/v1/people/${id}`, { headers: FROM });
  expect(await newest()).toMatchObject({ target_type: 'contacts', target_id: id, origin: '192.0.2.44' });
});

test('what deletes no record is not told', async () => {
  const api = clientOf(harness);
  const before = (await entries()).length;
  const deal = await api.create('deals', { name: 'D' });
  const contact = await api.create('contacts', { phone: '2' });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
  expect((await harness.send('DELETE', `/api/v2/deals/${deal.id}/contacts/${contact.id}`)).status).toBe(204);
  expect((await harness.send('DELETE', `/api/v2/contacts/${deal.id}`)).status).toBe(404);
  expect((await harness.send('DELETE', `/api/v2/pipelines/${deal.pipeline_id}`)).status).toBe(409);
  expect(await entries()).toHaveLength(before);
});

test('an export is recorded once an hour for each key and list, whatever runs it names', async () => {
  const before = (await entries()).length;
  const run = crypto.randomUUID();
  const headers = { ...FROM, 'User-Agent': `crm/0.2.0 (export; ${run})` };
  await harness.send('GET', '/api/v2/companies?name=Acme&limit=1', { headers });
  for (let page = 0; page < 20; page++) {
    const another = { 'User-Agent': `crm/9.${page} (export; ${crypto.randomUUID()})` };
    await harness.send('GET', '/api/v2/companies?limit=1', { headers: { ...FROM, ...another } });
  }
  await harness.send('POST', '/api/v1/people/query', { body: { filter: { email: 'a@b.test' } }, headers });
  const [people, companies, ...older] = await added(before + 2);
  expect(older).toHaveLength(before);
  expect(companies).toMatchObject({
    action: 'export.started',
    target_type: 'companies',
    origin: '192.0.2.44',
  });
  expect(companies?.details).toBe(JSON.stringify({ run, filters: ['name'] }));
  expect(people).toMatchObject({ action: 'export.started', target_type: 'people/query' });
  expect(people?.details).toBe(JSON.stringify({ run, filters: ['email'] }));
  harness.clock.now += HOUR_MS;
  await harness.send('GET', '/api/v2/companies?limit=1', { headers });
  expect(await added(before + 3)).toHaveLength(before + 3);
});

test('a list that a cursor walks to its end is recorded, once an hour', async () => {
  const { key, id: keyId } = await harness.issue();
  const api = clientOf(harness, key);
  for (const name of ['A', 'B', 'C']) await api.create('notes', { title: name });
  const before = (await entries()).length;
  const walk = async () => {
    for (let next: string | null = ''; next !== null; ) {
      const page = await harness.send('GET', `/api/v2/notes?limit=1${next}`, { key });
      const { has_next_page, end_cursor } = page.body.page_info;
      next = has_next_page ? `&cursor=${end_cursor}` : null;
    }
  };
  await harness.send('GET', '/api/v2/notes', { key });
  for (let round = 0; round < 3; round++) await walk();
  const [walked, ...older] = await added(before + 1);
  expect(older).toHaveLength(before);
  expect(walked).toMatchObject({ action: 'list.walked', actor: keyId, target_type: 'notes' });
  expect(walked?.details).toBe('{"filters":[]}');
  harness.clock.now += HOUR_MS;
  await walk();
  expect(await added(before + 2)).toHaveLength(before + 2);
});

test('so is a query, with the fields that its filter names', async () => {
  const { key } = await harness.issue();
  const api = clientOf(harness, key);
  for (const title of ['D', 'E']) await api.create('notes', { title });
  const before = (await entries()).length;
  const filter = {
    or: [{ title: 'd' }, { not: { title: { contains: 'secret@example' } }, is_archived: false }],
  };
  for (let cursor: Json = {}; ; ) {
    const page = await api.post('/notes/query', { filter, limit: 1, fields: ['title'], ...cursor });
    const { has_next_page, end_cursor } = page.body.page_info;
    if (!has_next_page) break;
    cursor = { cursor: end_cursor };
  }
  const [walked] = await added(before + 1);
  expect(walked).toMatchObject({ action: 'list.walked', target_type: 'notes/query' });
  expect(walked?.details).toBe('{"filters":["title","is_archived"]}');
});

test('nothing that a record says, no key and no token gets into it', async () => {
  const said = JSON.stringify(await entries());
  for (const word of ['@', 'Acme', 'example', harness.v2.slice(13, 40), harness.v1.slice(12, 40), 'service_'])
    expect(said).not.toContain(word);
});
