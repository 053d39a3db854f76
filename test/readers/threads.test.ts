// `crm serve --readers 2`: what holds for one thread holds over all of them, on whichever connection a request comes.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { revokeKey, rotateKey } from '../../db/accounts/keys.ts';
import { openStore, type Store } from '../../db/store.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';
import type { Json } from '../support/json.ts';
import { type Answered, CONNECTIONS, ManyConnections } from '../support/many-connections.ts';

const LONG = 300_000;
const READERS = ['--readers', '2'];

const statuses = (answers: readonly Answered[]) => answers.map(({ status }) => status);
const all = (status: number) => Array<number>(CONNECTIONS).fill(status);

describe('over the threads of a server', () => {
  const sandbox = new Sandbox();
  let server: RunningServer;
  let key: string;
  let connections: ManyConnections;
  beforeAll(async () => {
    key = await sandbox.ok(['init', '--org', 'Example']);
    server = await sandbox.serve([...READERS, '--key-limit', '1000000', '--org-limit', '1000000']);
    connections = await ManyConnections.open(server.url);
  }, LONG);
  afterAll(() => {
    connections.close();
    sandbox[Symbol.dispose]();
  });

  const create = async (index: number, body: Json = { first_name: 'Ada' }) =>
    (await connections.ask(index, 'POST', '/api/v2/contacts', { key, body })).body.data.id as string;

  test(
    'what was written on one connection is read at once on every other',
    async () => {
      const id = await create(0);
      for (let round = 1; round <= 150; round++) {
        const body = { title: `Engineer ${round}` };
        const changed = await connections.ask(round % CONNECTIONS, 'PATCH', `/api/v2/contacts/${id}`, {
          key,
          body,
        });
        expect(changed.status).toBe(200);
        const read = await connections.each('GET', `/api/v2/contacts/${id}`, { key });
        const stale = read.filter((answer) => answer.body.data.title !== body.title);
        expect([round, stale.length]).toEqual([round, 0]);
      }
    },
    LONG,
  );

  test(
    'many that write and read for themselves each read what they wrote, elsewhere',
    async () => {
      const half = CONNECTIONS / 2;
      const client = async (index: number) => {
        const id = await create(index);
        let stale = 0;
        for (let round = 0; round < 60; round++) {
          const body = { title: `T${round}` };
          await connections.ask(index, 'PATCH', `/api/v2/contacts/${id}`, { key, body });
          const { body: read } = await connections.ask(index + half, 'GET', `/api/v2/contacts/${id}`, {
            key,
          });
          if (read.data.title !== body.title) stale += 1;
        }
        return stale;
      };
      expect(await Promise.all(Array.from({ length: half }, (_, index) => client(index)))).toEqual(
        Array<number>(half).fill(0),
      );
    },
    LONG,
  );

  test(
    'copies of keyed requests are carried out once, and all get the one answer',
    async () => {
      const [keys, copies] = [150, 4];
      const minute = Math.floor(Date.now() / 60_000);
      const before = (await connections.ask(0, 'GET', '/api/v2/contacts?limit=1', { key })).header(
        'X-RateLimit-Remaining',
      );
      const answers: Answered[][] = Array.from({ length: keys }, () => []);
      const work = Array.from({ length: keys * copies }, (_, number) => number);
      // Copies of one key go out together, on connections beside each other.
      const client = async (index: number) => {
        for (let number = work.shift(); number !== undefined; number = work.shift()) {
          const one = Math.floor(number / copies);
          const headers = { 'Idempotency-Key': `copies-${one}` };
          const path = one % 3 === 0 ? '/api/v2/contacts/batch' : '/api/v2/contacts';
          const contact = { first_name: `Copy ${one}`, email: `copy-${one}@example.com` };
          const body = one % 3 === 0 ? [contact, { nope: 1 }] : contact;
          answers[one]?.push(await connections.ask(index, 'POST', path, { key, body, headers }));
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => client(index)));
      for (const ofKey of answers) {
        expect(ofKey.filter((answer) => answer.header('Idempotent-Replayed') !== 'true')).toHaveLength(1);
        expect(new Set(ofKey.map(({ body }) => JSON.stringify(body))).size).toBe(1);
        expect(new Set(statuses(ofKey)).size).toBe(1);
      }
      const after = (await connections.ask(0, 'GET', '/api/v2/contacts?limit=1', { key })).header(
        'X-RateLimit-Remaining',
      );
      if (minute === Math.floor(Date.now() / 60_000)) expect(Number(before) - Number(after)).toBe(keys + 1);
      const found = await connections.ask(0, 'GET', '/api/v2/contacts?email=copy-1%40example.com', { key });
      expect(found.body.data).toHaveLength(1);
    },
    LONG,
  );

  test('errors read as those of one thread', async () => {
    const email = 'taken@example.com';
    const id = await create(0, { email });
    const [conflict, missing, faulty, forbidden] = await Promise.all([
      connections.ask(0, 'POST', '/api/v2/contacts', { key, body: { email } }),
      connections.ask(1, 'PATCH', '/api/v2/contacts/absent', { key, body: { title: 'x' } }),
      connections.ask(2, 'POST', '/api/v2/contacts', { key, body: { phone: 7 } }),
      connections.ask(3, 'DELETE', '/api/v2/meetings/absent', { key }),
    ]);
    expect(statuses([conflict, missing, faulty, forbidden])).toEqual([409, 404, 422, 405]);
    expect(conflict.body.error.details[0]).toMatchObject({ path: 'email', existing_id: id });
    expect(conflict.header('Location')).toBe(`${server.url}/api/v2/contacts/${id}`);
    expect(forbidden.header('Allow')).toBe('GET, HEAD');
    expect(conflict.body.meta.request_id).toBe(conflict.header('X-Request-Id'));
  });

  test.each(['/healthz', '/readyz', '/docs'])(
    '%s is there in every thread',
    async (path) => {
      const outcomes = await Promise.all(
        Array.from({ length: CONNECTIONS }, () =>
          fetch(server.url + path, { headers: { Connection: 'close' } }),
        ),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(all(200));
    },
    LONG,
  );

  describe('a key', () => {
    let store: Store;
    beforeEach(async () => {
      store = await openStore(sandbox.database);
    });
    const lists = (with_: string) => connections.each('GET', '/api/v2/contacts?limit=1', { key: with_ });
    const issued = async (...args: string[]) =>
      sandbox.ok(['keys', 'issue', '--org', 'Example', '--all-scopes', ...args]);
    const rowOf = async (name: string) =>
      store.read.selectFrom('api_keys').selectAll().where('name', '=', name).executeTakeFirstOrThrow();

    test(
      'that another process rotates or revokes ends with the next request everywhere',
      async () => {
        let one = await issued('--name', 'turned');
        const row = await rowOf('turned');
        for (let round = 0; round < 10; round++) {
          expect(statuses(await lists(one))).toEqual(all(200));
          const former = one;
          one = (await store.write('accounts', (trx) => rotateKey(trx, row, 0, Date.now()))).key;
          expect(statuses(await lists(one))).toEqual(all(200));
          // Below what an address may guess in a minute.
          expect(
            statuses([await connections.ask(round, 'GET', '/api/v2/contacts', { key: former })]),
          ).toEqual([401]);
        }
        await store.write('accounts', (trx) => revokeKey(trx, row, Date.now()));
        expect(statuses(await lists(one))).toEqual(all(401));
        await store.close();
      },
      LONG,
    );

    test(
      'has its use noted',
      async () => {
        const one = await issued('--name', 'used');
        expect((await rowOf('used')).last_used_at).toBeNull();
        await lists(one);
        let noted: number | null = null;
        while (noted === null) {
          await Bun.sleep(20);
          noted = (await rowOf('used')).last_used_at;
        }
        expect(Math.abs(Date.now() - noted)).toBeLessThan(2 * 60_000);
        await store.close();
      },
      LONG,
    );
  });
});

describe('limits over the threads of a server', () => {
  test(
    'let in just as many as they say, on each key and for the organization',
    async () => {
      using sandbox = new Sandbox();
      const first = await sandbox.ok(['init', '--org', 'Example']);
      const issue = () => sandbox.ok(['keys', 'issue', '--org', 'Example', '--all-scopes']);
      const keys = [first, await issue(), await issue()];
      const server = await sandbox.serve([...READERS, '--key-limit', '150', '--org-limit', '400']);
      const connections = await ManyConnections.open(server.url);
      const counted: { key: number; answer: Answered }[] = [];
      const client = async (index: number) => {
        for (let round = 0; round < 50; round++) {
          const which = (index + round) % keys.length;
          const answer = await connections.ask(index, 'GET', '/api/v2/contacts/absent', {
            key: keys[which] ?? '',
          });
          counted.push({ key: which, answer });
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => client(index)));
      expect(new Set(statuses(counted.map(({ answer }) => answer)))).toEqual(new Set([404, 429]));
      const admitted = counted.filter(({ answer }) => answer.status === 404);
      // More than a minute's worth was sent on either side of wherever the minute turned.
      const minutes = Map.groupBy(admitted, ({ answer }) => answer.header('X-RateLimit-Reset'));
      const fullest = Math.max(...[...minutes.values()].map(({ length }) => length));
      expect(fullest).toBe(400);
      for (const ofMinute of minutes.values())
        for (const ofKey of Map.groupBy(ofMinute, ({ key }) => key).values())
          expect(ofKey.length).toBeLessThanOrEqual(150);
      connections.close();
    },
    LONG,
  );

  test(
    'let one address guess as often as one thread would',
    async () => {
      using sandbox = new Sandbox();
      const server = await sandbox.serve(READERS);
      const connections = await ManyConnections.open(server.url);
      const answers: Answered[] = [];
      const minute = () => Math.floor(Date.now() / 60_000);
      const first = minute();
      for (let round = 0; round < 4; round++)
        answers.push(...(await connections.each('GET', '/api/v2/contacts', { key: 'wrong' })));
      const minutes = minute() - first + 1;
      const refused = answers.filter(({ status }) => status === 429);
      const told = answers.filter(({ status }) => status === 401);
      // Up to sixty in each minute; the first can have had fewer.
      expect(told.length).toBeWithin(60, 60 * minutes + 1);
      expect(refused.length).toBe(answers.length - told.length);
      connections.close();
    },
    LONG,
  );
});
