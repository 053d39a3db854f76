// The commands of an operator on a database of PostgreSQL; its password is kept out of all that they say, log and write.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ndjson, type Result, type RunOptions, Sandbox } from '../support/command.ts';
import { refusing } from '../support/fake-database.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const LONG = 300_000;
const PASSWORD = 'hunter2';

describe.skipIf(postgresPrograms === null)('on a server of its own', () => {
  const sandbox = new Sandbox();
  const outputs: string[] = [];
  let server: PostgresServer;
  let databases = 0;

  const run = async (args: readonly string[], options: RunOptions = {}): Promise<Result> => {
    const result = await sandbox.crm(args, options);
    outputs.push(result.stdout, result.stderr);
    return result;
  };
  const ok = async (args: readonly string[], options: RunOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(args, options);
    if (code !== 0) throw new Error(`crm ${args.join(' ')} ended with ${code}:\n${stderr}`);
    return stdout.trim();
  };
  /** An empty database of the user who needs a password; its address has one. */
  const database = async () => {
    databases += 1;
    await server.sql(`create database db${databases} owner ada`);
    return server.address(`db${databases}`, `ada:${PASSWORD}`);
  };
  const without = (address: string) => address.replace(`:${PASSWORD}`, '');

  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.sql(`create user ada password '${PASSWORD}'`);
    writeFileSync(
      join(server.data, 'pg_hba.conf'),
      'host all ada all scram-sha-256\nhost all all all trust\n',
    );
    await server.stop();
    await server.start();
  }, LONG);
  afterAll(async () => {
    sandbox[Symbol.dispose]();
    await server.close();
    for (const output of outputs) expect(output).not.toContain(PASSWORD);
  });

  test(
    'init, orgs, users, keys and ingest work there as on a file',
    async () => {
      const db = await database();
      const init = await run(['init', '--org', 'Acme', '--user', 'ada@example.com', '--db', db]);
      expect(init.stderr).toContain(`Next: crm serve --db ${without(db)}`);
      expect((await run(['init', '--org', 'ACME', '--db', db])).stdout).toBe('');
      const env = { CRM_DB: without(db), PGPASSWORD: PASSWORD };
      const org = JSON.parse(await ok(['orgs', 'create', 'Other'], { env }));
      const names = ndjson(await ok(['orgs', 'list'], { env })).map(({ name }) => name);
      expect(names).toEqual(['Acme', 'Other']);
      await ok(['users', 'create', 'b@example.com', '--org', org.id], { env });
      expect(ndjson(await ok(['users', 'list', '--org', 'Other'], { env }))).toHaveLength(1);
      const issued = ['keys', 'issue', '--org', 'Other', '--all-scopes', '-o', 'json'];
      const { id } = JSON.parse(await ok(issued, { env }));
      await ok(['keys', 'rotate', id], { env });
      await ok(['keys', 'revoke', id], { env });
      expect(ndjson(await ok(['keys', 'list', '--org', 'Other'], { env }))).toMatchObject([
        { id, status: 'revoked' },
      ]);
      await sandbox.write(
        'bookings.json',
        JSON.stringify([{ external_id: 'b', title: 'Call', start_time: 1, end_time: 2 }]),
      );
      const ingested = ['ingest', 'bookings', 'bookings.json', '--org', 'Acme', '-o', 'json'];
      expect(JSON.parse(await ok(ingested, { env }))).toMatchObject({ created: 1 });
      expect(readdirSync(sandbox.folder)).not.toContain('crm.db');
    },
    LONG,
  );

  test(
    'doctor looks at it, and says what an empty one or a missing one needs',
    async () => {
      const db = await database();
      const env = { CRM_DB: without(db), PGPASSWORD: PASSWORD };
      const look = async (given: Record<string, string>) => {
        const { code, stdout } = await run(['doctor', '-o', 'ndjson'], { env: { ...env, ...given } });
        return { code, rows: ndjson(stdout).filter(({ section }) => section === 'database') };
      };
      const empty = await look({});
      expect(empty.rows).toContainEqual(
        expect.objectContaining({
          check: 'schema',
          status: 'warn',
          next: expect.stringContaining('crm init'),
        }),
      );
      await ok(['init', '--org', 'Acme'], { env });
      const { code, rows } = await look({});
      expect(code).toBe(0);
      const facts = ['database', 'server version', 'clock', 'connections', 'schema', 'statistics', 'size'];
      expect(rows.map(({ check }) => check)).toEqual([...facts, 'changes', 'search index']);
      const wrong = rows.filter(({ status }) => status === 'fail');
      expect(wrong).toEqual([]);
      await server.sql(
        'create table filled with (autovacuum_enabled = off) as select n from generate_series(1, 5000) as n',
        new URL(db).pathname.slice(1),
      );
      const filled = (await look({})).rows.find(({ check }) => check === 'statistics');
      expect(filled).toMatchObject({ status: 'warn', found: 'missing for filled' });
      const none = await look({ CRM_DB: server.address('none', 'ada') });
      expect([none.code, none.rows]).toEqual([
        1,
        [
          expect.objectContaining({
            check: 'database',
            status: 'fail',
            next: expect.stringContaining('createdb'),
          }),
        ],
      ]);
    },
    LONG,
  );

  test(
    'the profile names it too, and a file keeps the password',
    async () => {
      const db = await database();
      await sandbox.write('pgpass', `*:*:*:ada:${PASSWORD}\n`);
      await Bun.$`chmod 600 ${sandbox.path('pgpass')}`;
      await Bun.write(
        sandbox.path('config/crm/config.json'),
        JSON.stringify({ profiles: { server: { db: without(db) } } }),
      );
      const env = { PGPASSFILE: sandbox.path('pgpass'), CRM_PROFILE: 'server' };
      await ok(['init', '--org', 'Acme'], { env });
      await Bun.$`chmod 644 ${sandbox.path('pgpass')}`;
      const { code, stderr } = await run(['orgs', 'list'], { env });
      expect(code).toBe(1);
      expect(stderr).toContain(`The password file ${sandbox.path('pgpass')} is ignored: others can read it`);
      expect(stderr).toContain('requires a password for ada.\nNext: Set PGPASSWORD');
    },
    LONG,
  );

  test(
    'an address that is not valid is a usage error, whatever the command',
    async () => {
      for (const db of [
        `mysql://ada:${PASSWORD}@h/d`,
        `postgres://ada:${PASSWORD}@h`,
        'postgres://h/d?readers=none',
      ]) {
        for (const args of [['init', '--org', 'X'], ['orgs', 'list'], ['serve'], ['quickstart', '--exit']]) {
          const { code, stdout, stderr } = await run([...args, '--db', db]);
          expect({ db, args, code, stdout }).toEqual({ db, args, code: 2, stdout: '' });
          expect(stderr).toMatch(/^crm: The database URL .+\nNext: .+\n$/m);
        }
      }
    },
    LONG,
  );

  test(
    'a database that does not exist, or has no tables, is reported with the command that makes it',
    async () => {
      const none = server.address('none', `ada:${PASSWORD}`);
      const missing = await run(['serve', '--db', none, '-o', 'json']);
      expect([missing.code, missing.stdout]).toEqual([1, '']);
      expect(missing.stderr).toContain(
        `The database ${without(none)} does not exist.\nNext: Create it: createdb -h`,
      );
      const db = await database();
      const empty = await run(['orgs', 'list', '--db', db]);
      expect(empty.code).toBe(1);
      expect(empty.stderr).toContain(`crm init --org NAME --db '${without(db)}'`);
    },
    LONG,
  );

  test('what a server says is reported in words on stderr, and ends with 1', async () => {
    await using fake = await refusing('57P03', 'the database system is starting up');
    const { code, stdout, stderr } = await run(['serve', '--db', fake.address, '-o', 'json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /is not available \(the database system is starting up\)\.\nNext: Wait until the server is running/,
    );
  });

  test(
    'several servers serve one database, and none of them tells its password',
    async () => {
      const db = await database();
      const key = await ok(['init', '--org', 'Acme', '--db', db]);
      const servers = [
        await sandbox.serve(['--db', db, '--log', 'json']),
        await sandbox.serve(['--db', db, '--log', 'json']),
      ];
      const env = { CRM_API_KEY: key, CRM_URL: servers[0]?.url ?? '' };
      await ok(['create', 'contacts', 'email=ada@example.com'], { env });
      const elsewhere = { CRM_API_KEY: key, CRM_URL: servers[1]?.url ?? '' };
      await ok(['export', 'all', '--out', sandbox.path('export')], { env: elsewhere });
      const files = readdirSync(sandbox.path('export')).map((name) =>
        readFileSync(join(sandbox.path('export'), name), 'utf8'),
      );
      expect(files.join()).toContain('ada@example.com');
      await server.stop('immediate');
      await fetch(`${env.CRM_URL}/api/v2/contacts`, { headers: { 'X-Service-Api-Key': key } });
      await server.start();
      const logs = await Promise.all(servers.map(({ stop }) => stop()));
      expect(logs.map(({ code }) => code)).toEqual([0, 0]);
      expect(logs[0]?.stderr).toContain(`is serving ${without(db)} on `.slice(0, -4));
      expect(logs[0]?.stderr).toContain(
        'Anyone who can list the processes of this machine sees the password in --db',
      );
      expect(logs[0]?.stderr).toContain('cannot be reached: no server listens on');
      for (const { stdout, stderr } of logs) outputs.push(stdout, stderr);
      outputs.push(...files);
    },
    LONG,
  );

  test(
    'quickstart makes its journey beside what is there, and what it says removes all of it',
    async () => {
      const db = await database();
      await ok(['init', '--org', 'Tern & Tide Instruments', '--db', db]);
      const before = await counts(server, db);
      const { code, stdout, stderr } = await run(['quickstart', '--exit', '--db', db, '-o', 'json'], {
        env: { TMPDIR: sandbox.folder },
      });
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        database: without(db),
        pages: { v2: { records: 2_400 }, v1: { records: 2_400 } },
      });
      expect(stderr).toContain('Organization  Tern & Tide Instruments 2, 3 users');
      expect(readdirSync(sandbox.folder).filter((name) => name.startsWith('crm-quickstart'))).toEqual([]);
      const [, statement = ''] = /^ {2}psql \S+ -c '(.+)'$/m.exec(stderr) ?? [];
      const during = await counts(server, db);
      expect(during).not.toEqual(before);
      await server.sql(statement, new URL(db).pathname.slice(1));
      expect(await counts(server, db)).toEqual({ ...before, audit_log: during.audit_log ?? 0 });
      await ok(['orgs', 'create', 'Plover Pumps', '--db', db]);
      const { stdout: told } = await run([
        'audit',
        'list',
        '--org',
        'Plover Pumps',
        '--db',
        db,
        '-o',
        'json',
      ]);
      expect(JSON.parse(told)).toMatchObject([{ action: 'organization.created' }]);
    },
    LONG,
  );
});

/** How many rows each table has that belongs to organizations. */
async function counts(server: PostgresServer, address: string): Promise<Record<string, number>> {
  const name = new URL(address).pathname.slice(1);
  const tables = await server.sql(
    "select table_name from information_schema.columns where column_name = 'org_id' and table_schema = 'public'",
    name,
  );
  const counted = tables.map(async ({ table_name: table }): Promise<[string, number]> => {
    const [row] = await server.sql(`select count(*)::int as n from ${table}`, name);
    return [String(table), Number(row?.n)];
  });
  return Object.fromEntries(await Promise.all(counted));
}
