// Credentials: the ways to send a key, everything that is not one, and the limit on guessing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { revokeKey, rotateKey } from '../../db/accounts/keys.ts';
import { openStore } from '../../db/store.ts';
import { expectRefusal, versionOf } from '../support/envelope.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
let addresses = 0;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const V1_PATH = '/api/v1/authenticate';
const V2_PATH = '/api/v2/contacts';
const MINUTE_MS = 60_000;
const OLD_SECRET: [string, string][] = [['key.secret', 'AUTH_INVALID_API_KEY']];

/** Sends just these headers, from an address that has not guessed yet. */
function sendWith(path: string, headers: [name: string, value: string][]) {
  addresses += 1;
  // A repeated header is joined with ", " before anything of ours sees it.
  const joined = new Headers([['X-Test-Address', `a${addresses}`]]);
  for (const [name, value] of headers) joined.append(name, value);
  return harness.send('GET', path, { key: null, headers: Object.fromEntries(joined) });
}

describe('a key is accepted', () => {
  const ways: [string, (key: string) => [string, string]][] = [
    ['X-Service-Api-Key', (key) => ['X-Service-Api-Key', key]],
    ['x-service-api-key', (key) => ['x-service-api-key', key]],
    ['Authorization: Bearer', (key) => ['Authorization', `Bearer ${key}`]],
    ['authorization: bearer', (key) => ['authorization', `bearer ${key}`]],
  ];
  for (const [name, way] of ways) {
    test(`as ${name}`, async () => {
      expect((await sendWith(V1_PATH, [way(harness.v1)])).status).toBe(200);
      expect((await sendWith(V2_PATH, [way(harness.v2)])).status).toBe(200);
    });
  }
  for (const prefix of ['service_api', 'service_pk']) {
    test(`in v1 with the prefix ${prefix}`, async () => {
      const { key } = await harness.issue({ api: 'v1', prefix });
      expect(key).toStartWith(`${prefix}_`);
      expect((await sendWith(V1_PATH, [['X-Service-Api-Key', key]])).status).toBe(200);
    });
  }
});

type Make = (key: string, other: string) => [string, string][];
const bearer = (key: string): [string, string] => ['Authorization', `Bearer ${key}`];
const header = (key: string): [string, string] => ['X-Service-Api-Key', key];
const mistyped = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
const swapped = (key: string) => key.replace(/_(.)(.)/, (_, a, b) => (a === b ? `_${a}x` : `_${b}${a}`));

const INVALID: [string, Make][] = [
  ['both headers with the same key', (key) => [header(key), bearer(key)]],
  ['both headers, one of them empty', (key) => [header(''), bearer(key)]],
  ['both headers, one of another kind', (key) => [header(key), ['Authorization', 'Basic eDp5']]],
  ['X-Service-Api-Key twice', (key) => [header(key), header(key)]],
  ['Authorization twice', (key) => [bearer(key), bearer(key)]],
  ['an empty X-Service-Api-Key', () => [header('')]],
  ['an empty Authorization', () => [['Authorization', '']]],
  ['Bearer without a key', () => [['Authorization', 'Bearer']]],
  ['a key without Bearer', (key) => [['Authorization', key]]],
  ['Bearer in the key header', (key) => [header(`Bearer ${key}`)]],
  ['Basic', (key) => [['Authorization', `Basic ${Buffer.from(`${key}:`).toString('base64')}`]]],
  ['two keys in one header', (key) => [bearer(`${key} ${key}`)]],
  ["the other version's key", (_, other) => [bearer(other)]],
  ['a mistyped checksum', (key) => [bearer(mistyped(key))]],
  ['two characters swapped', (key) => [bearer(swapped(key))]],
  ['a key in capitals', (key) => [bearer(key.toUpperCase())]],
  ['a key cut short', (key) => [bearer(key.slice(0, -1))]],
  ['a key with something behind it', (key) => [bearer(`${key}0`)]],
  ['an unknown prefix', (key) => [bearer(key.replace(/^service_[a-z]+/, 'service_test'))]],
  ['something else', () => [bearer('secret')]],
];

describe('AUTH_INVALID_API_KEY', () => {
  for (const [name, make] of INVALID) {
    test(name, async () => {
      for (const [path, key, other] of [
        [V1_PATH, harness.v1, harness.v2],
        [V2_PATH, harness.v2, harness.v1],
      ] as const) {
        const reply = await sendWith(path, make(key, other));
        expectRefusal(reply, 401, 'AUTH_INVALID_API_KEY', undefined, versionOf(path));
        expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer');
        for (const secret of [key, other]) expect(reply.text).not.toContain(secret.slice(-20));
      }
    });
  }

  test('a well-formed key that was never issued, from a database of the same form', async () => {
    const elsewhere = await startHarness();
    const reply = await sendWith(V2_PATH, [bearer(elsewhere.v2)]);
    expectRefusal(reply, 401, 'AUTH_INVALID_API_KEY');
    await elsewhere.close();
  });
});

test('no credential is AUTH_MISSING_CREDENTIALS', async () => {
  const reply = await sendWith(V2_PATH, []);
  const { message } = expectRefusal(reply, 401, 'AUTH_MISSING_CREDENTIALS');
  expect(message).toContain('X-Service-Api-Key');
  expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer');
});

