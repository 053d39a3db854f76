// The schema on PostgreSQL: made once however many begin at once, in text that is ordered by its bytes, and rolling upgrades.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Migration, sql } from 'kysely';
import { EXPANDING, MIGRATIONS } from '../../db/migrations/index.ts';
import { parseAddress } from '../../db/postgres/address.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { migratePostgres, type Versions } from '../../db/postgres/migrate.ts';
import { openStore } from '../../db/store.ts';
import { ndjson, Sandbox } from '../support/command.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const LONG = 300_000;
const LOCK = 4_209_921;

describe.skipIf(postgresPrograms === null)('the schema', () => {
  let server: PostgresServer;
  let databases = 0;
  const empty = async () => {
    databases += 1;
    await server.sql(`create database empty${databases}`);
    return `empty${databases}`;
  };
  // Brings a database up to date as a crm of that version does.
  const migrateAs = async (name: string, versions?: Versions) => {
    const address = server.address(name);
    const connection = new PostgresConnection({ url: address }, async (error) => error as Error);
    await migratePostgres(connection, parseAddress(address), true, versions).finally(() =>
      connection.close(),
    );
  };
  const newer = (isExpanding: boolean): Versions => {
    const more: Migration = { up: (db) => sql`create table more (n int)`.execute(db).then(() => undefined) };
    const expanding = isExpanding ? [...EXPANDING, '9999-more'] : EXPANDING;
    return { migrations: { ...MIGRATIONS, '9999-more': more }, expanding: new Set(expanding) };
  };

  beforeAll(async () => {
    // Whose own order has a, A, b: a range or a cursor that followed it would break.
    server = await PostgresServer.start({
      initdb: ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
    });
  }, LONG);
  afterAll(() => server.close());

  test(
    'is made once by four processes that start at once on an empty database',
    async () => {
      const address = server.address(await empty());
      using sandbox = new Sandbox();
      const init = (name: string) => sandbox.crm(['init', '--org', name, '--db', address]);
      const runs = await Promise.all(['A', 'B', 'C', 'D'].map(init));
      expect(runs.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0]);
      const orgs = ndjson(await sandbox.ok(['orgs', 'list', '--db', address]));
      expect(orgs.map(({ name }) => name).toSorted()).toEqual(['A', 'B', 'C', 'D']);
    },
    LONG,
  );

  test(
    'is waited for while another makes it',
    async () => {
      const name = await empty();
      const other = new Bun.SQL(server.address(name), { max: 1 });
      await other.unsafe(`select pg_advisory_lock(${LOCK})`);
      let isOver = false;
      const waiting = openStore(server.address(name)).then((store) => {
        isOver = true;
        return store;
      });
      await Bun.sleep(700);
      expect(isOver).toBe(false);
      await other.close({ timeout: 0 });
      await (await waiting).close();
    },
    LONG,
  );

  test(
    'has text in the order of its bytes, whatever the order of the database',
    async () => {
      const [order] = await server.sql(`select 'a' < 'B' as of_people, 'a' < 'B' collate "C" as of_bytes`);
      expect(order).toEqual({ of_people: true, of_bytes: false });
      const name = await empty();
      await migrateAs(name);
      const columns = await server.sql(
        `select table_name, column_name, collation_name from information_schema.columns
       where table_schema = 'public' and data_type = 'text'`,
        name,
      );
      expect(columns.length).toBeGreaterThan(100);
      expect(columns.filter(({ collation_name }) => collation_name !== 'C')).toEqual([]);
    },
    LONG,
  );

  test(
    'of a newer crm that only adds is served by an older one beside it',
    async () => {
      const name = await empty();
      await migrateAs(name);
      await migrateAs(name, newer(true));
      const store = await openStore(server.address(name));
      await until(() =>
        store.ready().then(
          () => true,
          () => false,
        ),
      );
      await store.close();
      await migrateAs(name, newer(true));
    },
    LONG,
  );

  test(
    'is tried again where it and what others write have locked each other out',
    async () => {
      const name = await empty();
      await migrateAs(name);
      const other = new Bun.SQL(server.address(name), { max: 1 });
      // The server ends the one that looks for deadlocks, and each looks once.
      await other.unsafe(`set deadlock_timeout = '1h'`);
      await other.unsafe('begin');
      await other.unsafe('lock table contacts in row exclusive mode');
      const waiting = `select 1 from pg_locks where not granted and relation = 'deals'::regclass`;
      const alter = (table: string) => sql.raw(`alter table ${table} add column more text`);
      let others: Promise<unknown> | undefined;
      const more: Migration = {
        up: async (db) => {
          await alter('deals').execute(db);
          if (others === undefined) {
            others = other
              .unsafe('lock table deals in row exclusive mode')
              .then(() => other.unsafe('commit'));
            await until(async () => (await server.sql(waiting, name)).length > 0);
          }
          await alter('contacts').execute(db);
        },
      };
      await migrateAs(name, { migrations: { ...MIGRATIONS, '9999-more': more }, expanding: EXPANDING });
      await others;
      await other.close({ timeout: 0 });
      expect(server.log).toContain('deadlock detected');
      const added = await server.sql(
        `select table_name from information_schema.columns where column_name = 'more' order by 1`,
        name,
      );
      expect(added.map(({ table_name }) => table_name)).toEqual(['contacts', 'deals']);
    },
    LONG,
  );

  test(
    'of a newer crm that changes what there was is refused, with what to do',
    async () => {
      const name = await empty();
      await migrateAs(name, newer(false));
      using sandbox = new Sandbox();
      const { code, stderr } = await sandbox.crm(['orgs', 'list', '--db', server.address(name)]);
      expect(code).toBe(1);
      expect(stderr).toContain(
        'was written by a newer crm (it has the migration 9999-more).\nNext: Use the newer crm',
      );
    },
    LONG,
  );

  test(
    'that fails half-way leaves nothing behind, and tells the first reason',
    async () => {
      const name = await empty();
      await server.sql('create table deals (n int)', name);
      await expect(openStore(server.address(name))).rejects.toThrow(
        'contains tables of another program (relation "deals" already exists)',
      );
      const tables = await server.sql("select tablename from pg_tables where schemaname = 'public'", name);
      expect(tables).toEqual([{ tablename: 'deals' }] as never);
    },
    LONG,
  );

  test(
    'of an empty database is not made by a command that needs an organization anyway',
    async () => {
      const address = server.address(await empty());
      await expect(openStore(address, { create: false })).rejects.toThrow('does not contain crm tables');
    },
    LONG,
  );
});
