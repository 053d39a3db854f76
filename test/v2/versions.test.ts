// Conditional requests: the ETag of every record, If-None-Match on a get, If-Match on an update and a delete.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf, expectError } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const send = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Json,
  key?: string,
) => harness.send(method, `/api/v2${path}`, { headers, body, ...(key !== undefined && { key }) });
const get = (path: string, headers?: Record<string, string>) => send('GET', path, headers);
const tagOf = (reply: Reply): string => reply.headers.get('ETag') ?? '';
const currentTag = async (path: string): Promise<string> => tagOf(await get(path));

const WRITABLE = RESOURCES.filter(({ verbs }) => verbs.includes('update')).map(({ name }) => name);

describe('ETag', () => {
  test.each(WRITABLE)('of %s: strong, the same until the record changes', async (resource) => {
    const path = `/${resource}/${(await api.create(resource)).id}`;
    const first = await get(path);
    expect(tagOf(first)).toMatch(/^"[!#-~]+"$/);
    expect(await currentTag(path)).toBe(tagOf(first));
    const { name, title, first_name } = first.body.data;
    const field =
      name !== undefined ? 'name' : title !== undefined && first_name === undefined ? 'title' : 'first_name';
    await api.patch(path, { [field]: 'Changed' });
    expect(await currentTag(path)).not.toBe(tagOf(first));
  });

  test('changes with every change within one millisecond', async () => {
    const { id } = await api.create('contacts');
    const tags = new Set<string>();
    for (const title of ['A', 'B', 'C']) {
      await api.patch(`/contacts/${id}`, { title });
      tags.add(await currentTag(`/contacts/${id}`));
    }
    expect(tags.size).toBe(3);
  });

  test('changes with the number of members of a segment', async () => {
    const { id } = await api.create('segments');
    const before = await currentTag(`/segments/${id}`);
    await api.post(`/segments/${id}/members`, { record_id: (await api.create('contacts')).id });
    expect(await currentTag(`/segments/${id}`)).not.toBe(before);
  });

  test('changes with an interaction of the contact', async () => {
    const { id } = await api.create('contacts');
    const before = await currentTag(`/contacts/${id}`);
    await api.create('interactions', { type: 'MEMO', direction: 'INTERNAL', title: 'T', main_contact: id });
    expect(await currentTag(`/contacts/${id}`)).not.toBe(before);
  });

  test('changes when a reference is cleared by a delete', async () => {
    const company = await api.create('companies');
    const { id } = await api.create('contacts', { first_name: 'A', company_id: company.id });
    const before = await currentTag(`/contacts/${id}`);
    await api.del(`/companies/${company.id}`);
    expect(await currentTag(`/contacts/${id}`)).not.toBe(before);
  });

  test('is on HEAD, and on no list', async () => {
    const { id } = await api.create('contacts');
    expect(tagOf(await send('HEAD', `/contacts/${id}`))).toBe(await currentTag(`/contacts/${id}`));
    expect((await get('/contacts')).headers.get('ETag')).toBeNull();
  });

  test('of a recording leaves out the link to its transcript, and never answers 304', async () => {
    const path = `/recordings/${await insertTranscribed(harness)}`;
    const [first, second] = [await get(path), await get(path)];
    expect(first.body.data.transcript_url).not.toBe(second.body.data.transcript_url);
    expect(tagOf(first)).toBe(tagOf(second));
    expect((await get(path, { 'If-None-Match': tagOf(first) })).status).toBe(200);
    expect((await get(path, { 'If-None-Match': '*' })).status).toBe(200);
  });
});

describe('If-None-Match', () => {
  test('answers 304 without a body, with the ETag and the limits', async () => {
    const { id } = await api.create('contacts');
    const etag = await currentTag(`/contacts/${id}`);
    const reply = await get(`/contacts/${id}`, { 'If-None-Match': etag });
    expect([reply.status, reply.text, tagOf(reply)]).toEqual([304, '', etag]);
    expect(reply.headers.get('X-RateLimit-Limit')).not.toBeNull();
    expect(reply.headers.get('X-Request-Id')).toMatch(/^req_/);
    expect(reply.headers.get('Content-Type')).toBeNull();
  });

  const ROWS: [name: string, header: (etag: string) => string, status: number][] = [
    ['the tag', (etag) => etag, 304],
    ['the weak tag', (etag) => `W/${etag}`, 304],
    ['a list that has it', (etag) => `"other", W/"more" , ${etag}`, 304],
    ['a list with empty elements', (etag) => `, "other",, ${etag},`, 304],
    ['any', () => '*', 304],
    ['another tag', () => '"other"', 200],
    ['an unquoted tag, which is ignored', (etag) => etag.slice(1, -1), 200],
    ['rubbish, which is ignored', () => '"unterminated', 200],
    ['tags without a comma, which are ignored', (etag) => `"other" ${etag}`, 200],
    ['commas alone', () => ', ,', 200],
  ];
  test.each(ROWS)('with %s', async (_, header, status) => {
    const { id } = await api.create('contacts');
    const etag = await currentTag(`/contacts/${id}`);
    expect((await get(`/contacts/${id}`, { 'If-None-Match': header(etag) })).status).toBe(status);
    expect((await send('HEAD', `/contacts/${id}`, { 'If-None-Match': header(etag) })).status).toBe(status);
  });

  test('does not reveal a record that the key cannot see', async () => {
    const { id } = await api.create('contacts', { first_name: 'A', owner_id: harness.alice });
    const { key } = await harness.issue({ access: 'user', userId: harness.bob });
    const reply = await send('GET', `/contacts/${id}`, { 'If-None-Match': '*' }, undefined, key);
    expectError(reply, 404, 'RESOURCE_NOT_FOUND');
  });
});

