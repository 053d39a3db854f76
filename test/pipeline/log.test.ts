// The log: what a line tells of a request, and that no key or token gets into one, wherever it was put.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { getOrganization } from '../../db/accounts/accounts.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { startExchange } from '../../server/pipeline/exchange.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const lines: string[] = [];
let harness: Harness;
let organization: string;
beforeAll(async () => {
  harness = await startHarness({ log: (line) => lines.push(line) });
  organization = (await getOrganization(harness.store.read, harness.orgNumber)).id;
});
afterAll(() => harness.close());
beforeEach(() => {
  lines.length = 0;
});

const UUID = '01a1fbab-2e9e-734f-b92a-7419e0ba384d';
const last = () => JSON.parse(lines.at(-1) ?? '{}');

describe('a line', () => {
  test('tells who did what, how it went and how long it took', async () => {
    const headers = { 'X-Test-Address': '192.0.2.7' };
    const reply = await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'Ada' }, headers });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: expect.any(String),
      level: 'info',
      request_id: reply.headers.get('X-Request-Id'),
      method: 'POST',
      route: '/api/v2/contacts',
      org_id: organization,
      key_id: expect.stringMatching(/^[\da-f-]{36}$/),
      address: '192.0.2.7',
      status: 201,
      ms: expect.any(Number),
    });
  });

  test.each([
    [`/api/v2/contacts/${UUID}`, '/api/v2/contacts/{id}'],
    [`/api/v2/deals/${UUID}/contacts`, '/api/v2/deals/{id}/contacts'],
    ['/api/v1/people/abc', '/api/v1/people/{personId}'],
    ['/api/v2/contacts?email=ada%40example.com', '/api/v2/contacts'],
    ['/api/v2/contacts/ada@example.com', '/api/v2/contacts/{id}'],
  ])('of %p tells the route %p and nothing of what stands in it', async (path, route) => {
    await harness.send('GET', path);
    expect(last().route).toBe(route);
    expect(last()).not.toHaveProperty('path');
  });

  test('of another method than a path takes tells its route too', async () => {
    await harness.send('POST', `/api/v2/contacts/${UUID}`, { body: {} });
    expect(last()).toMatchObject({
      method: 'POST',
      route: '/api/v2/contacts/{id}',
      status: 405,
      org_id: null,
    });
  });

  test.each([
    ['/api/v2/contact', '/api/v2/contact'],
    ['/api/v2/contacts/', '/api/v2/contacts/'],
    [`/api/v2/contact/${UUID}`, `/api/v2/contact/${UUID}`],
    [`/api/v2/contact/${UUID.toUpperCase()}`, '/api/v2/contact/[hidden]'],
    ['/api/v2/contact/ada@example.com', '/api/v2/contact/[hidden]'],
    ['/nowhere/12345?a=b', '/nowhere/[hidden]'],
    [`/${'a/'.repeat(5_000)}`, `/${'a/'.repeat(10)}a`],
  ])('of %p, which is no path of the interface, shows %p', async (path, shown) => {
    await harness.send('GET', path);
    expect(last()).toMatchObject({ route: null, path: shown, address: 'local' });
  });

  test('for people tells the same in short', () => {
    const request = new Request('http://crm.test/api/v2/contacts?email=a');
    const exchange = startExchange({ request, api: 'v2', now: Date.now(), baseUrl: '' });
    const known = { ...exchange, route: '/api/v2/contacts', address: '192.0.2.7' };
    createLogger('pretty', (line) => lines.push(line))?.request(known, 200);
    expect(lines.at(-1)).toMatch(
      /^[\d:.]{12} {2}200 {2}GET \/api\/v2\/contacts {2}\d+ ms {2}192\.0\.2\.7 {2}req_/,
    );
  });
});

describe('a key or token', () => {
  const places: [string, (secret: string) => string][] = [
    ['instead of an id', (secret) => `/api/v2/contacts/${secret}`],
    ['instead of an id below another', (secret) => `/api/v2/deals/${UUID}/contacts/${secret}`],
    ['instead of an id of v1', (secret) => `/api/v1/people/${secret}`],
    ['at the end of an unknown path', (secret) => `/nowhere/${secret}`],
    ['as the whole path', (secret) => `/${secret}`],
    ['glued to a word', (secret) => `/api/v2/contacts${secret}`],
    ['behind a colon', (secret) => `/api/v2/contacts/key:${secret}`],
    ['with an escaped underscore', (secret) => `/api/v2/contacts/${secret.replaceAll('_', '%5F')}`],
    ['in the query', (secret) => `/api/v2/contacts?key=${secret}`],
    ['in the query of an unknown path', (secret) => `/nowhere?token=${secret}`],
  ];
  test.each(places)('%s is not logged', async (_, pathWith) => {
    for (const key of [harness.v2, harness.v1, harness.v2.slice(0, 30), harness.v2.slice(0, -3)]) {
      await harness.send('GET', pathWith(key));
      await harness.send('POST', pathWith(key), { key: null, raw: 'x' });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join('\n')).not.toContain(key.slice(13, 24));
    }
  });

  test('in the text of a failure is not logged either', () => {
    const token = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64url');
    const cause = new Error(`cannot parse https://crm.test/x?token=${token} sent with ${harness.v2}`);
    for (const style of ['json', 'pretty'] as const) {
      const request = new Request('http://crm.test/api/v2/contacts');
      const exchange = startExchange({ request, api: 'v2', now: 0, baseUrl: '' });
      createLogger(style, (line) => lines.push(line))?.failure(exchange, cause);
      expect(lines.at(-1)).toContain('cannot parse https://crm.test/x?[hidden] sent with [hidden]');
      expect(lines.at(-1)).toContain('log.test.ts');
    }
  });
});
