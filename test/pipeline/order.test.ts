// The order of checks: route, credential, scope, size, replay, rate limit, validation, existence; the first that fails answers.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectRefusal, type FaultRow, versionOf } from '../support/envelope.ts';
import { type Harness, type RequestInput, startHarness } from '../support/harness.ts';

const MEBIBYTE = 1024 * 1024;
const TOO_LARGE = ' '.repeat(MEBIBYTE + 1);

let harness: Harness;
const keys: Record<string, string> = {};

beforeAll(async () => {
  harness = await startHarness({ keyLimit: 2 });
  keys.unscoped = (await harness.issue({ scopes: ['deals:read'] })).key;
  keys.unscoped1 = (await harness.issue({ api: 'v1', scopes: ['companies:read'] })).key;
  keys.spent = (await harness.issue()).key;
  keys.spent1 = (await harness.issue({ api: 'v1' })).key;
  for (const key of [keys.spent, keys.spent]) {
    const headers = { 'Idempotency-Key': 'used' };
    await harness.send('POST', '/api/v2/contacts', { key, body: { first_name: 'First' }, headers });
    await harness.send('GET', '/api/v2/contacts', { key });
  }
  for (const key of [keys.spent1, keys.spent1]) await harness.send('GET', '/api/v1/authenticate', { key });
});
afterAll(() => harness.close());

interface Row {
  name: string;
  method: string;
  path: string;
  /** Name of one of the keys above; none if left out. */
  key?: string;
  input?: Omit<RequestInput, 'key'>;
  status: number;
  code: string;
  faults?: FaultRow[];
}

const mismatch = { 'Idempotency-Key': 'used', 'Content-Type': 'text/plain' };
const malformed = { 'Idempotency-Key': 'not a key', 'Content-Type': 'text/plain' };

const ROWS: Row[] = [
  {
    name: 'an unknown path before a missing key',
    method: 'POST',
    path: '/api/v2/nothing?x=1',
    input: { raw: TOO_LARGE },
    status: 404,
    code: 'RESOURCE_NOT_FOUND',
  },
  {
    name: 'a wrong method before a missing key',
    method: 'PUT',
    path: '/api/v2/contacts?x=1',
    input: { raw: TOO_LARGE },
    status: 405,
    code: 'OPERATION_FORBIDDEN',
  },
  {
    name: 'a wrong method before a missing key in v1',
    method: 'PATCH',
    path: '/api/v1/people',
    input: { raw: TOO_LARGE },
    status: 405,
    code: 'OPERATION_FORBIDDEN',
  },
  {
    name: 'a missing key before size',
    method: 'POST',
    path: '/api/v2/contacts?x=1',
    input: { raw: TOO_LARGE, headers: malformed },
    status: 401,
    code: 'AUTH_MISSING_CREDENTIALS',
  },
  {
    name: 'a missing scope before size',
    method: 'POST',
    path: '/api/v2/contacts?x=1',
    key: 'unscoped',
    input: { raw: TOO_LARGE, headers: malformed },
    status: 403,
    code: 'AUTH_INSUFFICIENT_SCOPE',
  },
  {
    name: 'a missing scope before validation and existence in v1',
    method: 'PATCH',
    path: '/api/v1/people/absent?x=1',
    key: 'unscoped1',
    input: { raw: TOO_LARGE },
    status: 403,
    code: 'AUTH_INSUFFICIENT_SCOPE',
  },
  {
    name: 'size before a used idempotency key, a spent limit and validation',
    method: 'POST',
    path: '/api/v2/contacts?x=1',
    key: 'spent',
    input: { raw: TOO_LARGE, headers: mismatch },
    status: 413,
    code: 'VALIDATION_OUT_OF_RANGE',
  },
  {
    name: 'size before a spent limit in v1',
    method: 'POST',
    path: '/api/v1/people?x=1',
    key: 'spent1',
    input: { raw: TOO_LARGE },
    status: 413,
    code: 'VALIDATION_OUT_OF_RANGE',
  },
  {
    name: 'an idempotency key used for something else before a spent limit',
    method: 'POST',
    path: '/api/v2/contacts?x=1',
    key: 'spent',
    input: { raw: '{', headers: mismatch },
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: [['Idempotency-Key', 'VALIDATION_FAILED']],
  },
  {
    name: 'a spent limit before an idempotency key that cannot be one, the query and the body',
    method: 'POST',
    path: '/api/v2/contacts?x=1',
    key: 'spent',
    input: { raw: '{', headers: malformed },
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
  },
  {
    name: 'a spent limit before validation and existence in v1',
    method: 'PATCH',
    path: '/api/v1/people/absent?x=1',
    key: 'spent1',
    input: { raw: '{' },
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
  },
];

describe('the first check that fails answers', () => {
  for (const { name, method, path, key, input, status, code, faults } of ROWS) {
    test(name, async () => {
      const reply = await harness.send(method, path, { ...input, key: key ? (keys[key] ?? null) : null });
      expectRefusal(reply, status, code, faults, versionOf(path));
    });
  }
});

test('a replay before a spent limit', async () => {
  const input = { key: keys.spent, headers: { 'Idempotency-Key': 'used' }, body: { first_name: 'First' } };
  const reply = await harness.send('POST', '/api/v2/contacts', input);
  expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
});

const VALIDATION_FIRST: [method: string, path: string, body: string, path422: string][] = [
  ['PATCH', '/api/v2/contacts/absent', '{"nope":1}', 'nope'],
  ['PATCH', '/api/v2/notes/absent', '{"is_archived":"yes"}', 'is_archived'],
  ['POST', '/api/v2/deals/absent/contacts', '{"contact_id":5}', 'contact_id'],
  ['PUT', '/api/v2/meetings/absent/deal', '{"deal_id":5}', 'deal_id'],
  ['PATCH', '/api/v1/people/absent', '{"nope":1}', 'nope'],
  ['PATCH', '/api/v1/companies/absent', '{"domain":""}', 'domain'],
];

describe('validation before existence', () => {
  for (const [method, path, body, at] of VALIDATION_FIRST) {
    test(`${method} ${path} ${body}`, async () => {
      const { key } = await harness.issue({ api: versionOf(path) === '1' ? 'v1' : 'v2' });
      const refused = await harness.send(method, path, { key, raw: body });
      expect([refused.status, refused.body.error.details[0].path]).toEqual([422, at]);
      const query = await harness.send(method, `${path}?x=1`, { key, raw: body });
      expect(query.status).toBe(422);
    });
  }

  test('an absent record with a valid body is a 404', async () => {
    const { key } = await harness.issue();
    const input = { key, body: { title: 'CTO' } };
    expectRefusal(await harness.send('PATCH', '/api/v2/contacts/absent', input), 404, 'RESOURCE_NOT_FOUND');
    expectRefusal(
      await harness.send('DELETE', '/api/v2/contacts/absent', { key }),
      404,
      'RESOURCE_NOT_FOUND',
    );
  });
});
