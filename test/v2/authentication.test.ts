// GET /authenticate: any version 2 key learns what it is.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { expectError } from '../support/v2.ts';

const EXPIRY = Date.UTC(2100, 0, 1);

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ keyLimit: 150, orgLimit: 900 });
});
afterAll(() => harness.close());

const ask = (key?: string | null) =>
  harness.send('GET', '/api/v2/authenticate', { ...(key !== undefined && { key }) });

test('an organization-wide key', async () => {
  const { status, body } = await ask();
  expect(status).toBe(200);
  expect(body.data).toEqual({
    organization: { id: expect.stringMatching(/^[\da-f-]{36}$/), name: 'Acme' },
    key: {
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      name: null,
      access: 'organization',
      user_id: null,
      scopes: V2_SCOPES,
      expires_at: null,
      requests_per_minute: 150,
    },
  });
});

test('a key bound to a user, with one scope and an expiry', async () => {
  const { key, id } = await harness.issue({
    scopes: ['notes:read'],
    userId: harness.alice,
    expiresAt: EXPIRY,
  });
  expect((await ask(key)).body.data.key).toEqual({
    id,
    name: null,
    access: 'user',
    user_id: harness.alice,
    scopes: ['notes:read'],
    expires_at: '2100-01-01T00:00:00.000Z',
    requests_per_minute: 150,
  });
});

test('a key of another organization gets its own', async () => {
  const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
  expect((await ask(key)).body.data.organization.name).toBe('Other');
});

test('the limit of the organization holds, if it is the lower one', async () => {
  const tight = await startHarness({ keyLimit: 500, orgLimit: 300 });
  const { body } = await tight.send('GET', '/api/v2/authenticate');
  expect(body.data.key.requests_per_minute).toBe(300);
  await tight.close();
});

test('counts as a request', async () => {
  const { key } = await harness.issue();
  const remaining = async () => Number((await ask(key)).headers.get('X-RateLimit-Remaining'));
  const first = await remaining();
  expect(await remaining()).toBe(first - 1);
});

test('without a key, or with one of version 1', async () => {
  expectError(await ask(null), 401, 'AUTH_MISSING_CREDENTIALS');
  expectError(await ask(harness.v1), 401, 'AUTH_INVALID_API_KEY');
});

test('takes no query and no other method', async () => {
  expectError(await harness.send('GET', '/api/v2/authenticate?a=1'), 422, 'VALIDATION_FAILED', 'a');
  expectError(await harness.send('POST', '/api/v2/authenticate', { body: {} }), 405, 'OPERATION_FORBIDDEN');
});
