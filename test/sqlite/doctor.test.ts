// `crm doctor`: what is right is listed too, and each thing that is wrong is named with how to fix it.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Finding } from '../../cli/doctor/finding.ts';
import { checkClock } from '../../cli/doctor/server.ts';
import { COMMAND, Sandbox } from '../support/command.ts';

type Row = Finding & { section: string };

const sandbox = new Sandbox();
let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.dispose]());

async function look(
  env: Record<string, string>,
  ...words: string[]
): Promise<{ code: number; rows: Row[]; stderr: string }> {
  const { code, stdout, stderr } = await sandbox.crm(['doctor', '-o', 'json', ...words], { env });
  return { code, rows: JSON.parse(stdout), stderr };
}

const found = (rows: readonly Row[], check: string, section?: string) =>
  rows.find((row) => row.check === check && (section === undefined || row.section === section));

test('all is well with a server, a key and a backup', async () => {
  await sandbox.ok(['backup', 'b.db', '--quiet']);
  const server = await sandbox.serve([]);
  // The first response takes longer, too long for a look at the clock on a busy machine.
  await fetch(`${server.url}/docs/json`);
  const { code, rows, stderr } = await look({ CRM_URL: server.url, CRM_API_KEY: key });
  expect([code, stderr]).toEqual([0, '']);
  expect(rows.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(rows.map(({ section, check }) => `${section}: ${check}`)).toEqual([
    ...['settings: db', 'settings: url', 'settings: output', 'settings: API key'],
    ...[
      'database: database',
      'database: integrity',
      'database: indexes',
      'database: schema',
      'database: log',
    ],
    ...[
      'database: permissions',
      'database: folder',
      'database: disk space',
      'database: served',
      'database: backup',
      'database: changes',
      'database: search index',
      'database: open files',
    ],
    ...['server: server', 'server: ready', 'server: clock', 'server: version', 'server: key'],
  ]);
  expect(found(rows, 'url')?.found).toBe(`${server.url} (from CRM_URL)`);
  expect(found(rows, 'served')?.found).toContain(`at ${new URL(server.url).hostname}`);
  expect(JSON.stringify(rows)).not.toContain(key);
  const text = await sandbox.ok(['doctor'], { env: { CRM_URL: server.url, CRM_API_KEY: key } });
  expect(text).toMatch(/^settings\n {2}ok {4}db {8}/);
  await server.stop();
});

test('where there is nothing, each thing says how to get it', async () => {
  const empty = sandbox.path('empty');
  mkdirSync(empty);
  const child = Bun.spawnSync([...COMMAND, 'doctor', '-o', 'json'], {
    cwd: empty,
    env: { PATH: process.env.PATH ?? '', HOME: empty, CRM_URL: 'http://127.0.0.1:9' },
  });
  const rows: Row[] = JSON.parse(child.stdout.toString());
  expect(child.exitCode).toBe(0);
  expect(rows.filter(({ status }) => status === 'warn').map(({ check, next }) => [check, next])).toEqual([
    ['API key', expect.stringContaining('crm keys issue')],
    ['database', expect.stringContaining('crm init')],
    ['server', expect.stringContaining('crm serve')],
  ]);
});

test.each([['--db'], ['CRM_DB']])(
  'a database that %s names and that is not there is a failure',
  async (how) => {
    const { code, rows, stderr } = await (how === '--db'
      ? look({}, '--db', 'none.db')
      : look({ CRM_DB: 'none.db' }));
    expect(code).toBe(1);
    expect(found(rows, 'database')).toMatchObject({ status: 'fail', found: 'no database at none.db' });
    expect(stderr).toContain('crm init --org NAME --db none.db');
  },
);

test('an address that is none is a failure like others', async () => {
  const { code, rows } = await look({ CRM_URL: 'localhost:4000' });
  expect(code).toBe(1);
  expect(found(rows, 'server')).toMatchObject({
    status: 'fail',
    found: expect.stringContaining('localhost:4000'),
  });
});

test('a server that leaves requests unanswered: which ones, and why', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') response.end('ok');
    else request.socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { rows } = await look({ CRM_URL: `http://127.0.0.1:${port}`, CRM_API_KEY: key });
  server.close();
  const reason = 'the connection was closed before the response';
  expect(found(rows, 'server', 'server')).toMatchObject({ status: 'ok' });
  expect(found(rows, 'ready')).toMatchObject({ status: 'fail', found: `no response to /readyz: ${reason}` });
  expect(found(rows, 'version')).toMatchObject({
    status: 'warn',
    found: `no response to /docs/json: ${reason}`,
    next: expect.stringContaining('heck the log of the server'),
  });
  expect(found(rows, 'key')).toMatchObject({
    status: 'warn',
    found: 'reading companies got no response',
  });
});

