// `crm keys`: issue, list, rotate and revoke, on the database itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openStore } from '../../db/store.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
const KEY = /service_(?:live|api|pk)_[0-9A-Za-z]{49}/;
let initKey = '';
beforeAll(async () => {
  initKey = await sandbox.ok(['init', '--org', 'Example', '--user', 'ada@example.com']);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const issue = (...words: string[]) => sandbox.crm(['keys', 'issue', '--org', 'example', ...words]);

async function issued(...words: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await sandbox.ok(['keys', 'issue', '--org', 'Example', ...words, '-o', 'json']));
}

async function storedKey(id: unknown): Promise<Record<string, unknown> | undefined> {
  return ndjson(await sandbox.ok(['keys', 'list'])).find((key) => key.id === id);
}

describe('keys issue', () => {
  test('prints the bare key in a pipe and nothing on stderr', async () => {
    const { code, stdout, stderr } = await issue('--scopes', 'contacts:read');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^service_live_[0-9A-Za-z]{49}\n$/);
  });

  test('prints the bare key in a pipe where tables are the rule', async () => {
    const words = ['keys', 'issue', '--org', 'Example', '--scopes', 'contacts:read'];
    const { stdout } = await sandbox.crm(words, { env: { CRM_OUTPUT: 'table' } });
    expect(stdout).toMatch(/^service_live_[0-9A-Za-z]{49}\n$/);
  });

  test('prints a framed notice on a terminal, where the key stands alone in its line', async () => {
    const { code, output } = await sandbox.onTerminal(
      ['keys', 'issue', '--org', 'Example', '--all-scopes', '--name', 'nightly'],
      { columns: 100 },
    );
    expect(code).toBe(0);
    expect(output).toStartWith('╭─');
    expect(output).toContain('shown only once');
    expect(output).toMatch(/│ service_live_[0-9A-Za-z]{49} +│\n/);
    const narrow = await sandbox.onTerminal(['keys', 'issue', '--org', 'Example', '--all-scopes'], {
      columns: 64,
    });
    expect(narrow.output).not.toContain('│');
    expect(narrow.output).toMatch(/^service_live_[0-9A-Za-z]{49}$/m);
    const [, id = ''] = /│ id +(\S+)/.exec(output) ?? [];
    const rotated = await sandbox.onTerminal(['keys', 'rotate', id], { columns: 100 });
    expect(rotated.output).toStartWith('╭─');
    expect(rotated.output).toMatch(
      /key "nightly", shown only once[\s\S]*│ service_live_[0-9A-Za-z]{49} +│\n/,
    );
    expect(rotated.output).toContain(`│ id      ${id} `);
  });

  test('prints the object with -o json', async () => {
    const key = await issued(
      '--scopes',
      'deals:write',
      '--scopes',
      'contacts:read',
      '--expires',
      '2099-01-31',
    );
    expect(key).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(KEY),
      api: 'v2',
      scopes: ['contacts:read', 'deals:write'],
      access: 'organization',
      expires_at: '2099-01-31T00:00:00.000Z',
    });
  });

  test('makes v1 keys with either prefix; all scopes is ALL', async () => {
    expect(await issued('--api', 'v1', '--all-scopes')).toMatchObject({
      key: expect.stringMatching(/^service_api_/),
      scopes: ['ALL'],
    });
    expect(await issued('--api', 'v1', '--scopes', 'people:read', '--prefix', 'service_pk')).toMatchObject({
      key: expect.stringMatching(/^service_pk_/),
      scopes: ['people:read'],
    });
  });

  test('binds a key to a user', async () => {
    const [ada] = ndjson(await sandbox.ok(['users', 'list', '--org', 'Example']));
    const key = await issued('--all-scopes', '--access', 'user', '--user', 'ADA@example.com');
    expect(await storedKey(key.id)).toMatchObject({ access: 'user', user_id: ada?.id });
  });

  test('maps the scopes of a v1 key', async () => {
    const v1 = await issued('--api', 'v1', '--scopes', 'people:write,companies:remove');
    expect((await issued('--from-v1', String(v1.id))).scopes).toEqual([
      'contacts:write',
      'contacts:delete',
      'companies:delete',
    ]);
  });

  test('takes the organization of the v1 key where none is named', async () => {
    const v1 = await issued('--api', 'v1', '--scopes', 'people:read');
    const words = ['keys', 'issue', '--from-v1', String(v1.id), '-o', 'json'];
    const key = JSON.parse(await sandbox.ok(words));
    expect(key.scopes).toEqual(['contacts:read']);
    const listed = ndjson(await sandbox.ok(['keys', 'list', '--org', 'Example']));
    expect(listed.map(({ id }) => id)).toContain(key.id);
    await sandbox.ok(['orgs', 'create', 'Other']);
    const other = await sandbox.crm([...words, '--org', 'Other']);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('Other has no v1 key')]);
  });

  test('says what the options alone show to be wrong, without a database', async () => {
    for (const wrong of [['--scopes', 'nope:read'], ['--all-scopes', '--expires', 'soon'], []]) {
      const words = ['keys', 'issue', '--org', 'Example', '--db', 'none.db', ...wrong];
      expect((await sandbox.crm(words)).code).toBe(2);
    }
  });

  test.each([
    ['90d', 90 * 86_400_000],
    ['600s', 600_000],
  ])('takes a duration for its expiry: %s', async (duration, durationMs) => {
    const before = Date.now();
    const { expires_at } = await issued('--all-scopes', '--expires', duration);
    const lifetime = Date.parse(String(expires_at)) - before;
    expect(lifetime).toBeGreaterThanOrEqual(durationMs);
    expect(lifetime).toBeLessThan(durationMs + 60_000);
  });

  test('needs an organization that exists, a user of it, and a v1 key of it', async () => {
    expect((await sandbox.crm(['keys', 'issue', '--all-scopes'])).code).toBe(2);
    expect((await sandbox.crm(['keys', 'issue', '--all-scopes', '--org', 'Nobody'])).code).toBe(1);
    expect((await issue('--all-scopes', '--access', 'user', '--user', 'b@example.com')).code).toBe(1);
    const v2 = await issued('--all-scopes');
    expect((await issue('--from-v1', String(v2.id))).code).toBe(1);
  });
});