describe('the life of a key', () => {
  test('it expires at the instant it was given', async () => {
    const expiresAt = harness.clock.now + 1_000;
    const { key } = await harness.issue({ expiresAt });
    expect((await sendWith(V2_PATH, [bearer(key)])).status).toBe(200);
    harness.clock.now = expiresAt - 1;
    expect((await sendWith(V2_PATH, [bearer(key)])).status).toBe(200);
    harness.clock.now = expiresAt;
    const reply = await sendWith(V2_PATH, [bearer(key)]);
    expectRefusal(reply, 401, 'AUTH_EXPIRED_API_KEY');
    expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  test('revoked by another process it ends with the next request, expired or not', async () => {
    const { key, id } = await harness.issue({ expiresAt: harness.clock.now + 1_000 });
    expect((await sendWith(V2_PATH, [bearer(key)])).status).toBe(200);
    const other = await openStore(harness.dbPath);
    await other.write('accounts', (trx) =>
      revokeKey(trx, { org_id: harness.orgNumber, id } as never, harness.clock.now),
    );
    await other.close();
    expectRefusal(await sendWith(V2_PATH, [bearer(key)]), 401, 'AUTH_INVALID_API_KEY');
    harness.clock.now += 2_000;
    expectRefusal(await sendWith(V2_PATH, [bearer(key)]), 401, 'AUTH_INVALID_API_KEY');
  });

  test('rotated it has two secrets for the grace, then one', async () => {
    const { key, id } = await harness.issue();
    const row = { org_id: harness.orgNumber, id, prefix: 'service_live' } as never;
    const rotated = await harness.store.write('accounts', (trx) =>
      rotateKey(trx, row, 5_000, harness.clock.now),
    );
    for (const one of [key, rotated.key]) expect((await sendWith(V2_PATH, [bearer(one)])).status).toBe(200);
    harness.clock.now += 4_999;
    expect((await sendWith(V2_PATH, [bearer(key)])).status).toBe(200);
    harness.clock.now += 1;
    const past = await sendWith(V2_PATH, [bearer(key)]);
    const { message } = expectRefusal(past, 401, 'AUTH_INVALID_API_KEY', OLD_SECRET);
    expect(message).toBe(
      'The API key was rotated, and this is an old secret that no longer works; use the new one.',
    );
    expect(past.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect((await sendWith(V2_PATH, [bearer(rotated.key)])).status).toBe(200);
    // Of a revoked key, no secret tells anything.
    await harness.store.write('accounts', (trx) => revokeKey(trx, row, harness.clock.now));
    for (const one of [key, rotated.key]) {
      const refused = expectRefusal(await sendWith(V2_PATH, [bearer(one)]), 401, 'AUTH_INVALID_API_KEY');
      expect(refused.message).toStartWith('The API key is not valid.');
    }
  });

  test('rotated without grace the old secret ends at once, and earlier graces are not made longer', async () => {
    const { key, id } = await harness.issue();
    const row = { org_id: harness.orgNumber, id, prefix: 'service_live' } as never;
    const rotate = (grace: number) =>
      harness.store.write('accounts', (trx) => rotateKey(trx, row, grace, harness.clock.now));
    const second = await rotate(1_000);
    const third = await rotate(60_000);
    harness.clock.now += 1_000;
    expectRefusal(await sendWith(V2_PATH, [bearer(key)]), 401, 'AUTH_INVALID_API_KEY', OLD_SECRET);
    expect((await sendWith(V2_PATH, [bearer(second.key)])).status).toBe(200);
    const fourth = await rotate(0);
    for (const old of [second, third])
      expectRefusal(await sendWith(V2_PATH, [bearer(old.key)]), 401, 'AUTH_INVALID_API_KEY', OLD_SECRET);
    expect((await sendWith(V2_PATH, [bearer(fourth.key)])).status).toBe(200);
  });

  test('its last use is kept to the minute', async () => {
    const { key, id } = await harness.issue();
    const used = async () => {
      await harness.store.write('accounts', async () => undefined);
      const rows = harness.store.read.selectFrom('api_keys').select('last_used_at').where('id', '=', id);
      return (await rows.executeTakeFirstOrThrow()).last_used_at;
    };
    expect(await used()).toBeNull();
    const minute = Math.ceil(harness.clock.now / MINUTE_MS) * MINUTE_MS;
    for (const [at, noted] of [
      [minute + 1_234, minute],
      [minute + 59_999, minute],
      [minute + 60_000, minute + 60_000],
    ] as const) {
      harness.clock.now = at;
      await sendWith(V2_PATH, [bearer(key)]);
      expect(await used()).toBe(noted);
    }
  });
});

describe('guessing', () => {
  const from = (address: string, key: string | null) =>
    harness.send('GET', V2_PATH, { key, headers: { 'X-Test-Address': address } });

  test('60 wrong keys a minute and address, then 429; missing ones do not count; a valid key passes', async () => {
    harness.clock.now = Math.ceil(harness.clock.now / MINUTE_MS) * MINUTE_MS + 30_000;
    for (let count = 0; count < 100; count++) {
      expect((await from('guesser', null)).status).toBe(401);
    }
    const { key: expired } = await harness.issue({ expiresAt: harness.clock.now - 1 });
    expectRefusal(await from('guesser', expired), 401, 'AUTH_EXPIRED_API_KEY');
    for (let count = 1; count < 60; count++) expect((await from('guesser', 'wrong')).status).toBe(401);
    const refused = await from('guesser', 'wrong');
    expectRefusal(refused, 429, 'RATE_LIMIT_EXCEEDED');
    expect(refused.headers.get('Retry-After')).toBe('30');
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'])
      expect(refused.headers.get(name)).toMatch(/^\d+$/);
    expectRefusal(await from('guesser', expired), 429, 'RATE_LIMIT_EXCEEDED');
    expectRefusal(await from('guesser', null), 401, 'AUTH_MISSING_CREDENTIALS');
    expect((await from('guesser', harness.v2)).status).toBe(200);
    expect((await from('another', 'wrong')).status).toBe(401);
    harness.clock.now += 30_000;
    expectRefusal(await from('guesser', 'wrong'), 401, 'AUTH_INVALID_API_KEY');
  });
});