describe('If-Match', () => {
  const ROWS: [name: string, header: (etag: string) => string, isMatch: boolean][] = [
    ['the current tag', (etag) => etag, true],
    ['a list that has it', (etag) => `"other",${etag}`, true],
    ['a list with empty elements', (etag) => `"other", , ${etag},`, true],
    ['any', () => '*', true],
    ['another tag', () => '"other"', false],
    ['the weak tag, which never matches', (etag) => `W/${etag}`, false],
  ];

  test.each(ROWS)('on an update, with %s', async (_, header, isMatch) => {
    const { id } = await api.create('contacts', { first_name: 'A' });
    const path = `/contacts/${id}`;
    const reply = await send('PATCH', path, { 'If-Match': header(await currentTag(path)) }, { title: 'CTO' });
    if (isMatch) expect(reply.status).toBe(200);
    else expectError(reply, 409, 'RESOURCE_CONFLICT', 'If-Match');
    expect((await api.fetch('contacts', id)).title).toBe(isMatch ? 'CTO' : null);
  });

  test.each(ROWS)('on a delete, with %s', async (_, header, isMatch) => {
    const { id } = await api.create('tasks');
    const reply = await send('DELETE', `/tasks/${id}`, {
      'If-Match': header(await currentTag(`/tasks/${id}`)),
    });
    expect(reply.status).toBe(isMatch ? 204 : 409);
    expect((await get(`/tasks/${id}`)).status).toBe(isMatch ? 404 : 200);
  });

  test('lets one of two updates of the same version pass', async () => {
    const { id } = await api.create('contacts', { first_name: 'A' });
    const etag = await currentTag(`/contacts/${id}`);
    const update = (title: string) => send('PATCH', `/contacts/${id}`, { 'If-Match': etag }, { title });
    const statuses = (await Promise.all(['A', 'B', 'C'].map(update))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
  });

  test('holds for an update that would change nothing', async () => {
    const { id } = await api.create('contacts');
    expectError(
      await send('PATCH', `/contacts/${id}`, { 'If-Match': '"other"' }, {}),
      409,
      'RESOURCE_CONFLICT',
      'If-Match',
    );
  });

  test('comes after the existence of the record', async () => {
    for (const header of ['*', '"other"']) {
      expectError(
        await send('PATCH', '/contacts/absent', { 'If-Match': header }, {}),
        404,
        'RESOURCE_NOT_FOUND',
      );
      expectError(
        await send('DELETE', '/contacts/absent', { 'If-Match': header }),
        404,
        'RESOURCE_NOT_FOUND',
      );
    }
    const { id } = await api.create('contacts', { first_name: 'A', owner_id: harness.alice });
    const { key } = await harness.issue({ access: 'user', userId: harness.bob });
    expectError(
      await send('PATCH', `/contacts/${id}`, { 'If-Match': '*' }, {}, key),
      404,
      'RESOURCE_NOT_FOUND',
    );
  });

  test.each(['abc', '"a', 'a"', '"a" "b"', ',', 'w/"a"', '*, "a"'])('%p is refused', async (header) => {
    const { id } = await api.create('contacts');
    const reply = await send('PATCH', `/contacts/${id}`, { 'If-Match': header }, { title: 'CTO' });
    expectError(reply, 422, 'VALIDATION_INVALID_FORMAT', 'If-Match');
    const refused = await send('DELETE', `/contacts/${id}`, { 'If-Match': header });
    expectError(refused, 422, 'VALIDATION_INVALID_FORMAT', 'If-Match');
  });

  test('is ignored by version 1 and by reads', async () => {
    const { id } = await api.create('contacts');
    expect((await get(`/contacts/${id}`, { 'If-Match': '"other"' })).status).toBe(200);
    const headers = { 'If-Match': 'rubbish' };
    const path = `/api/v1/people/${id}`;
    expect((await harness.send('PATCH', path, { headers, body: { title: 'CTO' } })).status).toBe(200);
  });

  test('a refusal is stored under the idempotency key', async () => {
    const { id } = await api.create('contacts');
    const headers = { 'If-Match': '"other"', 'Idempotency-Key': 'stale-version' };
    const first = await send('PATCH', `/contacts/${id}`, headers, { title: 'CTO' });
    const again = await send('PATCH', `/contacts/${id}`, headers, { title: 'CTO' });
    expect([first.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([
      409,
      409,
      'true',
    ]);
    expect(again.text).toBe(first.text);
  });
});
