// Settings of the command line: flag, environment, profile file, default, strongest first.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, rmSync } from 'node:fs';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => rmSync(sandbox.path('config'), { recursive: true, force: true }));

// Each request tells which key and address it came by.
const seen: string[] = [];
const server = Bun.serve({
  port: 0,
  fetch: (request) => {
    seen.push(`${new URL(request.url).host} ${request.headers.get('authorization')}`);
    const page_info = { has_next_page: false, end_cursor: null };
    const meta = { request_id: 'req_1', api_version: '2', timestamp: '2026-01-01T00:00:00.000Z' };
    if (request.url.endsWith('/authenticate'))
      return Response.json({ object: 'success', data: { organization: { id: '1', name: 'Acme' } }, meta });
    return Response.json({ object: 'list', data: [{ id: '1' }], page_info, meta });
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}`;

async function profile(profiles: unknown): Promise<void> {
  await sandbox.write('config/crm/config.json', JSON.stringify({ profiles }));
}

async function keyFile(name: string, key: string): Promise<string> {
  await sandbox.write(name, `${key}\n`);
  chmodSync(sandbox.path(name), 0o600);
  return sandbox.path(name);
}

describe('the API key', () => {
  test('is nowhere: exit 4, and how to get one', async () => {
    const { code, stderr } = await sandbox.crm(['list', 'contacts', '--url', url]);
    expect(code).toBe(4);
    expect(stderr).toContain('No API key given.');
    expect(stderr).toContain('crm keys issue');
  });

  test('comes from the flag, else the environment, else the profile', async () => {
    const flag = await keyFile('flag.key', 'from-flag');
    await keyFile('config/crm/profile.key', 'from-profile');
    await profile({ default: { url, api_key_file: 'profile.key' } });
    const env = { CRM_API_KEY: 'from-environment' };
    seen.length = 0;
    await sandbox.ok(['list', 'contacts', '--api-key-file', flag], { env });
    await sandbox.ok(['list', 'contacts'], { env });
    await sandbox.ok(['list', 'contacts']);
    expect(seen.map((line) => line.split(' ').at(-1))).toEqual([
      'from-flag',
      'from-environment',
      'from-profile',
    ]);
  });

  test('in a file that others can read is used with a warning on stderr', async () => {
    const file = await keyFile('open.key', 'k');
    chmodSync(file, 0o644);
    const { code, stdout, stderr } = await sandbox.crm([
      'list',
      'contacts',
      '--url',
      url,
      '--api-key-file',
      file,
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"id":"1"}\n' });
    expect(stderr).toContain(`chmod 600 ${file}`);
  });

  test.each([
    ['missing.key', 'no such file'],
    ['', 'it is a folder'],
    ['empty.key', 'is empty'],
  ])('in %s: exit 4', async (name, reason) => {
    await keyFile('empty.key', '');
    const { code, stderr } = await sandbox.crm(['list', 'contacts', '--api-key-file', sandbox.path(name)]);
    expect(code).toBe(4);
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/\bE[A-Z]{4,}\b|chmod 6/);
  });

  test('that holds what no key holds is refused before anything is sent', async () => {
    seen.length = 0;
    const env = { CRM_API_KEY: 'two words' };
    const { code, stderr } = await sandbox.crm(['list', 'contacts', '--url', url], { env });
    expect({ code, sent: seen.length }).toEqual({ code: 4, sent: 0 });
    expect(stderr).not.toContain('two words');
  });
});

describe('precedence', () => {
  test('of the address and the output: flag, environment, profile', async () => {
    const env = { CRM_API_KEY: 'k' };
    const broken = { url: 'http://127.0.0.1:1', output: 'ndjson' };
    await profile({ default: { url, output: 'csv' }, broken });
    expect(await sandbox.ok(['list', 'contacts', '--fields', 'id'], { env })).toBe('id\n1');
    const json = { ...env, CRM_OUTPUT: 'json', CRM_PROFILE: 'broken', CRM_URL: url };
    expect(await sandbox.ok(['list', 'contacts'], { env: json })).toBe('[\n{"id":"1"}\n]');
    expect(await sandbox.ok(['list', 'contacts', '-o', 'ndjson'], { env: json })).toBe('{"id":"1"}');
    const flag = ['--url', url, 'list', 'contacts', '--profile', 'broken'];
    expect(await sandbox.ok(flag, { env: { ...env, CRM_URL: 'http://127.0.0.1:1' } })).toBe('{"id":"1"}');
  });

  test('of the profile: flag, environment, the one named default', async () => {
    const there = { url, output: 'csv' };
    await profile({
      default: { ...there, output: 'json' },
      flag: there,
      environment: { url, output: 'ndjson' },
    });
    const list = async (args: string[], CRM_PROFILE = ''): Promise<string> =>
      sandbox.ok(['list', 'contacts', '--fields', 'id', ...args], { env: { CRM_API_KEY: 'k', CRM_PROFILE } });
    expect(await list([])).toBe('[\n{"id":"1"}\n]');
    expect(await list([], 'environment')).toBe('{"id":"1"}');
    expect(await list(['--profile', 'flag'], 'environment')).toBe('id\n1');
  });

  test('of the database: flag, environment, profile, ./crm.db', async () => {
    const missing = async (args: string[], env = {}): Promise<string> =>
      /There is no database at (.*)\./.exec(
        (await sandbox.crm(['orgs', 'list', ...args], { env })).stderr,
      )?.[1] ?? '';
    expect(await missing([])).toBe('./crm.db');
    await profile({ default: { db: 'mine.db' } });
    expect(await missing([])).toBe(sandbox.path('config/crm/mine.db'));
    expect(await missing([], { CRM_DB: 'environment.db' })).toBe('environment.db');
    expect(await missing(['--db', 'flag.db'], { CRM_DB: 'environment.db' })).toBe('flag.db');
  });

  test('an empty variable counts as unset', async () => {
    const { stderr } = await sandbox.crm(['orgs', 'list'], { env: { CRM_DB: '', CRM_OUTPUT: '' } });
    expect(stderr).toContain('There is no database at ./crm.db.');
  });
});

describe('the profile file', () => {
  test.each([
    ['{broken', 'it is not JSON'],
    ['[]', 'not have an object "profiles"'],
    ['{"profiles":{"default":[]}}', 'profile "default" is not an object'],
    ['{"profiles":{"default":{"api_key":"x"}}}', 'unknown setting "api_key"'],
    ['{"profiles":{"default":{"url":5}}}', '"url" of profile "default" is not a non-empty string'],
    ['{"profiles":{"default":{"output":"xml"}}}', 'is "xml"'],
  ])('%s is an error that says so', async (text, reason) => {
    await sandbox.write('config/crm/config.json', text);
    const { code, stdout, stderr } = await sandbox.crm(['list', 'contacts']);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(reason);
    expect(stderr).toMatch(/^Next: /m);
  });

  test('must have the profile that is asked for, and says which it has', async () => {
    const none = await sandbox.crm(['list', 'contacts', '--profile', 'work']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(`${sandbox.path('config/crm/config.json')} does not exist`);
    // What it says to run makes a profile that works.
    const [, command = ''] = /[Aa]dd it: crm (.*) --url/.exec(none.stderr) ?? [];
    await sandbox.ok([...command.split(' '), '--url', url], { stdin: 'from-work' });
    seen.length = 0;
    await sandbox.ok(['list', 'contacts', '--profile', 'work', '--url', url]);
    expect(seen.map((line) => line.split(' ').at(-1))).toEqual(['from-work']);
    const near = await sandbox.crm(['list', 'contacts', '--profile', 'wrk']);
    expect(near.stderr).toContain('Did you mean work?');
    await profile({ home: { url } });
    const other = await sandbox.crm(['list', 'contacts', '--profile', 'work']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('home');
    await profile({});
    const empty = await sandbox.crm(['list', 'contacts', '--profile', 'work']);
    expect([empty.code, empty.stderr]).toEqual([
      2,
      expect.stringContaining('Next: Add it: crm profile add work'),
    ]);
  });

  test('need not have a default profile', async () => {
    await profile({ home: {} });
    expect(await sandbox.ok(['list', 'contacts', '--url', url], { env: { CRM_API_KEY: 'k' } })).toBe(
      '{"id":"1"}',
    );
  });
});

test('CRM_OUTPUT of an unknown format is a usage error', async () => {
  const { code, stderr } = await sandbox.crm(['list', 'contacts'], { env: { CRM_OUTPUT: 'xml' } });
  expect(code).toBe(2);
  expect(stderr).toContain('table, json, ndjson, csv');
});
