// A walk over the contract: both endpoint tables and v2's general patterns, written out, each row alive with scope, status, envelope.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { prepared, sendRow } from '../support/contract-walk.ts';
import { ROWS, type Row, scopesIn, V1 } from '../support/endpoints.ts';
import { expectEnvelope, expectRefusal, versionOf } from '../support/envelope.ts';
import { BASE_URL, type Harness, startHarness } from '../support/harness.ts';

const DOWNLOAD = '/api/v2/transcripts/download';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

for (const row of ROWS) {
  const [method, path, scopes, success] = row;
  const api = versionOf(path) === '1' ? 'v1' : 'v2';
  describe(`${method} ${path}`, () => {
    test(`answers ${success} to a key with only ${scopes}`, async () => {
      const { key } = await harness.issue({ api, scopes: scopesIn(row) });
      const reply = await sendRow(harness, row, key);
      const [status, object] = success.split(' ');
      expect(`${reply.status} ${reply.status < 300 ? '' : reply.text}`).toBe(`${status} `);
      for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'])
        expect(reply.headers.get(name)).toMatch(/^\d+$/);
      expect(reply.headers.get('X-Request-Id')).toMatch(/^req_/);
      if (object === undefined) return expect(reply.text).toBe('');
      if (object === 'stream') return expect(reply.text).toStartWith('retry: ');
      const rest = expectEnvelope(reply, object, versionOf(path));
      const keys = object === 'list' ? ['data', 'object', 'page_info'] : ['data', 'object'];
      expect(Object.keys(rest).sort()).toEqual(keys);
      if (object === 'list')
        expect(Object.keys(rest.page_info).sort()).toEqual([
          ...['end_cursor', 'has_next_page'],
          ...(path.includes('/changes') ? ['head', 'oldest'] : []),
        ]);
      const location = reply.headers.get('Location');
      const made = `${BASE_URL}${path.replace(/\/upsert$/, '')}/${rest.data?.id}`;
      expect(location).toBe(status === '201' ? made : null);
    });

    test('refuses a key with every other scope', async () => {
      const all = api === 'v1' ? V1_SCOPES.filter((scope) => scope !== 'ALL') : V2_SCOPES;
      for (const missing of scopesIn(row)) {
        const { key } = await harness.issue({ api, scopes: all.filter((scope) => scope !== missing) });
        const reply = await sendRow(harness, row, key);
        const error = expectRefusal(reply, 403, 'AUTH_INSUFFICIENT_SCOPE', undefined, versionOf(path));
        expect(error.message).toContain(missing);
      }
    });
  });
}

test('ALL grants every row of v1', async () => {
  const { key } = await harness.issue({ api: 'v1', scopes: ['ALL'] });
  for (const row of ROWS.slice(0, V1.length))
    expect((await sendRow(harness, row, key)).status).toBeLessThan(300);
});

test('GET answers, HEAD answers alike without a body', async () => {
  for (const row of ROWS.filter(([method]) => method === 'GET')) {
    const path = await prepared(harness, row[1]);
    const [get, head] = [await harness.send('GET', path), await harness.send('HEAD', path)];
    expect([path, head.status, head.text]).toEqual([path, get.status, '']);
    expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
    // A stream has no length.
    if (path.includes('/stream')) continue;
    // A recording's link is new at each request, of the same length.
    expect(head.headers.get('Content-Length')).toBe(String(Buffer.byteLength(get.text)));
  }
  const absent = await harness.send('HEAD', '/api/v2/contacts/absent');
  expect([absent.status, absent.text]).toEqual([404, '']);
});

const byPath = Map.groupBy([...ROWS, ['GET', DOWNLOAD, '', ''] as Row], ([, path]) =>
  path.replaceAll(/\{\w+\}/g, 'some-id').replace(/\?.*/, ''),
);
for (const [path, rows] of byPath) {
  // These stand where a record's path has the ID, and add their method to that path's.
  const isBesideRecords = /\/(?:upsert|query|count)$/.test(path) && versionOf(path) === '2';
  const others = isBesideRecords ? byPath.get(path.replace(/\w+$/, 'some-id')) : [];
  const known = [...new Set([...rows, ...(others ?? [])].map(([method]) => method))];
  test(`${path} refuses every other method, with or without a key`, async () => {
    const allowed = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
    for (const method of METHODS.filter((one) => !known.includes(one))) {
      for (const key of [undefined, null]) {
        const reply = await harness.send(method, path, key === null ? { key } : {});
        expectRefusal(reply, 405, 'OPERATION_FORBIDDEN', undefined, versionOf(path));
        expect(reply.headers.get('Allow')?.split(', ').sort()).toEqual(allowed);
      }
    }
    if (!known.includes('GET')) expect((await harness.send('HEAD', path)).status).toBe(405);
  });

  test(`${path}/ is another path`, async () => {
    for (const other of [`${path}/`, `${path}//`, `/${path}`, `${path}/x/y/z`, path.toUpperCase()]) {
      for (const method of known) {
        const reply = await harness.send(method, other, { key: null });
        expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND', undefined, versionOf(other));
        expect(reply.headers.get('Allow')).toBeNull();
      }
    }
  });
}

const UNKNOWN = [
  '/api',
  '/api/',
  '/api/v1',
  '/api/v2',
  '/api/v3/contacts',
  '/api/v2/people',
  '/api/v1/contacts',
];
test('/ leads to /docs', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, text, headers } = await harness.send(method, '/', { key: null });
    expect([status, text, headers.get('Location')]).toEqual([302, '', `${BASE_URL}/docs`]);
  }
  expectRefusal(await harness.send('POST', '/'), 404, 'RESOURCE_NOT_FOUND');
});

for (const path of [...UNKNOWN, '/api/v1/deals', '/api/v2/contacts/x/deals']) {
  test(`${path} is unknown`, async () => {
    for (const method of METHODS)
      expectRefusal(await harness.send(method, path), 404, 'RESOURCE_NOT_FOUND', undefined, versionOf(path));
  });
}
