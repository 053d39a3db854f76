// Rules of keys beside their scopes: from where they may be used, and how long they last, each by itself or by its organization.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';

const DAY_MS = 86_400_000;
// Some tests start ten processes.
const LONG = 300_000;
const sandbox = await Sandbox.withDatabase();
let server: RunningServer;
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme']);
  server = await sandbox.serve(['--behind-proxy']);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const issue = (...words: string[]) =>
  sandbox.crm(['keys', 'issue', '--org', 'Acme', '--all-scopes', ...words]);

async function issued(...words: string[]) {
  const { stdout, stderr } = await issue(...words, '-o', 'json');
  return {
    ...(JSON.parse(stdout) as { id: string; key: string; allow_ip?: string[]; expires_at: string | null }),
    stderr,
  };
}

/** What the server answers to a key that a proxy has seen at an address. */
async function statusFrom(address: string, key: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, 'X-Forwarded-For': address };
  return (await fetch(`${server.url}/api/v2/contacts`, { headers })).status;
}

describe('--allow-ip', () => {
  test.each([
    [['--allow-ip', '10.0.0.0/8'], ['10.0.0.0/8']],
    [
      ['--allow-ip', '10.0.0.0/8, 192.0.2.1,10.0.0.0/8'],
      ['10.0.0.0/8', '192.0.2.1'],
    ],
    [
      ['--allow-ip', '192.0.2.1/32', '--allow-ip', '2001:DB8:0::/32'],
      ['192.0.2.1', '2001:db8::/32'],
    ],
    [['--allow-ip', '::ffff:172.16.0.0/108'], ['172.16.0.0/12']],
  ])('%p is kept as it is best written', async (words, networks) => {
    expect((await issued(...words)).allow_ip).toEqual(networks);
  });

  test.each([
    [['--allow-ip', 'office'], 'a network like 203.0.113.0/24'],
    [['--allow-ip', ''], 'a network like'],
    [['--allow-ip', '10.0.0.0/33'], 'a network like'],
    [['--allow-ip', '10.0.0.0/8,'], 'a network like'],
    [['--allow-ip', 'fe80::1%eth0'], 'a network like'],
    [['--allow-ip', '10.1.2.3/8'], '10.0.0.0/8 for the network, or 10.1.2.3 for the single client IP'],
    [['--allow-ip', '2001:db8::1/64'], '2001:db8::/64 for the network, or 2001:db8::1'],
    [['--allow-ip', Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`).join(',')], 'at most 100'],
  ])('%p is used wrongly, and no key is made', async (words, reason) => {
    const before = await sandbox.ok(['keys', 'list']);
    const { code, stdout, stderr } = await issue(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(await sandbox.ok(['keys', 'list'])).toBe(before);
  });

  test('holds behind a proxy, and what keys update says holds from the next request on', async () => {
    const { id, key } = await issued('--allow-ip', '10.0.0.0/8');
    expect([await statusFrom('10.1.2.3', key), await statusFrom('192.0.2.1', key)]).toEqual([200, 403]);
    // The one that the proxy saw comes last; whatever stands before came from the client.
    expect(await statusFrom('10.1.2.3, 192.0.2.1', key)).toBe(403);
    const update = (...words: string[]) => sandbox.ok(['keys', 'update', id, ...words]);
    await update('--allow-ip', '192.0.2.0/24', '--allow-ip', '2001:db8::/32');
    expect([await statusFrom('10.1.2.3', key), await statusFrom('192.0.2.1', key)]).toEqual([403, 200]);
    expect(await statusFrom('2001:db8::5', key)).toBe(200);
    const { key: rotated } = JSON.parse(await sandbox.ok(['keys', 'rotate', id, '-o', 'json']));
    expect([await statusFrom('10.1.2.3', rotated), await statusFrom('192.0.2.1', rotated)]).toEqual([
      403, 200,
    ]);
    await update('--allow-any');
    expect(await statusFrom('10.1.2.3', rotated)).toBe(200);
    for (const wrong of [[], ['--allow-any', '--allow-ip', '10.0.0.0/8'], ['--allow-ip', 'x']])
      expect((await sandbox.crm(['keys', 'update', id, ...wrong])).code).toBe(2);
    await sandbox.ok(['keys', 'revoke', id]);
    const gone = await sandbox.crm(['keys', 'update', id, '--allow-any']);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('is revoked')]);
  });

  test('refused elsewhere, a command says from where and what to do; doctor too', async () => {
    const { key } = await issued('--allow-ip', '10.0.0.0/8');
    const env = { CRM_URL: server.url, CRM_API_KEY: key };
    const { code, stderr } = await sandbox.crm(['list', 'contacts'], { env });
    expect([code, stderr]).toEqual([4, expect.stringContaining('127.0.0.1')]);
    expect(stderr).toContain('crm keys update ID --allow-ip');
    const findings = ndjson((await sandbox.crm(['doctor', '-o', 'ndjson'], { env })).stdout);
    expect(JSON.stringify(findings)).toContain('it is not allowed from this client IP');
  });

  test('keys list shows them once a key has some; a key without them is issued as ever', async () => {
    const free = await issued();
    expect(Object.keys(free)).not.toContain('allow_ip');
    const { id } = await issued('--allow-ip', '10.0.0.0/8,192.0.2.1');
    const listed = ndjson(await sandbox.ok(['keys', 'list']));
    expect(listed.find((key) => key.id === id)?.allow_ip).toEqual(['10.0.0.0/8', '192.0.2.1']);
    expect(listed.find((key) => key.id === free.id)?.allow_ip).toBeNull();
    const table = await sandbox.ok(['keys', 'list', '-o', 'table']);
    expect(table).toContain('10.0.0.0/8, 192.0.2.1');
    await sandbox.ok(['orgs', 'create', 'Others']);
    await sandbox.ok(['keys', 'issue', '--org', 'Others', '--all-scopes']);
    const others = await sandbox.ok(['keys', 'list', '--org', 'Others', '-o', 'table']);
    expect([others.includes('ALLOW_IP'), others.includes('SCOPES')]).toEqual([false, true]);
  });
});

test('a dry run of a v1 key calls people what version 1 calls them', async () => {
  const { stdout } = await issue('--api', 'v1', '--dry-run');
  expect(ndjson(stdout).map(({ resource }) => resource)).toEqual(['companies', 'people', 'interactions']);
});

test('the audit log tells of networks and expiry that were changed', async () => {
  const { id } = await issued();
  await sandbox.ok(['keys', 'update', id, '--allow-ip', '10.0.0.0/8,192.0.2.1']);
  await sandbox.ok(['orgs', 'create', 'Audited']);
  await sandbox.ok(['orgs', 'update', 'Audited', '--key-expiry', '7d']);
  const entriesOf = async (action: string) => ndjson(await sandbox.ok(['audit', 'list', '--action', action]));
  expect((await entriesOf('key.changed'))[0]).toMatchObject({
    target_id: id,
    details: { networks: ['10.0.0.0/8', '192.0.2.1'] },
  });
  expect((await entriesOf('organization.changed'))[0]?.details).toEqual({ key_expiry: '7d' });
});

describe('--requests-per-minute', () => {
  test.each([
    [['keys', 'update', 'ID', '--requests-per-minute', '0']],
    [['keys', 'update', 'ID', '--name', '']],
    [['orgs', 'update', 'Acme', '--requests-per-minute', 'many']],
  ])('%p is used wrongly', async (words) => {
    expect((await sandbox.crm(words)).code).toBe(2);
  });

  const limitOf = async (key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${server.url}/api/v2/authenticate`, { headers });
    await response.body?.cancel();
    return Number(response.headers.get('X-RateLimit-Limit'));
  };

  test(
    'of a key says if its organization may send less, is listed, audited, copied and taken back',
    async () => {
      const { id, key, stderr } = await issued('--requests-per-minute', '60000');
      expect(stderr).toContain('All keys of Acme together can send fewer');
      expect(stderr).toContain('Next: crm orgs update Acme --requests-per-minute 60000');
      expect(await limitOf(key)).toBe(60_000);
      const update = (...words: string[]) => sandbox.crm(['keys', 'update', id, ...words]);
      const lower = await update('--requests-per-minute', '500', '--name', 'Nightly');
      expect([lower.code, lower.stderr]).toEqual([
        0,
        `Key ${id} can send 500 requests per minute, effective with the next request.\nRenamed key ${id} to Nightly.\n`,
      ]);
      expect(await limitOf(key)).toBe(500);
      const listed = ndjson(await sandbox.ok(['keys', 'list']));
      expect(listed.find((one) => one.id === id)).toMatchObject({
        name: 'Nightly',
        requests_per_minute: 500,
      });
      expect(listed.find((one) => one.id !== id)?.requests_per_minute).toBeNull();
      const [changed] = ndjson(await sandbox.ok(['audit', 'list', '--action', 'key.changed']));
      expect(changed?.details).toEqual({ is_renamed: true, requests_per_minute: 500 });
      const [made] = ndjson(await sandbox.ok(['audit', 'list', '--action', 'key.issued']));
      expect(made?.details).toMatchObject({ requests_per_minute: 60_000 });
      await update('--requests-per-minute', 'default');
      expect(await limitOf(key)).toBe(100_000);
      const v1 = await issued('--api', 'v1', '--requests-per-minute', '7');
      const copy = await sandbox.crm(['keys', 'issue', '--from-v1', v1.id, '-o', 'json']);
      expect(JSON.parse(copy.stdout).requests_per_minute).toBe(7);
      expect(copy.stderr).toContain('Like the v1 key, this key can send 7 requests per minute.');
    },
    LONG,
  );

  test(
    'of an organization holds for all its keys, is shown, and taken back',
    async () => {
      await sandbox.ok(['orgs', 'create', 'Busy']);
      const key = await sandbox.ok(['keys', 'issue', '--org', 'Busy', '--all-scopes']);
      const update = (limit: string) =>
        sandbox.crm(['orgs', 'update', 'Busy', '--requests-per-minute', limit]);
      const { stdout, stderr } = await update('5000');
      expect(ndjson(stdout)[0]).toMatchObject({ name: 'Busy', requests_per_minute: 5_000 });
      expect(stderr).toBe(
        'All keys together can send 5,000 requests per minute, effective with the next request.\n',
      );
      expect(await limitOf(key)).toBe(5_000);
      const shown = ndjson(await sandbox.ok(['orgs', 'list'])).find(({ name }) => name === 'Busy');
      expect(shown?.requests_per_minute).toBe(5_000);
      const [changed] = ndjson(await sandbox.ok(['audit', 'list', '--action', 'organization.changed']));
      expect(changed?.details).toEqual({ requests_per_minute: 5_000 });
      await update('default');
      expect(await limitOf(key)).toBe(100_000);
    },
    LONG,
  );

  test(
    'an organization is renamed, not to the name of another',
    async () => {
      await sandbox.ok(['orgs', 'create', 'Before']);
      const renamed = await sandbox.ok(['orgs', 'rename', 'before', 'After']);
      expect(ndjson(renamed)[0]).toMatchObject({ name: 'After' });
      const taken = await sandbox.crm(['orgs', 'rename', 'After', 'ACME']);
      expect([taken.code, taken.stderr]).toEqual([
        1,
        expect.stringContaining('An organization named Acme already exists.'),
      ]);
      // Its own name in other letters is no conflict; without ORG, there must be only one.
      await sandbox.ok(['orgs', 'rename', 'After', 'AFTER']);
      expect((await sandbox.crm(['orgs', 'rename', 'Alone'])).code).toBe(2);
      expect((await sandbox.crm(['orgs', 'rename', 'After', ' '])).code).toBe(2);
    },
    LONG,
  );
});

describe('--key-expiry', () => {
  const soonest = (days: number) => Date.now() + days * DAY_MS - 60_000;

  test('is what keys of the organization get unless said, and the output says so', async () => {
    const org = JSON.parse(
      await sandbox.ok(['orgs', 'create', 'Passing', '--key-expiry', '90d', '-o', 'json']),
    );
    expect(org.key_expiry).toBe('90d');
    const words = ['keys', 'issue', '--org', 'Passing', '--scopes', 'deals:read'];
    const given = await sandbox.crm([...words, '-o', 'json']);
    const { expires_at } = JSON.parse(given.stdout);
    expect(Date.parse(expires_at)).toBeWithin(soonest(90), soonest(90) + 120_000);
    expect(given.stderr).toContain(`Keys of Passing last 90d by default`);
    expect(given.stderr).toContain(expires_at);
    const never = await sandbox.crm([...words, '--expires', 'never', '-o', 'json']);
    expect([JSON.parse(never.stdout).expires_at, never.stderr]).toEqual([
      null,
      'The key never expires, although keys of Passing last 90d by default.\n',
    ]);
    const said = await sandbox.crm([...words, '--expires', '2d', '-o', 'json']);
    expect([Date.parse(JSON.parse(said.stdout).expires_at) < soonest(3), said.stderr]).toEqual([true, '']);
    const dry = await sandbox.crm([...words, '--dry-run', '--allow-ip', '10.0.0.0/8']);
    expect(dry.stderr).toMatch(/The key would expire on 20.*\nThe key could be used from 10\.0\.0\.0\/8\.\n/);
    const first = await sandbox.crm(['init', '--org', 'Passing']);
    expect(first.code).toBe(0);
  });

  test('changes for keys to come, and is shown by orgs list once one has it', async () => {
    const before = await issued();
    const updated = await sandbox.crm(['orgs', 'update', 'acme', '--key-expiry', '36h', '-o', 'json']);
    expect(JSON.parse(updated.stdout)).toMatchObject({ name: 'Acme', key_expiry: '36h' });
    const after = await issued();
    expect([before.expires_at, typeof after.expires_at]).toEqual([null, 'string']);
    const expiryOf = async () =>
      ndjson(await sandbox.ok(['orgs', 'list'])).find(({ name }) => name === 'Acme')?.key_expiry;
    expect(await expiryOf()).toBe('36h');
    await sandbox.ok(['orgs', 'update', 'Acme', '--key-expiry', 'none']);
    expect([await expiryOf(), (await issued()).expires_at]).toEqual([null, null]);
    for (const wrong of [[], ['--key-expiry', '0'], ['--key-expiry', 'soon']])
      expect((await sandbox.crm(['orgs', 'update', 'Acme', ...wrong])).code).toBe(2);
    expect((await sandbox.crm(['orgs', 'update', 'Nobody', '--key-expiry', '1d'])).code).toBe(1);
  });

  test('a key that follows a v1 key has its networks and its end, unless said', async () => {
    const v1 = await issued('--api', 'v1', '--allow-ip', '10.0.0.0/8', '--expires', '5d');
    const next = (...words: string[]) =>
      sandbox.crm(['keys', 'issue', '--from-v1', v1.id, '-o', 'json', ...words]);
    const same = await next();
    expect(JSON.parse(same.stdout)).toMatchObject({ allow_ip: ['10.0.0.0/8'], expires_at: v1.expires_at });
    expect(same.stderr).toContain('expires with the v1 key');
    expect(same.stderr).toContain('Like the v1 key, this key can be used from 10.0.0.0/8');
    const other = await next('--expires', 'never', '--allow-ip', '192.0.2.1');
    expect(JSON.parse(other.stdout)).toMatchObject({ allow_ip: ['192.0.2.1'], expires_at: null });
  });
});
