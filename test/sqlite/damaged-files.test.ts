// Database files that are deleted, replaced or written over while they are served: nothing more is acknowledged into nowhere.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { copyFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { describe, test } from '../support/on-sqlite.ts';
import { allIds, Place, post } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const place = new Place();

async function served() {
  const { db, key } = await place.database();
  const server = await place.serve(db);
  let count = 0;
  const create = async () => {
    count += 1;
    return (await post(server.url, key, '/contacts', { first_name: 'A' }, `k-${count}`)).status;
  };
  return {
    ...{ db, key, server, create },
    contacts: async () => (await allIds(server.url, key, 'contacts')).length,
    readiness: async () => (await fetch(`${server.url}/readyz`)).status,
    stop: async () => {
      server.child.kill('SIGTERM');
      return { code: await server.child.exited, said: await server.said };
    },
  };
}

/** The contacts that are in a file, with its log if it has one. */
function contactsIn(db: string): number {
  const file = new Database(db);
  const whole = file.query('PRAGMA integrity_check').get() as Record<string, string>;
  const { n } = file.query('SELECT count(*) AS n FROM contacts').get() as { n: number };
  file.close();
  expect(Object.values(whole)).toEqual(['ok']);
  return n;
}

describe('a database that is served', () => {
  test('and deleted takes no more writes, still gives what it holds, and says what to do', async () => {
    const { db, create, contacts, readiness, stop } = await served();
    expect(await create()).toBe(201);
    rmSync(db);
    for (let index = 0; index < 5; index++) expect(await create()).toBe(503);
    expect(await readiness()).toBe(503);
    expect(await contacts()).toBe(1);
    const { code, said } = await stop();
    expect(code).toBe(0);
    expect(said).toContain(`The database ${db} was deleted or moved while in use`);
    expect(said).toContain('Writes return 503 until this is fixed.\nNext: ');
  });

  test('and deleted says so by itself, within seconds', async () => {
    const { db, server } = await served();
    rmSync(db);
    const said = `The database ${db} was deleted or moved while in use`;
    await until(
      () => server.hasSaid(said),
      () => said,
      30_000,
    );
  });

  test('and moved goes on when it is moved back', async () => {
    const { db, create, readiness, stop } = await served();
    expect(await create()).toBe(201);
    renameSync(db, `${db}.elsewhere`);
    expect(await create()).toBe(503);
    renameSync(`${db}.elsewhere`, db);
    expect(await create()).toBe(201);
    expect(await readiness()).toBe(200);
    expect((await stop()).said).toContain('writes have resumed');
    expect(contactsIn(db)).toBe(2);
  });

  test('and moved for good takes along what was answered', async () => {
    const { db, create, stop } = await served();
    expect(await create()).toBe(201);
    renameSync(db, `${db}.elsewhere`);
    expect((await stop()).code).toBe(0);
    expect(contactsIn(`${db}.elsewhere`)).toBe(1);
  });

  test('and replaced takes no more writes; the other file is as it was, and can be served', async () => {
    const { db, key, create, readiness, stop } = await served();
    copyFileSync(db, `${db}.other`);
    expect(await create()).toBe(201);
    renameSync(`${db}.other`, db);
    expect(await create()).toBe(503);
    expect(await readiness()).toBe(503);
    const { code, said } = await stop();
    expect(code).toBe(0);
    expect(said).toContain('was replaced by another file while in use');
    const again = await place.serve(db);
    expect(await allIds(again.url, key, 'contacts')).toEqual([]);
    expect((await post(again.url, key, '/contacts', { first_name: 'B' }, 'k')).status).toBe(201);
    again.child.kill('SIGTERM');
    expect(await again.child.exited).toBe(0);
    expect(contactsIn(db)).toBe(1);
  });

  test('and whose log is deleted takes no more writes, and loses none as it stops', async () => {
    const { db, create, readiness, stop } = await served();
    for (let index = 0; index < 3; index++) expect(await create()).toBe(201);
    rmSync(`${db}-wal`);
    expect(await create()).toBe(503);
    expect(await readiness()).toBe(503);
    expect((await stop()).code).toBe(0);
    expect(contactsIn(db)).toBe(3);
  });

  test('and written over takes no more writes, and does not mix the two as it stops', async () => {
    const other = await place.database();
    const { db, create, readiness, stop } = await served();
    expect(await create()).toBe(201);
    // Into the same file, as cp does.
    await Bun.write(db, Bun.file(other.db));
    await create();
    expect(await readiness()).toBe(503);
    const { code, said } = await stop();
    expect(code).toBe(0);
    expect(said).toContain('Another program overwrote or truncated the database');
    expect(Bun.hash(await Bun.file(db).bytes())).toBe(Bun.hash(await Bun.file(other.db).bytes()));
    expect(place.serve(db)).rejects.toThrow('is not the file that');
  });

  test('and cut short under readers does not end by a signal, and is not served again as it is', async () => {
    const { db, key, server, create, readiness } = await served();
    await create();
    const read = () => fetch(`${server.url}/api/v2/contacts`, { headers: { 'X-Service-Api-Key': key } });
    await read();
    truncateSync(db, 20_480);
    for (let index = 0; index < 5; index++) {
      await read().catch(() => undefined);
      await create().catch(() => undefined);
    }
    expect(await readiness().catch(() => 503)).toBe(503);
    server.child.kill('SIGTERM');
    await server.child.exited;
    expect(server.child.signalCode === 'SIGTERM' ? null : server.child.signalCode).toBe(null);
    expect(place.serve(db)).rejects.toThrow(/is truncated|is damaged/);
  });

  test('and cut to its first page before it is read answers 500, goes on, and says what is wrong', async () => {
    const { db, key, server, create, readiness, stop } = await served();
    truncateSync(db, 4_096);
    for (let index = 0; index < 3; index++) {
      const headers = { 'X-Service-Api-Key': key };
      expect((await fetch(`${server.url}/api/v2/contacts`, { headers })).status).toBe(500);
      expect(await create()).toBe(500);
    }
    expect(await readiness()).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const { code, said } = await stop();
    expect(code).toBe(0);
    expect(said).toContain('Another program overwrote or truncated the database');
    expect(said).not.toContain('SQLiteError');
  });
});
