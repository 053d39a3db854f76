// What can be wrong with a PostgreSQL server, as the operator reads it: in words, with what to do, without the password.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError } from '../../db/database-error.ts';
import { parseAddress } from '../../db/postgres/address.ts';
import { assertWritable, checkServer } from '../../db/postgres/check-server.ts';
import { clockError } from '../../db/postgres/clock-check.ts';
import { openStore } from '../../db/store.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { refusing, silentServer, webServer } from '../support/fake-database.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const LONG = 300_000;

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
      'The database postgres://ada@nobody.invalid/crm cannot be reached: the host nobody.invalid is unknown.\n' +
        'check the host name.',
    );
  });

  test('nobody, or no socket', async () => {
    expect(await said('postgres://ada:hunter2@127.0.0.1:1/crm')).toContain(
      'no server listens on 127.0.0.1:1.\nstart',
    );
    expect(await said('postgres:///crm?user=ada&host=/nowhere')).toContain(
      'there is no socket /nowhere/.s.PGSQL.5432.\nstart the server, or specify the folder',
    );
  });

  test(
    'somebody silent, for five seconds',
    async () => {
      await using fake = await silentServer();
      const begun = performance.now();
      expect(await said(fake.address)).toContain('did not respond within 5 s.\ncheck the host and port');
      expect(performance.now() - begun).toBeLessThan(20_000);
    },
    LONG,
  );

  test(
    'something else',
    async () => {
      await using fake = await webServer();
      expect(await said(fake.address)).toContain(
        'is not PostgreSQL, or is shutting down.\ncheck the host and port.',
      );
      expect(await said(`${fake.address}?sslmode=require`)).toContain('is not PostgreSQL');
    },
    LONG,
  );

  test.each([
    ['28P01', 'rejected the password of ada.\nset PGPASSWORD'],
    [
      '28000',
      'does not allow ada to connect (as it says).\ncheck the user name, and the entries of pg_hba.conf',
    ],
    ['3D000', 'does not exist.\ncreate it: createdb -h 127.0.0.1 -p '],
    [
      '53300',
      "does not have a free connection (as it says).\nincrease the server's max_connections,\nor let each crm use fewer: add ?readers=",
    ],
    ['57P03', 'is not available (as it says).\nwait until the server is running'],
    ['53100', 'has no space left on its disk, or its disk failed.\ncheck'],
    [
      '42501',
      'does not give ada the permissions that crm needs (as it says).\nrun as the owner of the tables: GRANT ',
    ],
    ['25006', 'is read-only: its server is a standby, or is set to read-only.\nuse the primary'],
    ...['08P01', '42P05', '26000'].map((code): [string, string] => [
      code,
      'is behind a pooler that does not keep the session state crm needs (as it says).\nconnect to the server',
    ]),
    ['XX000', "cannot be reached (as it says).\ncheck the server's log."],
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
      ').\nrun as its owner: GRANT CONNECT ON',
    );
    expect(await hint('permission denied for schema public')).toContain(
      ').\nrun as its owner: GRANT CREATE, USAGE',
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
    [{ version: 12, encoding: 'UTF8' }, 'runs on PostgreSQL 12, but crm needs 13 or newer.'],
    [{ version: 17, encoding: 'LATIN1' }, 'has the encoding LATIN1, but crm needs UTF8.'],
  ])('a server that crm cannot work with: %p', async (row, words) => {
    await expect(checkServer(parseAddress('postgres://h/d'), answering(row))).rejects.toThrow(words);
  });

  test('a standby, which cannot be written to', async () => {
    const asked = assertWritable(parseAddress('postgres://h/d'), answering({ only_reads: true }));
    await expect(asked).rejects.toThrow('is read-only: its server is a standby, or is set to read-only.');
  });
});

describe('a clock', () => {
  const trouble = async (database: number, before: number, after: number) => {
    const row = Object.assign([{ now: database }], { count: 1, command: 'SELECT', columns: [] });
    const times = [before, after];
    const address = parseAddress('postgres://h/d');
    const error = await clockError(address, { run: async () => row }, () => times.shift() ?? 0);
    return error === null ? null : error.message.replace(/^.*machine: /, '');
  };

  test('may be five seconds off, and as much as nobody can tell because of the way to the server', async () => {
    expect(await trouble(100_000, 100_000, 100_010)).toBeNull();
    expect(await trouble(100_000, 105_000, 105_010)).toBeNull();
    expect(await trouble(100_000, 94_000, 95_000)).toBeNull();
    expect(await trouble(100_000, 90_000, 110_000)).toBeNull();
  });

  test('that is further off is reported: by how much, and whether ahead or behind', async () => {
    expect(await trouble(100_000, 105_100, 105_200)).toBe("its clock is 5.1 s ahead of the database's.");
    expect(await trouble(100_000, 37_000, 37_700)).toBe("its clock is 62.3 s behind the database's.");
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
    expect(await said(at('ada:wrong', 'ada'))).toContain('rejected the password of ada');
    expect(await said(at('ada', 'ada'))).toContain(
      `requires a password for ada.\nset PGPASSWORD, or add this line to ~/.pgpass, which only you may read (chmod 600):\nlocalhost:${server.port}:ada:ada:PASSWORD`,
    );
    expect(await said(at('ada:hunter2', 'ada', '?sslmode=disable'))).toContain(
      'no pg_hba.conf entry for host',
    );
  });

  test('whose certificate nobody vouches for is not trusted where that is asked for', async () => {
    expect(await said(at('ada:hunter2', 'ada', '?sslmode=verify-full'))).toContain(
      'has a certificate that is not trusted (',
    );
    const ca = join(server.folder, 'cert.pem');
    const elsewhere = at('ada:hunter2', 'ada', `?sslrootcert=${ca}&sslmode=`).replace(
      'localhost',
      '127.0.0.1',
    );
    expect(await said(`${elsewhere}verify-full`)).toContain(
      'With sslmode=verify-full, the certificate must also contain the host name',
    );
    expect(await said(`${elsewhere}verify-ca`)).toBe('opened');
    expect(await said(at('ada', 'ada', '?sslmode=verify-ca&sslrootcert=/none'))).toContain(
      'The sslrootcert file /none cannot be read (ENOENT).',
    );
  });

  test(
    'that grants nothing says which GRANT it takes',
    async () => {
      await server.sql('create database bare');
      await server.sql('revoke create on schema public from public', 'bare');
      expect(await said(at('poor', 'bare'))).toContain(
        'run as its owner: GRANT CREATE, USAGE ON SCHEMA public TO "poor";',
      );
      expect(await said(at('crm', 'bare'))).toBe('opened');
      expect(await said(at('poor', 'bare'))).toContain(
        'run as the owner of the tables: GRANT ALL ON ALL TABLES IN SCHEMA public TO "poor";',
      );
    },
    LONG,
  );
});
