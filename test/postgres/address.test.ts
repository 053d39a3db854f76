// Addresses of PostgreSQL databases: read as libpq does, shown without a password whatever they look like.
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseAddressError } from '../../db/database-error.ts';
import { hasPassword, parseAddress, shownAddress } from '../../db/postgres/address.ts';
import { findPassword } from '../../db/postgres/password.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an address', () => {
  test('says where, who, which database, and what more one wants', () => {
    expect(parseAddress('postgres://ada:p%40ss%2F1@db.example:6543/c%20rm?sslmode=require', {})).toEqual({
      ...{ host: 'db.example', port: 6543, user: 'ada', password: 'p@ss/1', database: 'c rm' },
      ...{ sslMode: 'require', sslRootCert: null, channelBinding: 'prefer', readers: 6, writers: 6 },
      shown: 'postgres://ada@db.example:6543/c%20rm?sslmode=require',
    });
  });

  test.each([
    ['POSTGRESQL://h/d', { host: 'h', port: 5432, database: 'd', sslMode: 'prefer' }],
    ['postgres://[::1]:6000/d', { host: '::1', port: 6000 }],
    ['postgres://u@/d?host=/run/pg&port=7', { host: '/run/pg', port: 7, user: 'u' }],
    ['postgres://%2Frun%2Fpg/d', { host: '/run/pg' }],
    ['postgres:///?dbname=d&user=u&host=h', { host: 'h', user: 'u', database: 'd' }],
    ['postgres://u:@h/d', { password: null }],
    ['postgres://h/d?password=p&readers=2&writers=9', { password: 'p', readers: 2, writers: 9 }],
    ['postgres://h/d?sslmode=verify-full&sslrootcert=/ca', { sslMode: 'verify-full', sslRootCert: '/ca' }],
  ])('%p', (text, expected) => {
    expect(parseAddress(text, {})).toMatchObject(expected);
  });

  test('leaves to the environment what it does not say, the user to the system, and the database to nobody', () => {
    const env = { PGHOST: 'h', PGPORT: '6', PGUSER: 'u', PGSSLMODE: 'require', PGDATABASE: 'd' };
    const expected = { host: 'h', port: 6, user: 'u', sslMode: 'require' };
    expect(parseAddress('postgres:///crm', env)).toMatchObject(expected);
    expect(parseAddress('postgres://v@i:7/crm?sslmode=disable', env)).toMatchObject({
      ...{ host: 'i', port: 7, user: 'v', sslMode: 'disable' },
    });
    expect(parseAddress('postgres://h/crm', {}).user).toBe(userInfo().username);
    expect(() => parseAddress('postgres://h', env)).toThrow('does not name a database');
  });

  test.each([
    [
      'mysql://u:secret@h/d',
      'The database URL mysql://u@h/d begins with mysql:, which crm does not support.',
    ],
    ['http://h/d', 'begins with http:'],
    ['postgres://u:secret@h', 'The database URL postgres://u@h does not name a database.'],
    ['postgres://u:secret@h/', 'does not name a database'],
    ['postgres:d', 'The database URL postgres:d is not valid.'],
    ['postgres://u:sec@ret@h/d', 'The database URL postgres://u@h/d has more than one @'],
    ['postgres://u:sec/ret@h/d', 'The database URL postgres://u@h/d is not valid.'],
    ['postgres://u:sec?ret@h/d', 'The database URL postgres://… is not valid.'],
    ['postgres://u:%zz@h/d', 'has a % that is not followed by a character code'],
    ['postgres://u:secret@h1,h2/d', 'names more than one host'],
    ['postgres://h:0/d', 'port must be a number from 1 to 65535'],
    ['postgres://h/d?readers=0', 'readers must be a number from 1 to 100'],
    ['postgres://h/d?sslmode=maybe', 'sslmode must be one of disable, allow, prefer'],
    ['postgres://h/d?pasword=secret', 'The database URL postgres://h/d has the unknown parameter "pasword".'],
    ['postgres://h/d?s3cret', 'The database URL postgres://h/d has an unknown parameter.'],
    ['postgres://u:12?secret@h/d', 'The database URL postgres://… has a ? before an @'],
    ['postgres://u:12?secret&more@h/d', 'The database URL postgres://… has '],
  ])('%p is refused, saying why or what is allowed', (text, reason) => {
    const error = thrown(() => parseAddress(text, {}));
    expect(error).toBeInstanceOf(DatabaseAddressError);
    const said = [error.message, ...error.nextSteps].join('\n');
    expect(said).toContain(reason);
    expect(said).not.toMatch(/sec|ret$/);
  });

  test('that holds a password is reported', () => {
    expect(hasPassword('postgres://u:p@h/d')).toBe(true);
    expect(hasPassword('postgres://h/d?password=p')).toBe(true);
    expect(hasPassword('postgres://u@h/d?readers=1')).toBe(false);
    expect(shownAddress('postgres://u:p@h/d?password=p&readers=1')).toBe('postgres://u@h/d?readers=1');
  });
});