describe('the clock', () => {
  const AT = '2026-11-22T14:04:52.827Z';
  const findingAfter = (aheadMs: number, ms: number) => {
    const asked = Date.parse(AT);
    return checkClock(new Date(asked + aheadMs).toUTCString(), asked, asked + ms);
  };

  test.each([
    ['as here', 0, 10],
    ['as here, of a server that answered late', 0, 14_000],
    ['as here when a late answer came', 14_000, 14_000],
    ['a few seconds behind', -4_000, 10],
    ['a few seconds ahead', 4_000, 10],
  ])('%s is right', (_, aheadMs, ms) => {
    expect(findingAfter(aheadMs, ms)).toMatchObject({ status: 'ok', found: 'server and this machine agree' });
  });

  test.each([
    ['behind', -20_000, 10],
    ['ahead', 20_000, 10],
    ['behind, of a server that answered late', -20_000, 14_000],
    ['ahead of when a late answer came', 34_000, 14_000],
  ])('%s is not', (_, aheadMs, ms) => {
    expect(findingAfter(aheadMs, ms)).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/^server and this machine differ by (19|20)/),
    });
  });
});

describe('a key', () => {
  test.each([
    ['of no scope but one', ['--scopes', 'contacts:read'], 'ok', 'cannot read companies'],
    ['of version 1', ['--api', 'v1', '--all-scopes'], 'ok', 'v1 key that can read people'],
  ])('%s', async (_, words, status, text) => {
    const server = await sandbox.serve([]);
    const other = await sandbox.ok(['keys', 'issue', '--org', 'Acme', ...words]);
    const { rows } = await look({ CRM_URL: server.url, CRM_API_KEY: other });
    expect(found(rows, 'key')).toMatchObject({ status, found: expect.stringContaining(text) });
    await server.stop();
  });

  test('that was revoked fails, with exit 1 and the next step on stderr', async () => {
    const server = await sandbox.serve([]);
    const issued = JSON.parse(
      await sandbox.ok(['keys', 'issue', '--org', 'Acme', '--all-scopes', '-o', 'json']),
    );
    await sandbox.ok(['keys', 'revoke', issued.id]);
    const { code, rows, stderr } = await look({ CRM_URL: server.url, CRM_API_KEY: issued.key });
    expect([code, found(rows, 'key')?.status]).toEqual([1, 'fail']);
    expect(stderr).toMatch(/1 check failed: key\.\nNext: Issue a new one: crm keys issue/);
    await server.stop();
  });

  test('in a file that others can read is a warning', async () => {
    writeFileSync(sandbox.path('key'), key, { mode: 0o644 });
    const { rows } = await look({}, '--api-key-file', 'key');
    expect(found(rows, 'API key')).toMatchObject({ status: 'warn', next: 'Run: chmod 600 key' });
  });
});

describe('a database', () => {
  test('that others can read, without an index and without a backup', async () => {
    copyFileSync(sandbox.path('b.db'), sandbox.path('worn.db'));
    const worn = new Database(sandbox.path('worn.db'));
    const index = worn.query(
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'deals%' AND sql IS NOT NULL`,
    );
    const { name } = index.get() as { name: string };
    worn.run(`DROP INDEX ${name}`);
    worn.close();
    chmodSync(sandbox.path('worn.db'), 0o644);
    const { code, rows } = await look({ CRM_DB: 'worn.db' });
    expect(code).toBe(1);
    expect(found(rows, 'indexes')).toMatchObject({ status: 'fail', found: `missing: ${name}` });
    expect(found(rows, 'permissions')).toMatchObject({ status: 'warn', next: 'Run: chmod 600 worn.db' });
    expect(found(rows, 'backup')).toMatchObject({ status: 'warn', found: 'none yet' });
  });

  test('that is damaged, and one that is none', async () => {
    const bytes = readFileSync(sandbox.path('b.db'));
    // A page of an index, because without a page of the schema nothing at all can be read.
    using whole = new Database(sandbox.path('b.db'), { readonly: true });
    const page = whole.query(`SELECT rootpage FROM sqlite_schema WHERE name = 'meetings_owner_id_id'`);
    const { rootpage } = page.get() as { rootpage: number };
    bytes.fill(255, 4_096 * (rootpage - 1), 4_096 * rootpage);
    writeFileSync(sandbox.path('harmed.db'), bytes);
    const harmed = await look({ CRM_DB: 'harmed.db' });
    expect([harmed.code, found(harmed.rows, 'integrity')?.status]).toEqual([1, 'fail']);
    writeFileSync(sandbox.path('text.db'), 'no database');
    const none = await look({ CRM_DB: 'text.db' });
    expect([none.code, found(none.rows, 'database')]).toEqual([
      1,
      expect.objectContaining({ status: 'fail' }),
    ]);
  });
});
