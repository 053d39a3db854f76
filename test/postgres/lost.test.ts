// Servers that lose their database: told within ten seconds, whichever way it is lost, and over as soon as it is back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DatabaseProxy, type Hole } from '../support/database-proxy.ts';
import { PostgresServer, postgresPrograms, type StopMode } from '../support/postgres.ts';
import { Place, post, type Sent } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const LONG = 300_000;
const TOLD_MS_MAX = 10_000;

describe.skipIf(postgresPrograms === null)('while the database is lost', () => {
  const place = new Place();
  const proxies: DatabaseProxy[] = [];
  let postgres: PostgresServer;
  let here: { url: string; key: string };

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    const { db, key } = await place.fill(postgres.address());
    here = { url: (await place.serve(db)).url, key };
  }, LONG);
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    await postgres.close();
  });

  const create = (once: string, at = here) =>
    timed(() => post(at.url, at.key, '/contacts', { first_name: once }, once));
  const read = () =>
    timed(async (): Promise<Sent> => {
      const headers = { 'X-Service-Api-Key': here.key };
      const response = await fetch(`${here.url}/api/v2/contacts`, { headers });
      return { status: response.status, headers: response.headers, body: await response.json() };
    });
  const statusOf = async (path: string, { url } = here) => (await timed(() => fetch(`${url}${path}`))).status;
  const isBack = (at = here) => until(async () => (await statusOf('/readyz', at)) === 200);
  const countsOf = async (names: readonly string[]) => {
    const rows = await postgres.sql(
      'select first_name, count(*)::int as n from contacts group by first_name',
    );
    const counts = new Map(rows.map(({ first_name, n }) => [first_name, n]));
    return names.map((name) => [name, counts.get(name)]);
  };
  const expectOnce = async (...names: string[]) =>
    expect(await countsOf(names)).toEqual(names.map((name) => [name, 1]));

  test.each<StopMode>(['fast', 'immediate', 'kill'])(
    'by a restart (%s): a repeat under the key settles each write',
    async (mode) => {
      let isOver = false;
      let refusals = 0;
      const sent: string[] = [];
      const writer = async (name: string) => {
        for (let index = 0; !isOver; index += 1) {
          const once = `${mode}-${name}-${index}`;
          sent.push(once);
          for (let reply = await create(once); reply.status !== 201; reply = await create(once)) {
            expectTold(reply);
            refusals += 1;
            await Bun.sleep(20);
          }
        }
      };
      const writers = ['a', 'b', 'c', 'd'].map(writer);
      await Bun.sleep(300);
      await postgres.stop(mode);
      expect(await statusOf('/readyz')).toBe(503);
      expect(await statusOf('/healthz')).toBe(200);
      expectTold(await read());
      await postgres.start();
      await isBack();
      await Bun.sleep(300);
      isOver = true;
      await Promise.all(writers);
      expect(refusals).toBeGreaterThan(0);
      await expectOnce(...sent);
    },
    LONG,
  );

  test(
    'to a standby, as it were, which takes no writes until it is promoted',
    async () => {
      const setReadOnly = async (isOn: 'on' | 'off') => {
        postgres.configure({ default_transaction_read_only: isOn });
        postgres.reload();
        // Those that it has open know it about when a new one does.
        const show = `select current_setting('default_transaction_read_only') as now`;
        await until(async () => (await postgres.sql(show))[0]?.now === isOn);
      };
      await setReadOnly('on');
      expectTold(await create('standby'));
      expect(await statusOf('/readyz')).toBe(503);
      await setReadOnly('off');
      await isBack();
      expect((await create('standby')).status).toBe(201);
      await expectOnce('standby');
    },
    LONG,
  );

  test(
    'as it is frozen, whatever waits for whatever',
    async () => {
      postgres.freeze();
      try {
        const copies = ['frozen', 'frozen', 'frozen', 'frozen', 'frozen-too'].map((once) => create(once));
        const ready = statusOf('/readyz');
        expect(await statusOf('/healthz')).toBe(200);
        for (const reply of await Promise.all([...copies, read(), read()])) expectTold(reply);
        expect(await ready).toBe(503);
      } finally {
        postgres.thaw();
      }
      await isBack();
      expect((await read()).status).toBe(200);
      expect((await create('frozen')).status).toBe(201);
      await expectOnce('frozen');
    },
    LONG,
  );

  test.concurrent(
    'to somebody who keeps the lock of an organization: its writes, those too that wait for another under their key',
    async () => {
      const other = new Bun.SQL(postgres.address(), { max: 1 });
      await other.unsafe('begin');
      await other.unsafe('select * from org_clocks for update');
      const copies = ['locked', 'locked', 'locked', 'locked-too'].map((once) => create(once));
      expect((await read()).status).toBe(200);
      for (const reply of await Promise.all(copies)) expectTold(reply);
      await other.unsafe('rollback');
      await other.close({ timeout: 0 });
      expect((await create('locked')).status).toBe(201);
      await expectOnce('locked');
    },
    LONG,
  );

  /** Whether the hole opens under a COMMIT, or at once; and whether the COMMIT is carried out. */
  const HOLES: [Hole, boolean, boolean][] = [
    ['both', false, false],
    ['both', true, false],
    ['answers', true, true],
  ];
  test.concurrent.each(HOLES)(
    'in a network that swallows %s (under a COMMIT: %p): the key settles it',
    async (hole, isUnderCommit, isCarriedOut) => {
      const proxy = await DatabaseProxy.start(postgres.port);
      proxies.push(proxy);
      // One of its own: nobody else waits for what the lost transaction has locked.
      const name = `${hole}_${isUnderCommit}`;
      await postgres.sql(`create database ${name}`);
      const { db, key } = await place.fill(postgres.address(name));
      const at = { url: (await place.serve(proxy.through(db))).url, key };
      await create('before', at);
      if (!isUnderCommit) proxy.hole = hole;
      // What the server writes by itself is committed at any time, too.
      proxy.onSent = (text, transaction) => {
        if (/\bcommit\b/i.test(text) && transaction.includes('insert into "contacts"')) proxy.hole = hole;
      };
      expectTold(await create('once', at));
      proxy.onSent = () => undefined;
      proxy.hole = 'none';
      await isBack(at);
      const again = await create('once', at);
      const replayed = again.headers.get('Idempotent-Replayed');
      expect([again.status, replayed]).toEqual([201, isCarriedOut ? 'true' : null]);
      const [row] = await postgres.sql('select count(*)::int as n from contacts', name);
      expect(row?.n).toBe(2);
    },
    LONG,
  );
});

