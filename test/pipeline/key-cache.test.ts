// Keys kept in memory: for as long as no commit can have changed one, wherever it was made, and no more of them than that.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { revokeKey, rotateKey } from '../../db/accounts/keys.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { openStore, type Store } from '../../db/store.ts';
import { generateKey, hashKey } from '../../db/tables/key-format.ts';
import { KeyCache } from '../../server/pipeline/key-cache.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { promptRound } from '../support/rounds.ts';
import { Place } from '../support/server-process.ts';

const place = new Place();
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const rowOf = (id: string, orgNumber = harness.orgNumber) =>
  ({ org_id: orgNumber, id, prefix: 'service_live' }) as never;
const revoke = (store: Store, id: string) =>
  store.write('accounts', (trx) => revokeKey(trx, rowOf(id), harness.clock.now));

/** The harness's keys behind a mark that is turned by hand. */
function knownKeys({ mark = 1 as number | null, keysMax = 100 } = {}) {
  const turn = { mark };
  const known = new KeyCache({ ...harness.store, keyVersion: () => turn.mark }, keysMax);
  return { turn, known, isRevoked: async (key: string) => (await known.find(key, 'v2'))?.isRevoked };
}

describe('a key that was found', () => {
  test('is not looked up again until the mark changes', async () => {
    const { key, id } = await harness.issue();
    const { turn, isRevoked } = knownKeys();
    expect(await isRevoked(key)).toBe(false);
    await revoke(harness.store, id);
    expect(await isRevoked(key)).toBe(false);
    turn.mark = 2;
    expect(await isRevoked(key)).toBe(true);
  });

  test('is looked up each time where there is no mark', async () => {
    const { key, id } = await harness.issue();
    const { isRevoked } = knownKeys({ mark: null });
    expect(await isRevoked(key)).toBe(false);
    await revoke(harness.store, id);
    expect(await isRevoked(key)).toBe(true);
  });

  test('is not kept if the mark changed while it was looked up', async () => {
    const { key, id } = await harness.issue();
    const { turn, known, isRevoked } = knownKeys();
    const early = known.find(key, 'v2');
    turn.mark = 2;
    // Another one tells of the change before the first is there.
    const other = known.find(harness.v2, 'v2');
    await Promise.all([early, other]);
    await revoke(harness.store, id);
    expect(await isRevoked(key)).toBe(true);
  });

  test('is let in by its own interface only', async () => {
    const { known } = knownKeys();
    for (let count = 0; count < 2; count++) {
      expect(await known.find(harness.v2, 'v2')).toBeDefined();
      expect(await known.find(harness.v2, 'v1')).toBeUndefined();
    }
  });

  test('gives way where there are too many', async () => {
    const keys = [await harness.issue(), await harness.issue(), await harness.issue()];
    const { isRevoked } = knownKeys({ keysMax: 2 });
    for (const { key } of keys) expect(await isRevoked(key)).toBe(false);
    for (const { id } of keys) await revoke(harness.store, id);
    // The third took the place of the first two.
    expect(await Promise.all(keys.map(({ key }) => isRevoked(key)))).toEqual([true, true, false]);
  });
});

test('a key that was never issued is not kept', async () => {
  const key = generateKey('service_live');
  const { known } = knownKeys();
  expect(await known.find(key, 'v2')).toBeUndefined();
  const { id } = await harness.issue();
  const secret = {
    org_id: harness.orgNumber,
    key_id: id,
    hash: hashKey(key),
    created_at: 0,
    expires_at: null,
  };
  await harness.store.write('accounts', (trx) => trx.insertInto('api_key_secrets').values(secret).execute());
  expect(await known.find(key, 'v2')).toBeDefined();
});

