// One server a database file, by whatever name, and what else may use the file meanwhile.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { linkSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { DatabaseError, lockForServing, openStore, servingProcess } from '../../db/store.ts';
import { sharesPort } from '../../server/lifecycle/kernel-sockets.ts';
import { type ServeOptions, startServer } from '../../server/serve.ts';
import { describe, test } from '../support/on-sqlite.ts';
import { freePort } from '../support/ports.ts';
import { Place, post } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const place = new Place();
const serveOptions = (db: string, port = 0): ServeOptions => ({
  ...{ db, port, host: '127.0.0.1', log: 'off' },
  ...{ keyLimit: 1_000_000, orgLimit: 1_000_000 },
});

describe('one server a database', () => {
  test('a second one names the first, and can start once that one has stopped', async () => {
    const { db } = await place.database();
    const first = await startServer(serveOptions(db));
    const error = await startServer(serveOptions(db)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error.message).toContain(`process ${process.pid}`);
    expect(error.message).toContain('127.0.0.1');
    expect(error.nextSteps.length).toBeGreaterThan(0);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.stop();
    const second = await startServer(serveOptions(db));
    await second.stop();
  });

  test('starts though somebody just looks who serves', async () => {
    const { db } = await place.database();
    await (await startServer(serveOptions(db))).stop();
    // Ends with 1 if it has held the lock for about as long as a server waits for it.
    const script = `
      const lock = new (require('bun:sqlite').Database)(process.argv[1]);
      const begun = performance.now();
      lock.run('BEGIN IMMEDIATE');
      console.log('held');
      Bun.sleepSync(100);
      lock.run('ROLLBACK');
      process.exit(performance.now() - begun < 400 ? 0 : 1);`;
    const startsBeside = async () => {
      const looking = Bun.spawn([process.execPath, '-e', script, `${db}-serving`], { stdout: 'pipe' });
      await looking.stdout.getReader().read();
      const [started] = await Promise.allSettled([startServer(serveOptions(db))]);
      if (started.status === 'fulfilled') await started.value.stop();
      const code = await looking.exited;
      expect(code).toBeOneOf([0, 1]);
      if (code === 0) expect(started.status).toBe('fulfilled');
      return code === 0;
    };
    await until(startsBeside);
  });

  test('says whether it hands over, and an older crm, which does not, can have the database again', async () => {
    const { db } = await place.database();
    const since = new Date().toISOString();
    const holder = {
      pid: process.pid,
      since,
      address: 'here',
      handsOver: true,
      takeoverSocket: '/tmp/inlet',
    };
    const unlock = lockForServing(db, holder);
    expect(servingProcess(db)).toEqual({ ...holder, isSeen: true });
    unlock();
    const lock = new Database(`${db}-serving`);
    lock.run('DELETE FROM holder');
    lock.run('INSERT INTO holder VALUES (?, ?, ?)', [process.pid, 'later', 'here']);
    lock.run('BEGIN IMMEDIATE');
    const older = servingProcess(db);
    expect([older?.pid, older?.since, older?.handsOver]).toEqual([process.pid, 'later', undefined]);
    lock.close();
  });

  test('in another process too, and kill -9 frees it', async () => {
    const { db } = await place.database();
    const { child } = await place.serve(db);
    const error = await startServer(serveOptions(db)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error.message).toContain(`process ${child.pid}`);
    child.kill('SIGKILL');
    await child.exited;
    await (await startServer(serveOptions(db))).stop();
  });

  test('operator commands work beside it', async () => {
    const { db, key } = await place.database();
    const server = await startServer(serveOptions(db));
    const store = await openStore(db);
    await store.write('accounts', (trx) => createOrganization(trx, 'Beside', Date.now()));
    await store.close();
    expect((await post(server.url, key, '/contacts', { first_name: 'A' }, 'k')).status).toBe(201);
    await server.stop();
  });

  test('another process that listens on a shared port is noticed', async () => {
    const port = await freePort();
    const own = Bun.serve({ port, hostname: '127.0.0.1', reusePort: true, fetch: () => new Response() });
    expect(sharesPort(port)).toBe(false);
    // At another address it takes nothing from this one.
    for (const [hostname, isShared] of [
      ['127.0.0.1', true],
      ['127.0.0.2', false],
    ]) {
      const listen = `Bun.serve({ port: ${port}, hostname: '${hostname}', reusePort: true, fetch: () => new Response() }); console.log('ready')`;
      const other = Bun.spawn([process.execPath, '-e', listen], { stdout: 'pipe' });
      await other.stdout.getReader().read();
      expect([hostname, sharesPort(port)]).toEqual([hostname, isShared]);
      other.kill();
      await other.exited;
    }
    expect(sharesPort(port)).toBe(false);
    await own.stop(true);
  });

  test('a port in use leaves the database free', async () => {
    const [one, two] = [await place.database(), await place.database()];
    const first = await startServer(serveOptions(one.db));
    const port = Number(new URL(first.url).port);
    const error = await startServer(serveOptions(two.db, port)).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'EADDRINUSE' });
    await (await startServer(serveOptions(two.db))).stop();
    await first.stop();
  });

  describe('by another name', () => {
    const refusal = async (db: string) => {
      const error = await startServer(serveOptions(db)).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(DatabaseError);
      return error.message;
    };

    test('a symbolic link to the file or to its folder', async () => {
      const { db } = await place.database();
      const { child } = await place.serve(db);
      const folder = join(dirname(db), 'elsewhere');
      mkdirSync(folder);
      symlinkSync('../crm.db', join(folder, 'link.db'));
      symlinkSync('..', join(folder, 'up'));
      for (const name of [join(folder, 'link.db'), join(folder, 'up', 'crm.db')])
        expect(await refusal(name)).toContain(`process ${child.pid}`);
      // An operator command finds the same log by it.
      const store = await openStore(join(folder, 'link.db'));
      await store.write('accounts', (trx) => createOrganization(trx, 'Beside', Date.now()));
      await store.close();
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
    });

    test('a hard link, which operator commands refuse too', async () => {
      const { db } = await place.database();
      const { child } = await place.serve(db);
      const name = join(dirname(db), 'hard.db');
      linkSync(db, name);
      expect(await refusal(name)).toMatch(/several names/);
      if (process.platform === 'linux') expect(await refusal(name)).toContain(`process ${child.pid}`);
      expect(openStore(name)).rejects.toThrow('several names');
      expect(openStore(db)).rejects.toThrow('several names');
    });

    test.skipIf(process.platform !== 'linux')('a new name, given while it is served', async () => {
      const { db } = await place.database();
      const { child } = await place.serve(db);
      const name = join(dirname(db), 'moved.db');
      renameSync(db, name);
      expect(await refusal(name)).toContain(`under another name (process ${child.pid})`);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      await (await startServer(serveOptions(name))).stop();
    });
  });
});
