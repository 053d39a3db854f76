// What can be wrong with a PostgreSQL server, as the operator is told it: in words, with what to do, without the password.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError } from '../../db/database-error.ts';
import { parseAddress } from '../../db/postgres/address.ts';
import { assertWritable, checkServer } from '../../db/postgres/check-server.ts';
import { clockTrouble } from '../../db/postgres/clock-check.ts';
import { openStore } from '../../db/store.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { refusing, silentServer, webServer } from '../support/fake-database.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const LONG = 60_000;

/** What is said of a database that cannot be opened, its next steps one a line. */
async function said(address: string): Promise<string> {
  try {
    const store = await openStore(address);
    await store.close();
    return 'opened';
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const text = [error.message, ...error.nextSteps].join('\n');
    expect(text).not.toContain('hunter2');
    return text;
  }
}

describe('an address behind which there is', () => {
  test('no host', async () => {
    expect(await said('postgres://ada:hunter2@nobody.invalid/crm')).toBe(
      'The database postgres://ada@nobody.invalid/crm cannot be reached: there is no host nobody.invalid.\n' +
        'check the name of the host.',
    );
  });

  test('nobody, or no socket', async () => {
    expect(await said('postgres://ada:hunter2@127.0.0.1:1/crm')).toContain(
      'nobody listens at 127.0.0.1:1.\nstart',
    );
    expect(await said('postgres:///crm?user=ada&host=/nowhere')).toContain(
      'no server has a socket /nowhere/.s.PGSQL.5432.\nstart the server, or name the folder',
    );
  });

  test(
    'somebody silent, for five seconds',
    async () => {
      await using fake = await silentServer();
      const begun = performance.now();
      expect(await said(fake.address)).toContain('does not answer: 5 s have passed.\ncheck host and port');
      expect(performance.now() - begun).toBeLessThan(20_000);
    },
    LONG,
  );

  test(
    'something else',
    async () => {
      await using fake = await webServer();
      expect(await said(fake.address)).toContain('is no PostgreSQL, or is going down.\ncheck host and port.');
      expect(await said(`${fake.address}?sslmode=require`)).toContain('is no PostgreSQL');
    },
    LONG,
  );

  test.each([
    ['28P01', 'does not take the password of ada.\ngive it in PGPASSWORD'],
    ['28000', 'does not let ada in (as it says).\ncheck the user, and what pg_hba.conf says'],
    ['3D000', 'does not exist.\nmake it: createdb -h 127.0.0.1 -p '],
    [
      '53300',
      "has no connection left (as it says).\nraise the server's max_connections,\nor have each crm take fewer: add ?readers=",
    ],
    ['57P03', 'is not up (as it says).\nwait until it is'],
    ['53100', 'has no space left on its disk, or its disk failed.\nlook into'],
    ['42501', 'denies ada what crm needs (as it says).\nas the owner of the tables run: GRANT '],
    ['25006', 'only reads: its server is a standby, or was set so.\nname the primary'],
    ...['08P01', '42P05', '26000'].map((code): [string, string] => [
      code,
      'is behind a pooler that does not keep what crm sets up on a connection (as it says).\ngo to the server',
    ]),
    ['XX000', "cannot be reached (as it says).\nlook into the server's log."],
  ])('a server that says %s', async (code, words) => {
    await using fake = await refusing(code, 'as it says');
    expect(await said(fake.address)).toContain(words);
  });

  test('a right that is missing: it is named', async () => {
    const hint = async (words: string) => {
      await using fake = await refusing('42501', words);
      return await said(fake.address);
    };
    expect(await hint('permission denied for database "crm"')).toContain(
      ').\nas its owner run: GRANT CONNECT ON',
    );
    expect(await hint('permission denied for schema public')).toContain(
      ').\nas its owner run: GRANT CREATE, USAGE',
    );
  });

  test('PgBouncer: all that it has to let pass is named', async () => {
    await using fake = await refusing('08P01', 'unsupported startup parameter: lock_timeout');
    expect(await said(fake.address)).toEndWith(
      'ignore_startup_parameters = application_name,lock_timeout,statement_timeout,' +
        'idle_in_transaction_session_timeout,default_transaction_read_only,synchronous_commit',
    );
  });

  const answering = (row: Record<string, unknown>) => ({
    run: async () => Object.assign([row], { count: 1, command: 'SELECT', columns: [] }),
  });
  test.each([
    [{ version: 12, encoding: 'UTF8' }, 'is on PostgreSQL 12, and crm needs 13 or newer.'],
    [{ version: 17, encoding: 'LATIN1' }, 'keeps its text in LATIN1, and crm needs UTF8.'],
  ])('a server that crm cannot work with: %p', async (row, words) => {
    await expect(checkServer(parseAddress('postgres://h/d'), answering(row))).rejects.toThrow(words);
  });

  test('a standby, which cannot be written to', async () => {
    const asked = assertWritable(parseAddress('postgres://h/d'), answering({ only_reads: true }));
    await expect(asked).rejects.toThrow('only reads: its server is a standby, or was set so.');
  });
});