// On PostgreSQL there is none: every key is looked up each time.
describe.skipIf(isPostgres)('the mark of a store on SQLite', () => {
  const marked = async (change: () => Promise<unknown>) => {
    await nextTurn();
    const before = harness.store.keyVersion();
    await change();
    await nextTurn();
    return harness.store.keyVersion() !== before;
  };

  test('stays while records are written, and reads and turns go by', async () => {
    const body = { first_name: 'Ada' };
    await harness.send('POST', '/api/v2/contacts', { body });
    expect(await marked(() => harness.send('POST', '/api/v2/contacts', { body }))).toBe(false);
    expect(await marked(() => harness.send('GET', '/api/v2/contacts'))).toBe(false);
    expect(await marked(() => harness.store.write(harness.orgNumber, async () => undefined))).toBe(false);
  });

  test('changes with every write to keys, whatever its scope and the place that builds the statement', async () => {
    const { id } = await harness.issue();
    expect(await marked(() => revoke(harness.store, id))).toBe(true);
    expect(
      await marked(() => harness.store.write('accounts', (trx) => rotateKey(trx, rowOf(id), 0, 0))),
    ).toBe(true);
    expect(
      await marked(() =>
        harness.store.write(harness.orgNumber, (trx) =>
          trx.updateTable('api_keys').set({ scopes: '' }).where('id', '=', id).execute(),
        ),
      ),
    ).toBe(true);
    expect(
      await marked(() =>
        harness.store.write(harness.orgNumber, (trx) =>
          trx.deleteFrom('api_key_secrets').where('key_id', '=', id).execute(),
        ),
      ),
    ).toBe(true);
  });

  test('changes with a commit of another connection, as what is read does, in the midst of a turn too', async () => {
    const { id } = await harness.issue();
    const other = new Database(harness.dbPath);
    const revokeThere = (at: number) =>
      other.run('UPDATE api_keys SET revoked_at = ? WHERE id = ?', [at, id]);
    const revokedAt = async () => {
      const row = harness.store.read.selectFrom('api_keys').select('revoked_at').where('id', '=', id);
      return (await row.executeTakeFirstOrThrow()).revoked_at;
    };
    await nextTurn();
    const first = harness.store.keyVersion();
    expect(await revokedAt()).toBeNull();
    revokeThere(1);
    expect(await revokedAt()).toBeNull();
    // In this turn still.
    Bun.sleepSync(2);
    const second = harness.store.keyVersion();
    expect([second === first, await revokedAt()]).toEqual([false, 1]);
    await nextTurn();
    expect(harness.store.keyVersion()).toBe(second);
    revokeThere(2);
    await nextTurn();
    expect([harness.store.keyVersion() === second, await revokedAt()]).toEqual([false, 2]);
    other.close();
  });
});

test.skipIf(isPostgres)(
  'a key is found that another process issued since reads of this turn began',
  async () => {
    const { id } = await harness.issue();
    const key = generateKey('service_live');
    const { known } = knownKeys();
    const other = new Database(harness.dbPath);
    await nextTurn();
    await harness.store.read.selectFrom('settings').select('name').execute();
    other.run('INSERT INTO api_key_secrets (org_id, key_id, hash, created_at) VALUES (?, ?, ?, 0)', [
      ...[harness.orgNumber, id, hashKey(key)],
    ]);
    expect(await known.find(key, 'v2')).toBeDefined();
    other.close();
  },
);

describe('with a server in another process, from the very next request', () => {
  async function serve() {
    const { db, key } = await place.database();
    const server = await place.serve(db);
    const store = await openStore(db);
    const row = await store.read.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow();
    return {
      key,
      statusOf: async (one: string) => {
        const headers = { Authorization: `Bearer ${one}` };
        return (await fetch(`${server.url}/api/v2/contacts`, { headers })).status;
      },
      rotate: (graceMs: number) => store.write('accounts', (trx) => rotateKey(trx, row, graceMs, Date.now())),
      revoke: () => store.write('accounts', (trx) => revokeKey(trx, row, Date.now())),
      close: async () => {
        server.child.kill('SIGKILL');
        await store.close();
      },
    };
  }

  test('rotated and revoked keys end, however often they were used', async () => {
    const there = await serve();
    let { key } = there;
    for (let round = 0; round < 40; round++) {
      expect([await there.statusOf(key), await there.statusOf(key)]).toEqual([200, 200]);
      const former = key;
      key = (await there.rotate(0)).key;
      expect([await there.statusOf(former), await there.statusOf(key)]).toEqual([401, 200]);
    }
    await there.revoke();
    expect(await there.statusOf(key)).toBe(401);
    await there.close();
  });

  test('a former secret ends with its grace', async () => {
    const there = await serve();
    const graceMs = 1_500;
    let { key } = there;
    const { statuses, former, endsAt } = await promptRound(graceMs, async () => {
      const former = key;
      ({ key } = await there.rotate(graceMs));
      const endsAt = Date.now() + graceMs;
      return { statuses: [await there.statusOf(former), await there.statusOf(key)], former, endsAt };
    });
    expect(statuses).toEqual([200, 200]);
    await Bun.sleep(endsAt - Date.now());
    expect([await there.statusOf(former), await there.statusOf(key)]).toEqual([401, 200]);
    await there.close();
  });
});
