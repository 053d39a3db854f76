// The log: what a line tells of a request, and that no key or token gets into one, wherever it was put.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createLogger } from '../../server/log.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const lines: string[] = [];
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ log: (line) => lines.push(line) });
});
afterAll(() => harness.close());
beforeEach(() => {
  lines.length = 0;
});

const UUID = '01a1fbab-2e9e-734f-b92a-7419e0ba384d';
const lastPath = () => JSON.parse(lines.at(-1) ?? '{}').path;

describe('a line', () => {
  test('tells who did what, how it went and how long it took', async () => {
    const reply = await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'Ada' } });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: expect.any(String),
      level: 'info',
      request_id: reply.headers.get('X-Request-Id'),
      method: 'POST',
      path: '/api/v2/contacts',
      key_id: expect.stringMatching(/^[\da-f-]{36}$/),
      status: 201,
      ms: expect.any(Number),
    });
  });

  test.each([
    [`/api/v2/contacts/${UUID}`, `/api/v2/contacts/${UUID}`],
    [`/api/v2/deals/${UUID}/contacts/${UUID}`, `/api/v2/deals/${UUID}/contacts/${UUID}`],
    ['/api/v1/people/query', '/api/v1/people/query'],
    ['/api/v2/contact', '/api/v2/contact'],
    ['/api/v2/contacts/', '/api/v2/contacts/'],
    ['/api/v2/contacts?email=ada%40example.com', '/api/v2/contacts'],
    ['/api/v2/contacts/ada@example.com', '/api/v2/contacts/[hidden]'],
    ['/api/v2/contacts/12345', '/api/v2/contacts/[hidden]'],
    [`/api/v2/contacts/${UUID.toUpperCase()}`, '/api/v2/contacts/[hidden]'],
    [`/${'a/'.repeat(5_000)}`, `/${'a/'.repeat(10)}a`],
  ])('of %p shows %p', async (path, shown) => {
    await harness.send('GET', path);
    expect(lastPath()).toBe(shown);
  });
});

describe('a key or token', () => {
  const places: [string, (secret: string) => string][] = [
    ['in place of an id', (secret) => `/api/v2/contacts/${secret}`],
    ['in place of an id below another', (secret) => `/api/v2/deals/${UUID}/contacts/${secret}`],
    ['in place of an id of v1', (secret) => `/api/v1/people/${secret}`],
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
      const rest = { keyId: null, countedIn: null, bodySince: null, bodyUntil: null, givenUp: null };
      const exchange = { request, requestId: 'req_x', ...rest, now: 0 };
      createLogger(style, (line) => lines.push(line))?.failure(
        { ...exchange, api: 'v2', headers: {}, baseUrl: '' },
        cause,
      );
      expect(lines.at(-1)).toContain('cannot parse https://crm.test/x?[hidden] sent with [hidden]');
      expect(lines.at(-1)).toContain('log.test.ts');
    }
  });
});
