// The write lock in another process's hands: writes wait for it, reads and the event loop do not.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { test } from '../support/on-sqlite.ts';
import { promptRound } from '../support/rounds.ts';
import { Place, post } from '../support/server-process.ts';

const place = new Place();

/** Takes the write lock, as a program that is in the midst of writing. */
function lock(db: string): Disposable {
  const other = new Database(db);
  other.run('PRAGMA busy_timeout = 5000');
  other.run('BEGIN IMMEDIATE');
  return { [Symbol.dispose]: () => other.close() };
}

const get = async (url: string, key: string) => {
  const { status } = await fetch(`${url}/api/v2/contacts`, { headers: { 'X-Service-Api-Key': key } });
  return status;
};

test('reads are answered meanwhile, and a write as soon as the lock is free', async () => {
  const { db, key } = await place.database();
  const { url } = await place.serve(db);
  await get(url, key);
  let isWritten = false;
  const held = lock(db);
  const write = post(url, key, '/contacts', { first_name: 'Ada' }, 'k').then((reply) => {
    isWritten = true;
    return reply.status;
  });
  // Those that waited for the lock would each take until the write is refused.
  for (let reads = 0; reads < 40; reads++) {
    expect(await promptRound(1_000, () => get(url, key))).toBe(200);
    await Bun.sleep(20);
  }
  expect(isWritten).toBe(false);
  held[Symbol.dispose]();
  expect(await write).toBe(201);
});

test('a write that waited for nothing is a 503 within ten seconds, however many wait', async () => {
  const { db, key } = await place.database();
  const { url } = await place.serve(db);
  const held = lock(db);
  const begun = performance.now();
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, index) => post(url, key, '/contacts', { first_name: 'A' }, `k-${index}`)),
  );
  expect(performance.now() - begun).toBeLessThan(10_000);
  for (const { status, headers, body } of replies) {
    expect([status, body.error.code]).toEqual([503, 'INTERNAL_ERROR']);
    expect(headers.get('Retry-After')).toMatch(/^\d+$/);
  }
  held[Symbol.dispose]();
  const again = await post(url, key, '/contacts', { first_name: 'A' }, 'k-0');
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
}, 300_000);
