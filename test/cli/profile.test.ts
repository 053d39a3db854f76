// `crm profile`: adds what works, keeps it private, lists, chooses and removes.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync, statSync, symlinkSync } from 'node:fs';
import { generateKey } from '../../db/tables/key-format.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const KEY = generateKey('service_live');
const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());
beforeEach(() => rmSync(sandbox.path('config'), { recursive: true, force: true }));

const meta = { request_id: 'req_1', api_version: '2', timestamp: '2026-01-01T00:00:00.000Z' };
const paths: string[] = [];
const server = Bun.serve({
  port: 0,
  fetch: (request) => {
    paths.push(new URL(request.url).pathname);
    if (request.headers.get('authorization') === `Bearer ${KEY}`)
      return Response.json({ object: 'success', data: { organization: { id: '1', name: 'Acme' } }, meta });
    const error = { code: 'AUTH_INVALID_API_KEY', message: 'The API key is not valid.', details: null };
    return Response.json({ object: 'error', error, meta }, { status: 401 });
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}`;

const profile = (...words: string[]) => sandbox.crm(['profile', ...words]);
const add = (name: string, words: string[] = [], stdin = `${KEY}\n`) =>
  sandbox.crm(['profile', 'add', name, '--url', url, ...words], { stdin });
const file = async () => JSON.parse(await sandbox.read('config/crm/config.json'));
const modeOf = (name: string) => statSync(sandbox.path(name)).mode & 0o777;

describe('add', () => {
  test('tries the key, keeps it for the user alone, and the first profile is used at once', async () => {
    const { code, stdout, stderr } = await add('live');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe(
      `The key works for Acme. Added profile live for ${url}.\nIt is now the default profile. Next: crm list contacts\n`,
    );
    expect(await file()).toEqual({ current: 'live', profiles: { live: { url, api_key_file: 'live.key' } } });
    expect(await sandbox.read('config/crm/live.key')).toBe(`${KEY}\n`);
    expect([modeOf('config/crm/live.key'), modeOf('config/crm/config.json')]).toEqual([0o600, 0o600]);
    expect(modeOf('config/crm')).toBe(0o700);
    paths.length = 0;
    expect((await sandbox.crm(['api', 'GET', 'authenticate'])).code).toBe(0);
    expect(paths).toEqual(['/api/v2/authenticate']);
  });

  test('a key that does not work is not kept; neither is one without a server, or none', async () => {
    const wrong = await add('live', [], generateKey('service_live'));
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('does not accept this API key')]);
    const nowhere = await add('live', ['--url', 'http://127.0.0.1:1']);
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('Next: ')]);
    const none = await add('live', [], ' \n');
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('crm profile add live')]);
    expect(await sandbox.exists('config/crm/config.json')).toBe(false);
    expect(await sandbox.exists('config/crm/live.key')).toBe(false);
  });

  test('refuses a name that is taken, or can be no file, and replaces with --force', async () => {
    await add('live');
    const again = await add('live');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('add --force')]);
    expect((await add('live', ['--force', '-o', 'json'])).code).toBe(0);
    expect((await file()).profiles.live.output).toBe('json');
    for (const name of ['../x', '', '.x', 'a b', 'x'.repeat(64)]) expect((await add(name)).code).toBe(2);
    // Named in the environment before it exists.
    const env = { CRM_PROFILE: 'next' };
    const next = await sandbox.crm(['profile', 'add', 'next', '--url', url], { env, stdin: KEY });
    expect([next.code, (await file()).current]).toEqual([0, 'live']);
  });

  test('refers to a file with a key as it is named, and keeps --db', async () => {
    await sandbox.write('own.key', KEY);
    await add('own', ['--api-key-file', 'own.key', '--db', 'data/crm.db'], '');
    expect((await file()).profiles.own).toEqual({
      ...{ url, api_key_file: sandbox.path('own.key'), db: sandbox.path('data/crm.db') },
    });
    expect((await profile('remove', 'own')).stderr).toStartWith('Removed profile own. ');
    expect(await sandbox.exists('own.key')).toBe(true);
  });

  test('on a terminal, the key is asked for and not shown', async () => {
    const words = ['profile', 'add', 'typed', '--url', url];
    const { code, output } = await sandbox.onTerminal(words, { when: 'API key', answer: `${KEY}\r` });
    expect([code, output.includes(KEY)]).toEqual([0, false]);
    expect(output).toContain('The key works for Acme.');
    expect(await sandbox.read('config/crm/typed.key')).toBe(`${KEY}\n`);
  });
});

describe('of several', () => {
  beforeEach(async () => {
    const profiles = {
      a: { url, api_key_file: 'a.key' },
      b: { db: 'postgres://crm:geheim@db/crm', output: 'csv' },
    };
    await sandbox.write('elsewhere.json', JSON.stringify({ profiles }));
    await sandbox.write('config/crm/a.key', KEY);
    symlinkSync(sandbox.path('elsewhere.json'), sandbox.path('config/crm/config.json'));
  });

  test('list and show tell the settings and which is used, never a key or password', async () => {
    const listed = await profile('list');
    expect(ndjson(listed.stdout)).toEqual([
      {
        name: 'a',
        is_current: false,
        url,
        api_key_file: sandbox.path('config/crm/a.key'),
        db: null,
        output: null,
      },
      expect.objectContaining({ name: 'b', is_current: false, url: null, output: 'csv' }),
    ]);
    expect(listed.stdout).not.toContain('geheim');
    const shown = await profile('show', 'b', '-o', 'json', '--profile', 'b');
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'b', is_current: true });
    expect((await profile('list', '-o', 'table')).stdout).not.toContain(KEY);
    const absent = await profile('show', 'aa');
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringContaining('Next: Use one of: a, b.')]);
  });

  test('use holds until another is named, through a link to the file; remove ends it and its key', async () => {
    expect((await profile('use', 'b')).stderr).toBe('The default profile is now b.\n');
    expect(JSON.parse(await sandbox.read('elsewhere.json')).current).toBe('b');
    const usedOutput = async (env: Record<string, string> = {}) =>
      (await sandbox.crm(['version', '--debug'], { env })).stderr.match(
        /output: (\w+) \(from profile\)/,
      )?.[1];
    expect([await usedOutput(), await usedOutput({ CRM_PROFILE: 'a' })]).toEqual(['csv', undefined]);
    expect((await profile('use', 'c')).code).toBe(2);
    const env = { CRM_API_KEY: 'x', CRM_URL: url };
    const hidden = await sandbox.crm(['profile', 'use', 'a'], { env });
    expect(hidden.stderr).toContain('Next: unset CRM_API_KEY CRM_URL');
    expect((await profile('remove', 'a')).stderr).toContain('Removed profile a and its key.');
    expect(JSON.parse(await sandbox.read('elsewhere.json'))).toEqual({
      profiles: { b: { db: 'postgres://crm:geheim@db/crm', output: 'csv' } },
    });
    expect(await sandbox.exists('config/crm/a.key')).toBe(false);
    expect(await usedOutput()).toBeUndefined();
  });
});

test('without any profile, list says how to add one', async () => {
  const { code, stdout, stderr } = await profile('list', '-o', 'table');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('Next: crm profile add NAME');
  await sandbox.write('config/crm/config.json', '{"current":"x","profiles":{}}');
  const wrong = await sandbox.crm(['list', 'contacts']);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('"current" is not the name')]);
});
