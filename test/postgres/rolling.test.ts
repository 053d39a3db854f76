// A rolling upgrade: an older crm goes on serving a database to which a newer one has added columns.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Migration, sql } from 'kysely';
import { EXPANDING, MIGRATIONS } from '../../db/migrations/index.ts';
import { parseAddress } from '../../db/postgres/address.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { migratePostgres, type Versions } from '../../db/postgres/migrate.ts';
import { expectExternalIds } from '../support/external-ids.ts';
import { startHarness } from '../support/harness.ts';
import type { Json } from '../support/json.ts';
import { migrationsBefore, OLDER_ROWS } from '../support/older-file.ts';
import { expectOlderLinks } from '../support/older-links.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { Place } from '../support/server-process.ts';

const LONG = 300_000;
const TABLES = `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'`;

describe.skipIf(postgresPrograms === null)('an older crm', () => {
  const place = new Place();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
  }, LONG);
  afterAll(() => postgres.close());

  async function addColumns(address: string, database = 'crm'): Promise<void> {
    const tables = await postgres.sql(TABLES, database);
    const more: Migration = {
      up: async (db) => {
        for (const { name } of tables)
          await sql`alter table ${sql.table(String(name))} add column more text`.execute(db);
      },
    };
    const versions = {
      migrations: { ...MIGRATIONS, '9999-more': more },
      expanding: new Set(['9999-more']),
    };
    await migrateAs(address, versions);
  }

  async function migrateAs(address: string, versions: Versions): Promise<void> {
    const connection = new PostgresConnection({ url: address }, async (error) => error as Error);
    await migratePostgres(connection, parseAddress(address), true, versions);
    await connection.close();
  }

  test(
    'that has used all tables goes on when every one of them gets a column, over each of its connections',
    async () => {
      const { db, key } = await place.fill(postgres.address());
      const { url } = await place.serve(`${db}?writers=2&readers=1`);
      const statuses: string[] = [];
      const send = async (method: string, path: string, body?: Json, once?: string): Promise<Json> => {
        const headers = { 'X-Service-Api-Key': key, ...(once !== undefined && { 'Idempotency-Key': once }) };
        const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
        const response = await fetch(`${url}/api/v2${path}`, request);
        statuses.push(`${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')} ${response.status}`);
        return response.status === 204 ? {} : ((await response.json()) as Json).data;
      };
      const workWith = async (name: string): Promise<string[]> => {
        statuses.length = 0;
        const pipeline = await send('POST', '/pipelines', { name, stages: [{ name: 'One' }] }, `${name}-1`);
        const stages = [...(pipeline?.stages ?? []), { name: 'Two' }];
        await send('PATCH', `/pipelines/${pipeline?.id}`, { stages }, `${name}-2`);
        const contact = await send('POST', '/contacts', { email: `${name}@acme.test` }, `${name}-3`);
        await send('POST', '/contacts', { email: `${name}@acme.test` }, `${name}-3`);
        await send('POST', '/contacts/batch', [{ first_name: 'A' }, { first_name: 'B' }], `${name}-4`);
        const deal = await send('POST', '/deals', { name, pipeline_id: pipeline?.id }, `${name}-5`);
        const link = { contact_id: contact?.id };
        await send('POST', `/deals/${deal?.id}/contacts`, link, `${name}-6`);
        await send('PATCH', `/contacts/${contact?.id}`, { last_name: 'C' }, `${name}-7`);
        const note = await send('POST', '/notes', { title: name, content: 'x' }, `${name}-8`);
        await send('POST', '/notes', { title: name, content: 'x', parent_id: note?.id }, `${name}-9`);
        await send('DELETE', `/contacts/${contact?.id}`, undefined, `${name}-10`);
        for (const path of ['/pipelines', `/deals/${deal?.id}`, '/contacts', '/notes'])
          await send('GET', path);
        return [...statuses];
      };
      const before = await workWith('before');
      expect(before.filter((status) => !/ 20\d$/.test(status))).toEqual([]);
      await addColumns(db);
      expect(await workWith('after')).toEqual(before);
      expect(await workWith('later')).toEqual(before);
    },
    LONG,
  );

  test(
    'reads on when every table gets a column, with many statements at once on one connection',
    async () => {
      await postgres.sql('create database read');
      const { db, key } = await place.fill(postgres.address('read'));
      const { url } = await place.serve(`${db}?writers=1&readers=1`);
      const headers = { 'X-Service-Api-Key': key };
      const paths = ['/contacts', '/companies', '/deals', '/pipelines', '/notes', '/tasks', '/segments'];
      const readAll = (): Promise<number[]> =>
        Promise.all(
          [...paths, ...paths].map(async (path) => {
            const response = await fetch(`${url}/api/v2${path}`, { headers });
            await response.arrayBuffer();
            return response.status;
          }),
        );
      const before = await readAll();
      expect(new Set(before)).toEqual(new Set([200]));
      await addColumns(db, 'read');
      expect(await readAll()).toEqual(before);
      expect(await readAll()).toEqual(before);
    },
    LONG,
  );

  test(
    'that does not know external IDs leaves records which can get one',
    async () => {
      const address = postgres.address('external');
      await postgres.sql('create database external');
      const older = { migrations: migrationsBefore('0006-external-ids'), expanding: EXPANDING };
      await migrateAs(address, older);
      for (const statement of OLDER_ROWS) await postgres.sql(statement, 'external');
      const harness = await startHarness({ db: address });
      await expectExternalIds(harness);
      await harness.close();
    },
    LONG,
  );

  test(
    'that does not know the times of associations leaves those that a newer one lists',
    async () => {
      const address = postgres.address('links');
      await postgres.sql('create database links');
      const older = { migrations: migrationsBefore('0007-links-in-bulk'), expanding: EXPANDING };
      await migrateAs(address, older);
      for (const statement of OLDER_ROWS) await postgres.sql(statement, 'links');
      const harness = await startHarness({ db: address });
      await expectOlderLinks(harness);
      await harness.close();
    },
    LONG,
  );

  test(
    'that does not know the log of changes cannot write, and reads what is there',
    async () => {
      const address = postgres.address('logged');
      await postgres.sql('create database logged');
      const older = { migrations: migrationsBefore('0008-changes'), expanding: EXPANDING };
      await migrateAs(address, older);
      for (const statement of OLDER_ROWS) await postgres.sql(statement, 'logged');
      const harness = await startHarness({ db: address });
      // The first statement of each of its writes, and one of its reads.
      const lock = 'select last_instant, records from org_clocks where org_id = 9 for update';
      await expect(postgres.sql(lock, 'logged')).rejects.toThrow('last_instant');
      expect(await postgres.sql('select id from tasks where org_id = 9', 'logged')).toHaveLength(1);
      await expect(migrateAs(address, older)).rejects.toThrow('0008-changes');
      await harness.close();
    },
    LONG,
  );

  test(
    'that meets the answers of a newer one can read them: for a day after the upgrade none is compressed',
    async () => {
      const address = postgres.address('upgraded');
      await postgres.sql('create database upgraded');
      await migrateAs(address, { migrations: migrationsBefore('0005-stored-answers'), expanding: EXPANDING });
      for (const statement of OLDER_ROWS) await postgres.sql(statement, 'upgraded');
      const harness = await startHarness({ db: address });
      const { store, clock } = harness;
      const storesPacked = async (key: string): Promise<boolean> => {
        const headers = { 'Idempotency-Key': key };
        const body = { first_name: 'A', remarks: 'words '.repeat(1_000) };
        const { text } = await harness.send('POST', '/api/v2/contacts', { headers, body });
        const row = store.read.selectFrom('idempotency_keys').select(['body', 'packed', 'fingerprint']);
        const stored = await row.where('key', '=', key).executeTakeFirstOrThrow();
        // Of one that is packed the older takes the fingerprint for that of another request, and so never answers with nothing.
        expect([stored.body, stored.fingerprint.length === 64]).toEqual(
          stored.packed === null ? [text, true] : ['', false],
        );
        return stored.packed !== null;
      };
      expect(await storesPacked('at-once')).toBe(false);
      clock.now += 23 * 3_600_000;
      expect(await storesPacked('at-the-end-of-the-day')).toBe(false);
      clock.now += 2 * 3_600_000;
      expect(await storesPacked('a-day-later')).toBe(true);
      await harness.close();
    },
    LONG,
  );
});
