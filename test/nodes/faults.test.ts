// Nodes that are killed, frozen or cut off amid a write: the other goes on, and a repeat under the key settles the write.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SETTINGS } from '../../db/postgres/settings.ts';
import { DatabaseProxy, type Hole } from '../support/database-proxy.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { Place, post, type Sent, type ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const LONG = 300_000;
// A client gets an error after nine seconds, and sooner if it waits for a lock of a node that is gone.
const ANSWER_MS_MAX = 10_000;
const GATE = 42;

/** A trigger that keeps a transaction where it is until the gate is opened, for whatever has "gate" in its name. */
const GATES = {
  'after it has the lock': `
    create trigger gate before insert on contacts for each row
      when (new.first_name like '%gate%') execute function wait()`,
  'after it has written': `
    create trigger gate after insert on idempotency_keys for each row
      when (new.key like '%gate%') execute function wait()`,
  'after its COMMIT was sent': `
    create constraint trigger gate after insert on idempotency_keys deferrable initially deferred for each row
      when (new.key like '%gate%') execute function wait()`,
};
type Point = keyof typeof GATES;

const WAIT = `
  create function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(${GATE}); return new; end $$`;

describe.skipIf(postgresPrograms === null)('of two nodes, one', () => {
  const place = new Place();
  const proxies: DatabaseProxy[] = [];
  let postgres: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    postgres = await PostgresServer.start();
  }, LONG);
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    await postgres.close();
  });

  /** A database with two nodes; the first reaches it by way of `through`. */
  async function startPair(through = (address: string) => address) {
    databases += 1;
    const name = `pair_${databases}`;
    await postgres.sql(`create database ${name}`);
    const { db, key } = await place.fill(postgres.address(name));
    const [one, other] = await Promise.all([place.serve(through(db)), place.serve(db)]);
    const create = (at: ServerProcess, once: string) =>
      timed(() => post(at.url, key, '/contacts', { first_name: once, email: `${once}@x.example` }, once));
    // The use of the key is noted, by itself; each connection is there.
    for (const node of [one, other])
      expect((await create(node, `before ${node.url}`.replaceAll(/[^a-z0-9]/g, '-'))).status).toBe(201);
    const used = 'select 1 from api_keys where last_used_at is not null';
    while ((await postgres.sql(used, name)).length === 0) await Bun.sleep(20);
    /** Creates as soon as that is possible: the database takes back in time what a node held only if it has a core for that. */
    const createInTheEnd = async (at: ServerProcess, once: string) => {
      let reply: Sent | undefined;
      await until(async () => {
        reply = await create(at, once);
        return reply.status !== 503;
      });
      if (reply === undefined) throw new Error('none was sent');
      return reply;
    };
    return {
      ...{ name, one, other, create, createInTheEnd },
      sql: (text: string) => postgres.sql(text, name),
      read: async (at: ServerProcess) => {
        const headers = { 'X-Service-Api-Key': key };
        return (await timed(() => fetch(`${at.url}/api/v2/contacts`, { headers }))).status;
      },
      /** How often a contact of that name is there. */
      countOf: async (first_name: string) => {
        const rows = await postgres.sql(`select 1 from contacts where first_name = '${first_name}'`, name);
        return rows.length;
      },
    };
  }

  /** Closes a gate in a database; gives what waits until somebody stands before it, and what opens it. */
  async function closeGate(sql: (text: string) => Promise<unknown[]>, point: Point, database: string) {
    await sql(WAIT);
    await sql(GATES[point]);
    const keeper = new Bun.SQL(postgres.address(database), { max: 1 });
    await keeper.unsafe(`select pg_advisory_lock(${GATE})`);
    return {
      reached: async () => {
        const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
        while ((await keeper.unsafe(waiting)).length === 0) await Bun.sleep(5);
      },
      open: () => keeper.close({ timeout: 0 }),
    };
  }

  const KILLED: [Point, replayed: string | null][] = [
    ['after it has the lock', null],
    ['after it has written', null],
    ['after its COMMIT was sent', 'true'],
  ];
  test.each(KILLED)(
    'is killed %s',
    async (point, replayed) => {
      const { name, one, other, create, createInTheEnd, read, sql, countOf } = await startPair();
      const gate = await closeGate(sql, point, name);
      const lost = create(one, 'gate').catch(() => 'no answer');
      await gate.reached();
      one.child.kill('SIGKILL');
      expect(await lost).toBe('no answer');
      const again = createInTheEnd(other, 'gate');
      const next = createInTheEnd(other, 'next');
      expect(await read(other)).toBe(200);
      await gate.open();
      const { status, headers } = await again;
      expect([status, headers.get('Idempotent-Replayed')]).toEqual([201, replayed]);
      expect((await next).status).toBe(201);
      expect([await countOf('gate'), await countOf('next')]).toEqual([1, 1]);
    },
    LONG,
  );

  test.concurrent(
    'is frozen with the lock of an organization: the database takes that back, and it goes on when it may',
    async () => {
      const { name, one, other, create, createInTheEnd, read, sql, countOf } = await startPair();
      // What is to be written is all sent at once, with the COMMIT: it is frozen as it asks whose the address is.
      const keeper = new Bun.SQL(postgres.address(name), { max: 1 });
      await keeper.unsafe('begin');
      await keeper.unsafe('lock table contact_emails');
      const late = create(one, 'gate');
      const outcome = Promise.allSettled([late]);
      const waiting = `select 1 from pg_locks where relation = 'contact_emails'::regclass and not granted`;
      while ((await sql(waiting)).length === 0) await Bun.sleep(5);
      one.child.kill('SIGSTOP');
      await keeper.close({ timeout: 0 });
      const next = createInTheEnd(other, 'next');
      expect(await read(other)).toBe(200);
      expect((await next).status).toBe(201);
      expect(await countOf('gate')).toBe(0);
      one.child.kill('SIGCONT');
      const [told] = await outcome;
      expect(told).toMatchObject({ status: 'fulfilled', value: { status: 503 } });
      expect(await countOf('gate')).toBe(0);
      const replies = [await create(one, 'gate'), await create(other, 'gate')];
      expect(replies.map(({ status, headers }) => [status, headers.get('Idempotent-Replayed')])).toEqual([
        [201, null],
        [201, 'true'],
      ]);
      expect(await countOf('gate')).toBe(1);
    },
    LONG,
  );

  const CUT_OFF: [string, Hole, replayed: string | null][] = [
    ['before its COMMIT is through', 'both', null],
    ['after its COMMIT is through', 'answers', 'true'],
  ];
  test.concurrent.each(CUT_OFF)(
    'is cut off %s',
    async (_, hole, replayed) => {
      const proxy = await DatabaseProxy.start(postgres.port);
      proxies.push(proxy);
      const { one, other, create, createInTheEnd, countOf } = await startPair((address) =>
        proxy.through(address),
      );
      const isSwallowed = new Promise<void>((done) => {
        // What the node does in the background commits too.
        proxy.onSent = (text, transaction) => {
          if (!/\bcommit\b/i.test(text) || !transaction.includes('insert into "contacts"')) return;
          proxy.hole = hole;
          done();
        };
      });
      const lost = create(one, 'cut-off');
      await isSwallowed;
      const again = await createInTheEnd(other, 'cut-off');
      expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, replayed]);
      expect((await lost).status).toBe(503);
      proxy.onSent = () => undefined;
      proxy.hole = 'none';
      const back = await createInTheEnd(one, 'cut-off');
      expect([back.status, back.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
      expect(await countOf('cut-off')).toBe(1);
    },
    LONG,
  );
});

test('who waits for a lock waits longer than the database leaves it to a node that is gone', () => {
  const { lock_timeout, idle_in_transaction_session_timeout: idle } = SETTINGS.writing;
  expect(Number.parseInt(idle, 10)).toBeLessThan(Number.parseInt(lock_timeout, 10));
});

/** Fails if an answer takes longer than a client is to wait for one. */
async function timed<T>(send: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const reply = await send();
  expect(performance.now() - begun).toBeLessThan(ANSWER_MS_MAX);
  return reply;
}
