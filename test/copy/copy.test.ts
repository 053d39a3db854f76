// A copy of a database: all of it, served as the same, resumed wherever it was interrupted, and not opened before it is whole.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tablesToCopy } from '../../db/copy/copy.ts';
import { digestOf } from '../../db/copy/digest.ts';
import { openSnapshot, openStore } from '../../db/store.ts';
import { type CopyOutcome, copyOf, KEYED_CONTACTS, KEYED_WEBHOOK, startFilled } from '../support/copies.ts';
import { appOn, type Harness, sender, startHarness } from '../support/harness.ts';
import { contentOf } from '../support/organization.ts';

let harness: Harness;
const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));

beforeAll(async () => {
  harness = await startFilled();
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

const fileNamed = (name: string): string => join(folder, name);

/** The tables that differ. */
const different = ({ compared }: CopyOutcome): string[] =>
  [...compared].flatMap(([name, [source, copy]]) => (Bun.deepEquals(source, copy) ? [] : [name]));

test('has every row of every table as it was', async () => {
  const outcome = await copyOf(harness.dbPath, fileNamed('whole.db'));
  expect(outcome.readiness).toBe('empty');
  expect(different(outcome)).toEqual([]);
  const empty = [...outcome.compared].filter(([, [{ rows }]]) => rows === 0).map(([name]) => name);
  expect(empty).toEqual([]);
});

test('leaves time for the other database while one is read', async () => {
  const snapshot = await openSnapshot(harness.dbPath);
  const notes = (await tablesToCopy()).filter(({ name }) => name === 'notes');
  let [batches, turns] = [0, 0];
  let isOver = false;
  const countTurns = () => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  for (const table of notes)
    await digestOf({ db: harness.dbPath, read: snapshot.read }, table, () => {
      batches += 1;
    });
  isOver = true;
  await snapshot.close();
  expect(batches).toBeGreaterThan(2);
  expect(turns).toBeGreaterThanOrEqual(batches);
});

test('is served as the same: records, keys, cursors, stored answers', async () => {
  const path = fileNamed('served.db');
  await copyOf(harness.dbPath, path);
  const store = await openStore(path);
  const app = await appOn(store, harness.clock);
  const send = sender((request) => app.handle(request), harness);
  try {
    const copied = { ...harness, send };
    expect(await contentOf(copied, harness.v2, true)).toEqual(await contentOf(harness, harness.v2, true));
    const first = (await harness.send('GET', '/api/v2/notes?limit=2')).body;
    const next = `/api/v2/notes?limit=2&cursor=${encodeURIComponent(first.page_info.end_cursor)}`;
    expect((await send('GET', next)).body.data).toEqual((await harness.send('GET', next)).body.data);
    for (const [key, body] of Object.entries(KEYED_CONTACTS)) {
      const keyed = { body, headers: { 'Idempotency-Key': key } };
      const replayed = await send('POST', '/api/v2/contacts', keyed);
      expect([replayed.status, replayed.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
      expect(replayed.text).toBe((await harness.send('POST', '/api/v2/contacts', keyed)).text);
    }
    // Its secret is encrypted, with a key that is copied too.
    const webhook = (await send('POST', '/api/v2/webhooks', KEYED_WEBHOOK)).body.data;
    expect(webhook).toEqual((await harness.send('POST', '/api/v2/webhooks', KEYED_WEBHOOK)).body.data);
    expect(webhook.secret).toMatch(/^whsec_/);
    expect((await send('GET', '/api/v1/people/query', { key: harness.v1 })).status).toBe(405);
    const created = (await send('POST', '/api/v2/tasks', { body: { name: 'New' } })).body.data;
    expect(created.updated_at > first.data[0].updated_at).toBe(true);
  } finally {
    await store.close();
  }
});

test('that was interrupted at a write resumes there, and cannot be opened until it is complete', async () => {
  let writes = 0;
  await copyOf(harness.dbPath, fileNamed('counted.db'), () => {
    writes += 1;
  });
  expect(writes).toBeGreaterThan(30);
  // Before the first it is only an empty database. A dozen of the others take long enough.
  const step = Math.ceil(writes / 12);
  for (let at = 2; at <= writes; at += step) {
    const path = fileNamed(`interrupted-${at}.db`);
    let count = 0;
    const interrupted = copyOf(harness.dbPath, path, () => {
      count += 1;
      if (count === at) throw new Error('interrupted');
    });
    expect(interrupted).rejects.toThrow('a database failed');
    await interrupted.catch(() => undefined);
    expect(openStore(path)).rejects.toThrow(
      `The database ${path} contains an incomplete copy of another database.`,
    );
    const again = await copyOf(harness.dbPath, path);
    expect([at, again.readiness, different(again)]).toEqual([at, 'begun', []]);
    expect(again.done > 0).toBe(at > 2);
    await (await openStore(path)).close();
  }
}, 300_000);

test('is made into nothing but an empty database, or one with a part of it', async () => {
  const empty = await startHarness();
  const { dbPath } = empty;
  expect((await copyOf(harness.dbPath, dbPath)).readiness).toBe('not empty');
  const path = fileNamed('begun.db');
  const isSecond = () => {
    let count = 0;
    return () => {
      count += 1;
      if (count === 3) throw new Error('interrupted');
    };
  };
  await copyOf(harness.dbPath, path, isSecond()).catch(() => undefined);
  expect((await copyOf(dbPath, path)).readiness).toBe('of another database');
  expect(copyOf(path, fileNamed('of-a-part.db'))).rejects.toThrow('incomplete copy');
  await empty.close();
});

test('differs where something else has written to it', async () => {
  const path = fileNamed('changed.db');
  const store = await openStore(path, { isBeingFilled: true });
  let count = 0;
  await copyOf(harness.dbPath, path, () => {
    count += 1;
    if (count === 25) throw new Error('interrupted');
  }).catch(() => undefined);
  await store.write('accounts', async (trx) => {
    await trx.updateTable('users').set({ name: 'Changed' }).execute();
    await trx.deleteFrom('idempotency_keys').where('key', '=', 'k1').execute();
  });
  await store.close();
  expect(different(await copyOf(harness.dbPath, path))).toEqual(['users', 'idempotency_keys']);
});

test('has what was there when it began, whatever is written meanwhile', async () => {
  const writing: Promise<unknown>[] = [];
  const rename = () =>
    harness.store.write('accounts', (trx) =>
      trx
        .updateTable('users')
        .set({ name: `${writing.length}` })
        .execute(),
    );
  const path = fileNamed('meanwhile.db');
  expect(different(await copyOf(harness.dbPath, path, () => writing.push(rename())))).toEqual([]);
  await Promise.all(writing);
  expect(writing.length).toBeGreaterThan(20);
  expect(different(await copyOf(harness.dbPath, fileNamed('afterwards.db')))).toEqual([]);
});