describe('a password', () => {
  const database = (text = 'postgres://ada@db.example:5432/crm') => parseAddress(text, {});
  const file = (text: string, mode = 0o600) => {
    const path = join(folder, 'pgpass');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };
  const found = (text: string, address = database()) =>
    findPassword(address, { PGPASSFILE: file(text) }).password;

  test('is taken from the address, then the variable, then the file', () => {
    const env = { PGPASSWORD: 'variable', PGPASSFILE: file('*:*:*:*:file\n') };
    expect(findPassword(database('postgres://a:address@h/d'), env).password).toBe('address');
    expect(findPassword(database('postgres://a:@h/d'), env).password).toBe('variable');
    expect(findPassword(database(), { ...env, PGPASSWORD: '' }).password).toBe('file');
    expect(findPassword(database(), { PGPASSFILE: join(folder, 'none') })).toEqual({
      password: null,
      warning: null,
    });
  });

  test('is that of the first line that fits, * for anything, \\ before what is meant as it is', () => {
    expect(found('# a comment\nother:*:*:*:1\ndb.example:5432:crm:ada:2\n*:*:*:*:3\n')).toBe('2');
    expect(found('db.example:5433:*:*:1\n*:*:*:bob:2\n')).toBeNull();
    expect(found('db.example:*:*:ada:a\\:b\\\\c:rest\r\n')).toBe('a:b\\c');
    expect(found('\\*:*:*:*:1\n')).toBeNull();
    expect(found('*:*:a\\:b:*:1\n', database('postgres://h/a%3Ab'))).toBe('1');
    expect(found('localhost:*:*:*:1\n', database('postgres:///d?host=/var/run/postgresql'))).toBe('1');
    expect(found('/run/pg:*:*:*:1\n', database('postgres:///d?host=/run/pg'))).toBe('1');
  });

  test('is looked for in .pgpass at home', () => {
    const home = mkdtempSync(join(folder, 'home-'));
    writeFileSync(join(home, '.pgpass'), '*:*:*:*:home', { mode: 0o600 });
    expect(findPassword(database(), { HOME: home }).password).toBe('home');
  });

  test('is not taken from a file that others can read, or that is none; that is said', () => {
    const open = file('*:*:*:*:secret\n', 0o640);
    expect(findPassword(database(), { PGPASSFILE: open })).toEqual({
      password: null,
      warning: `The password file ${open} is ignored: others can read it; run "chmod 600 ${open}".`,
    });
    const path = join(folder, 'pgpass.d');
    mkdirSync(path);
    expect(findPassword(database(), { PGPASSFILE: path }).warning).toContain('not a regular file');
  });
});

function thrown(run: () => unknown): DatabaseAddressError {
  try {
    run();
  } catch (error) {
    if (error instanceof DatabaseAddressError) return error;
  }
  throw new Error('nothing was refused');
}