describe('keys issue: usage errors make no key', () => {
  let before = '';
  beforeAll(async () => {
    before = await sandbox.ok(['keys', 'list']);
  });
  afterAll(async () => expect(await sandbox.ok(['keys', 'list'])).toBe(before));

  test.each([
    [[], 'one of --scopes'],
    [['--scopes', 'contacts:read', '--all-scopes'], 'one of --scopes'],
    [['--all-scopes', '--from-v1', 'x'], 'one of --scopes'],
    [['--scopes', 'contacts:read,people:read'], 'companies:read, companies:write'],
    [['--scopes', ''], 'contacts:read'],
    [['--api', 'v1', '--scopes', 'contacts:read'], 'people:read, people:write'],
    [['--all-scopes', '--prefix', 'service_pk'], '--api v1'],
    [
      ['--all-scopes', '--api', 'v1', '--access', 'user', '--user', 'ada@example.com'],
      'access to the whole organization',
    ],
    [['--api', 'v1', '--from-v1', 'x'], 'v2 key'],
    [['--all-scopes', '--access', 'user'], 'must be used together'],
    [['--all-scopes', '--user', 'ada@example.com'], 'must be used together'],
    [['--all-scopes', '--expires', 'soon'], '90d'],
    [['--all-scopes', '--expires', '2099-02-30'], 'not a valid expiry'],
    [['--all-scopes', '--expires', '2001-01-01'], 'is in the past'],
    [['--all-scopes', '--expires', '0'], 'is in the past'],
    [['--all-scopes', '--name', ''], 'name of a key'],
  ])('%p', async (words, reason) => {
    const { code, stdout, stderr } = await issue(...words);
    expect(stderr).toContain(reason);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('keys list, rotate and revoke', () => {
  test('list shows no secret in any format', async () => {
    for (const format of ['json', 'ndjson', 'csv', 'table']) {
      expect(await sandbox.ok(['keys', 'list', '--org', 'Example', '-o', format])).not.toMatch(KEY);
    }
  });

  test('list shows what each key may do, whose records, and until when', async () => {
    const { id } = await issued(
      '--scopes',
      'tasks:read,deals:read',
      '--expires',
      '2099-01-31',
      '--name',
      'wide',
    );
    const { output } = await sandbox.onTerminal(['keys', 'list', '--no-color'], { columns: 240 });
    const [header = '', ...rows] = output.split('\n');
    expect(header).toMatch(/ACCESS +EXPIRES_AT +SCOPES/);
    const row = rows.find((line) => line.startsWith(String(id)));
    expect(row).toMatch(/active +organization +2099-01-31 00:00 +deals:read, tasks:read/);
  });

  test('list names the organization of each key by its id', async () => {
    const { id } = await issued('--all-scopes');
    const orgs = ndjson(await sandbox.ok(['orgs', 'list']));
    const example = orgs.find(({ name }) => name === 'Example');
    expect(await storedKey(id)).toMatchObject({ org_id: example?.id });
  });

  test('the database holds no secret', async () => {
    const store = await openStore(sandbox.database);
    const tables = ['api_keys', 'api_key_secrets'] as const;
    const rows = await Promise.all(tables.map((table) => store.read.selectFrom(table).selectAll().execute()));
    await store.close();
    const dump = JSON.stringify(rows);
    expect(dump).toContain('service_live');
    expect(dump).not.toContain(initKey.slice('service_live_'.length, -6));
  });

  test('rotate prints a new key of the same id', async () => {
    const key = await issued('--all-scopes');
    const rotated = JSON.parse(await sandbox.ok(['keys', 'rotate', String(key.id), '-o', 'json']));
    expect(rotated).toEqual({ ...key, key: expect.stringMatching(KEY) });
    expect(rotated.key).not.toBe(key.key);
    expect(await sandbox.ok(['keys', 'rotate', String(key.id), '--grace', '0'])).toMatch(
      /^service_live_\w+$/,
    );
  });

  test.each(['8d', '1y', '-1h', 'x'])('a grace of %p is a usage error', async (grace) => {
    const key = await issued('--all-scopes');
    const { code, stderr } = await sandbox.crm(['keys', 'rotate', String(key.id), `--grace=${grace}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('up to 7 days');
  });

  test('revoke ends a key, once; it cannot be rotated any more', async () => {
    const { id } = await issued('--all-scopes');
    expect(await sandbox.crm(['keys', 'revoke', String(id)])).toMatchObject({ code: 0, stdout: '' });
    expect(await storedKey(id)).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
    expect((await sandbox.crm(['keys', 'revoke', String(id)])).stderr).toContain('already revoked');
    expect(await sandbox.crm(['keys', 'rotate', String(id)])).toMatchObject({ code: 1, stdout: '' });
  });

  test('revoke disables the webhooks of the key, and says so', async () => {
    const { id, key } = await issued('--all-scopes');
    const server = await sandbox.serve();
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ url: 'https://example.com/', events: ['*'] });
    const made = await fetch(`${server.url}/api/v2/webhooks`, { method: 'POST', headers, body });
    expect(made.status).toBe(201);
    await server.stop();
    const { stderr } = await sandbox.crm(['keys', 'revoke', String(id)]);
    expect(stderr).toContain('Disabled 1 webhook that this key made.');
    const entries = await sandbox.ok(['audit', 'list', '--action', 'webhook.disabled', '-o', 'ndjson']);
    const { data } = (await made.json()) as { data: { id: string } };
    expect(JSON.parse(entries)).toMatchObject({ target_id: data.id, details: { reason: 'key_revoked' } });
  });

  test('a key given instead of an ID is not printed', async () => {
    for (const command of ['rotate', 'revoke']) {
      const { code, stderr } = await sandbox.crm(['keys', command, initKey]);
      expect(code).toBe(1);
      expect(stderr).toContain('not the key itself');
      expect(stderr).not.toContain(initKey);
    }
  });
});

describe('before and long after', () => {
  test('a dry run says what a key would open, and issues none', async () => {
    const before = ndjson(await sandbox.ok(['keys', 'list'])).length;
    const { code, stdout, stderr } = await issue('--scopes', 'deals:read,pipelines:read', '--dry-run');
    expect([code, stderr]).toEqual([0, 'Nothing was issued.\n']);
    expect(ndjson(stdout)).toEqual([
      { resource: 'pipelines', may: 'read', records: 1 },
      { resource: 'deals', may: 'read', records: 0 },
    ]);
    expect(ndjson(await sandbox.ok(['keys', 'list']))).toHaveLength(before);
  });

  test('idle keys are those that work and that nobody has used for so long', async () => {
    const { id } = await issued('--scopes', 'deals:read');
    const gone = await issued('--scopes', 'deals:read');
    await sandbox.ok(['keys', 'revoke', String(gone.id)]);
    const idle = ndjson(await sandbox.ok(['keys', 'list', '--idle', '0'])).map((key) => key.id);
    expect([idle.includes(id), idle.includes(gone.id)]).toEqual([true, false]);
    expect(await sandbox.ok(['keys', 'list', '--idle', '1h'])).toBe('');
    const wrong = await sandbox.crm(['keys', 'list', '--idle', 'long']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('90d')]);
  });
});