describe.skipIf(postgresPrograms === null)('a surprise of the database', () => {
  const place = new Place();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
  }, LONG);
  afterAll(() => postgres.close());

  test(
    'is a 500 that tells nothing, and logged with its cause',
    async () => {
      const { key } = await place.fill(postgres.address());
      const server = await place.serve(postgres.address(), (command) => [...command, '--log', 'json']);
      await postgres.sql('alter table contacts add constraint surprise check (first_name is null)');
      const reply = await post(server.url, key, '/contacts', { first_name: 'Ada' }, 'once');
      const { status, headers, body } = reply;
      expect([status, body.error.code, headers.get('Retry-After')]).toEqual([500, 'INTERNAL_ERROR', null]);
      expect(JSON.stringify(body)).not.toContain('constraint');
      server.child.kill('SIGTERM');
      expect(await server.said).toMatch(/"level":"error".*violates check constraint .{0,4}surprise/);
    },
    LONG,
  );
});

/** Fails if an answer takes longer than a client is to wait for one. */
async function timed<T>(send: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const reply = await send();
  expect(performance.now() - begun).toBeLessThan(TOLD_MS_MAX);
  return reply;
}

function expectTold({ status, headers, body }: Sent): void {
  expect([status, body.error?.code, headers.get('Retry-After')]).toEqual([503, 'INTERNAL_ERROR', '1']);
  expect(body.meta.request_id).toMatch(/^req_/);
}
