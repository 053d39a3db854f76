// Version 1 says in every answer that it is deprecated, and speaks of people where version 2 has contacts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openApiDocument } from '../../server/openapi/document.ts';
import { BASE_URL, type Harness, type Json, type RequestInput, startHarness } from '../support/harness.ts';

const ANCHOR = 'from-version-1-to-version-2';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ keyLimit: 12 });
});
afterAll(() => harness.close());

const ANSWERS: [status: number, method: string, path: string, input?: RequestInput][] = [
  [200, 'GET', '/authenticate'],
  [200, 'HEAD', '/authenticate'],
  [201, 'POST', '/companies', { body: { domain: 'deprecated.example' } }],
  [401, 'GET', '/authenticate', { key: null }],
  [404, 'GET', '/people/absent'],
  [404, 'GET', '/deals'],
  [404, 'GET', ''],
  [405, 'PUT', '/companies'],
  [413, 'POST', '/people', { raw: ' '.repeat(1024 * 1024 + 1) }],
  [422, 'POST', '/people', { body: {} }],
];

for (const [status, method, path, input] of ANSWERS) {
  test(`${method} /api/v1${path} → ${status}`, async () => {
    const reply = await harness.send(method, `/api/v1${path}`, input);
    expect(reply.status).toBe(status);
    expectDeprecated(reply.headers);
  });
}

test('the limit that is used up → 429', async () => {
  let reply = await harness.send('GET', '/api/v1/authenticate');
  while (reply.status === 200) reply = await harness.send('GET', '/api/v1/authenticate');
  expect(reply.status).toBe(429);
  expectDeprecated(reply.headers);
});

test('version 2 is not deprecated', async () => {
  for (const path of ['/api/v2/contacts', '/api/v2/people', '/nowhere']) {
    const { headers } = await harness.send('GET', path);
    expect([headers.get('Deprecation'), headers.get('Link')]).toEqual([null, null]);
  }
});

test('the link leads to the migration notes', async () => {
  const document: Json = await openApiDocument();
  const headings = [...document.info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(headings.map((title) => title.toLowerCase().replaceAll(' ', '-'))).toContain(ANCHOR);
});

test.each([
  ['people', 'Your organization has no person with this ID.'],
  ['companies', 'Your organization has no company with this ID.'],
  ['interactions', 'Your organization has no interaction with this ID.'],
])('an absent one of %s is reported in the words of version 1', async (resource, message) => {
  const { key } = await harness.issue({ api: 'v1' });
  const reply = await harness.send('GET', `/api/v1/${resource}/absent`, { key });
  expect([reply.status, reply.body.error.message]).toEqual([404, message]);
});

test('a conflict names a person', async () => {
  const { key } = await harness.issue({ api: 'v1' });
  const body = { type: 'email', identifier: 'ada@deprecated.example', firstName: 'Ada' };
  await harness.send('POST', '/api/v1/people', { key, body });
  const reply = await harness.send('POST', '/api/v1/people', { key, body });
  expect(reply.body.error.message).toBe('identifier: another person has this email');
});

function expectDeprecated(headers: Headers): void {
  expect(headers.get('Deprecation')).toBe('@1767225600');
  expect(headers.get('Link')).toBe(`<${BASE_URL}/docs#${ANCHOR}>; rel="deprecation"; type="text/html"`);
}