describe('a clock', () => {
  const trouble = async (database: number, before: number, after: number) => {
    const row = Object.assign([{ now: database }], { count: 1, command: 'SELECT', columns: [] });
    const times = [before, after];
    const address = parseAddress('postgres://h/d');
    const error = await clockTrouble(address, { run: async () => row }, () => times.shift() ?? 0);
    return error === null ? null : error.message.replace(/^.*here: /, '');
  };

  test('may be five seconds off, and as much as nobody can tell because of the way to the server', async () => {
    expect(await trouble(100_000, 100_000, 100_010)).toBeNull();
    expect(await trouble(100_000, 105_000, 105_010)).toBeNull();
    expect(await trouble(100_000, 94_000, 95_000)).toBeNull();
    expect(await trouble(100_000, 90_000, 110_000)).toBeNull();
  });

  test('that is further off is told: by how much, and whether ahead or behind', async () => {
    expect(await trouble(100_000, 105_100, 105_200)).toBe("this machine's clock is 5.1 s ahead of its own.");
    expect(await trouble(100_000, 37_000, 37_700)).toBe("this machine's clock is 62.3 s behind its own.");
  });
});

describe.skipIf(postgresPrograms === null || !hasOpenssl)('a server of its own', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.sql(`create user ada password 'hunter2'; create user poor`);
    const { uid, gid } = statSync(server.data);
    const { certFile, keyFile } = makeCertificate(server.folder, 'localhost');
    for (const [from, to] of [
      [certFile, 'server.crt'],
      [keyFile, 'server.key'],
    ] as const) {
      copyFileSync(from, join(server.data, to));
      chownSync(join(server.data, to), uid, gid);
      chmodSync(join(server.data, to), 0o600);
    }
    writeFileSync(
      join(server.data, 'pg_hba.conf'),
      'local all all trust\nhostssl all ada all scram-sha-256\nhost all crm all trust\nhost all poor all trust\n',
    );
    server.configure({ ssl: 'on' });
    await server.stop();
    await server.start();
    await server.sql('create database ada owner ada');
  }, LONG);
  afterAll(() => server.close());

  const at = (user: string, database: string, query = '') =>
    `postgres://${user}@localhost:${server.port}/${database}${query}`;

  test(
    'is entered with the password, over TLS as it is asked for',
    async () => {
      const ca = join(server.folder, 'cert.pem');
      for (const query of [
        '',
        '?sslmode=require',
        `?sslmode=require&sslrootcert=${ca}`,
        `?sslmode=verify-full&sslrootcert=${ca}`,
      ])
        expect([query, await said(at('ada:hunter2', 'ada', query))]).toEqual([query, 'opened']);
      expect(await said(at('crm', 'crm', '?sslmode=disable'))).toBe('opened');
      expect(await said(`postgres://crm@/crm?host=${server.folder}&port=${server.port}`)).toBe('opened');
    },
    LONG,
  );

  test('is not entered without, or without TLS', async () => {
    expect(await said(at('ada:wrong', 'ada'))).toContain('does not take the password of ada');
    expect(await said(at('ada', 'ada'))).toContain(
      `wants a password for ada.\ngive it in PGPASSWORD, or keep it in ~/.pgpass, which nobody else may read (chmod 600), in a line:\nlocalhost:${server.port}:ada:ada:PASSWORD`,
    );
    expect(await said(at('ada:hunter2', 'ada', '?sslmode=disable'))).toContain(
      'no pg_hba.conf entry for host',
    );
  });

  test('whose certificate nobody vouches for is not trusted where that is asked for', async () => {
    expect(await said(at('ada:hunter2', 'ada', '?sslmode=verify-full'))).toContain(
      'has a certificate that is not to be trusted (',
    );
    const ca = join(server.folder, 'cert.pem');
    const elsewhere = at('ada:hunter2', 'ada', `?sslrootcert=${ca}&sslmode=`).replace(
      'localhost',
      '127.0.0.1',
    );
    expect(await said(`${elsewhere}verify-full`)).toContain(
      'With sslmode=verify-full the host must be a name',
    );
    expect(await said(`${elsewhere}verify-ca`)).toBe('opened');
    expect(await said(at('ada', 'ada', '?sslmode=verify-ca&sslrootcert=/none'))).toContain(
      'The file /none of sslrootcert cannot be read (ENOENT).',
    );
  });

  test(
    'that grants nothing says which GRANT it takes',
    async () => {
      await server.sql('create database bare');
      await server.sql('revoke create on schema public from public', 'bare');
      expect(await said(at('poor', 'bare'))).toContain(
        'run: GRANT CREATE, USAGE ON SCHEMA public TO "poor";',
      );
      expect(await said(at('crm', 'bare'))).toBe('opened');
      expect(await said(at('poor', 'bare'))).toContain(
        'run: GRANT ALL ON ALL TABLES IN SCHEMA public TO "poor";',
      );
    },
    LONG,
  );
});
