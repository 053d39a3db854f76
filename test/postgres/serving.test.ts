// How a server on PostgreSQL starts and ends: not with a clock that is off, and in time though the database is silent.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { COMMAND, Sandbox } from '../support/command.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { Place, post } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const LONG = 300_000;
const MAIN = join(import.meta.dir, '../../cli/main.ts');

// Loaded before all else: the clock goes wrong by OFF_MS, or does so when WINCH comes; what is done each minute is soon done.
const WRONG_CLOCK = `
  const now = Date.now;
  let offMs = Number(process.env.OFF_MS ?? 0);
  Date.now = () => now() + offMs;
  process.on('SIGWINCH', () => { offMs = offMs === 0 ? 66_000 : 0; });
  const every = setInterval;
  globalThis.setInterval = (job, ms, ...rest) => every(job, ms === 60_000 ? 100 : ms, ...rest);
`;

describe.skipIf(postgresPrograms === null)('a server', () => {
  const place = new Place();
  let postgres: PostgresServer;
  let database: { db: string; key: string };
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    database = await place.fill(postgres.address());
  }, LONG);
  afterAll(() => postgres.close());

  test(
    'does not start where its clock is more than five seconds off',
    async () => {
      using sandbox = new Sandbox([process.execPath, '--preload', './clock.ts', MAIN]);
      await sandbox.write('clock.ts', WRONG_CLOCK);
      // How far off is told up to the time that the database takes to answer.
      for (const [offMs, words] of [
        ['66000', /its clock is 6\d\.\d s ahead of the database's\.\nNext: Synchronize the clocks/],
        [
          '-3600000',
          /its clock is 3(?:59\d\.\d|600\.0) s behind the database's\.\nNext: Synchronize the clocks/,
        ],
      ] as const) {
        const { code, stderr } = await sandbox.crm(['serve', '--port', '0', '--db', database.db], {
          env: { OFF_MS: offMs },
        });
        expect(code).toBe(1);
        expect(stderr).toMatch(words);
      }
      expect(
        (await sandbox.crm(['orgs', 'list', '--db', database.db], { env: { OFF_MS: '3000' } })).code,
      ).toBe(0);
    },
    LONG,
  );

  test(
    'is not ready while its clock is off, and says so',
    async () => {
      await Bun.write(`${place.root}/clock.ts`, WRONG_CLOCK);
      const bun = [process.execPath, '--preload', `${place.root}/clock.ts`, MAIN];
      const preloaded = (command: string[]) => [...bun, ...command.slice(COMMAND.length)];
      const { url, child, said } = await place.serve(database.db, preloaded);
      const becomes = (status: number) =>
        until(
          async () => (await fetch(`${url}/readyz`)).status === status,
          () => `/readyz becomes ${status}`,
        );
      await becomes(200);
      child.kill('SIGWINCH');
      await becomes(503);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      child.kill('SIGWINCH');
      await becomes(200);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      expect(await said).toMatch(
        /clock is 6\d\.\d s ahead of the database's\.\n\/readyz returns 503.*\nNext: .*\nThe database is working again/,
      );
    },
    LONG,
  );

  test(
    'ends within ten seconds of SIGTERM, though the database answers nothing',
    async () => {
      // One has a request that waits; the other has a webhook, to which nothing is sent.
      const sending = await place.serve(database.db);
      const webhook = { url: 'https://example.com/', events: ['deals.*'] };
      expect((await post(sending.url, database.key, '/webhooks', webhook, 'webhook')).status).toBe(201);
      const held = 'select id from webhooks where lease_holder is not null';
      await until(async () => (await postgres.sql(held)).length === 1);
      const asked = await place.serve(database.db);
      await post(asked.url, database.key, '/contacts', { first_name: 'Ada' }, 'before');
      const other = new Bun.SQL(database.db, { max: 1 });
      await other.unsafe('begin');
      await other.unsafe('lock table contacts');
      const waiting = post(asked.url, database.key, '/contacts', { first_name: 'Ada' }, 'waits');
      const blocked = `select 1 from pg_locks where not granted and relation = 'contacts'::regclass`;
      await until(async () => (await postgres.sql(blocked)).length > 0);
      postgres.freeze();
      try {
        const begun = performance.now();
        const ended = [sending, asked].map(async ({ child }) => {
          child.kill('SIGTERM');
          expect(await child.exited).toBe(0);
          expect(performance.now() - begun).toBeLessThan(10_000);
        });
        expect((await waiting).status).toBe(503);
        await Promise.all(ended);
      } finally {
        postgres.thaw();
        await other.close({ timeout: 0 });
      }
    },
    LONG,
  );
});
