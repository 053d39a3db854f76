// `crm webhooks`: creates, changes and deletes webhooks, shows each secret once, and reports the result of a test message.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
beforeAll(async () => {
  await sandbox.serveOrganization();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const crm = (...args: string[]) => sandbox.crm(['webhooks', ...args]);
const ok = (...args: string[]) => sandbox.ok(['webhooks', ...args]);
// A name that never resolves: the server sends for real.
const URL_FIELD = 'url=https://hooks.invalid/crm';
const create = async (...args: string[]) =>
  JSON.parse(await ok('create', URL_FIELD, 'events=contacts.created,deals.*', ...args));
const drop = (id: string) => ok('delete', id, '--yes');

describe('create, get, list, update and delete', () => {
  test('print NDJSON in a pipe; the secret is there once', async () => {
    const { stdout, stderr } = await crm(
      'create',
      URL_FIELD,
      'events=contacts.created, deals.*',
      'description=Mine',
    );
    const { secret, ...webhook } = JSON.parse(stdout);
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toMatchObject({
      events: ['contacts.created', 'deals.*'],
      description: 'Mine',
      is_enabled: true,
    });
    expect(stderr).toContain(`Next: crm webhooks ping ${webhook.id}`);
    expect(stderr).not.toContain('whsec_');
    expect(JSON.parse(await ok('get', webhook.id))).toEqual(webhook);
    expect(ndjson(await ok('list'))).toEqual([webhook]);
    const changed = JSON.parse(await ok('update', webhook.id, 'is_enabled=no', 'description=', 'events=*'));
    expect(changed).toMatchObject({ is_enabled: false, description: null, events: ['*'] });
    const rotated = await crm('rotate', webhook.id);
    expect(JSON.parse(rotated.stdout).secret).not.toBe(secret);
    expect(rotated.stderr).toContain('24 hours');
    expect(await crm('delete', webhook.id)).toMatchObject({ code: 2, stdout: '' });
    expect((await crm('delete', webhook.id, '--yes')).stderr).toBe(`Deleted webhook ${webhook.id}.\n`);
    expect(await crm('get', webhook.id)).toMatchObject({ code: 1, stdout: '' });
  });

  test('take JSON', async () => {
    const body = JSON.stringify({ url: 'https://hooks.invalid/', events: ['*'] });
    const { id } = JSON.parse(await sandbox.ok(['webhooks', 'create', '-d', '-'], { stdin: body }));
    expect(JSON.parse(await ok('update', id, '-d', '{"events": ["notes.*"]}')).events).toEqual(['notes.*']);
    await drop(id);
  });

  test('on a terminal, the secret stands on a line of its own', async () => {
    const { output: shown } = await sandbox.onTerminal(['webhooks', 'create', URL_FIELD, 'events=*'], {
      env: { COLUMNS: '40' },
    });
    expect(shown).toMatch(/\nwhsec_[\w+/]{43}=\r?\n/);
    expect(shown).toContain('shown only once');
    const [{ id = '' } = {}] = ndjson(await ok('list')) as { id?: string }[];
    const table = await ok('list', '-o', 'table');
    expect(table.split('\n')[0]).toMatch(/^ID +URL +EVENTS +IS_ENABLED/);
    await drop(id);
  });

  test('a dry run writes nothing, and shows no secret', async () => {
    const { stdout, stderr } = await crm('create', URL_FIELD, 'events=*', '--dry-run');
    expect(JSON.parse(stdout)).not.toHaveProperty('secret');
    expect(stderr).toContain('nothing was written');
    expect(await ok('list')).toBe('');
  });

  test.each([
    [['create'], 2, 'No values given'],
    [['get', 'x'], 1, 'To list IDs: crm webhooks list'],
    [['create', 'link=x'], 2, 'url, events, description, is_enabled'],
    [['create', URL_FIELD, 'events=contacts.made'], 1, 'contacts.created'],
    [['create', 'url=http://10.0.0.1/', 'events=*'], 1, 'private'],
    [['replay', 'x'], 2, '--since TIME'],
    [['replay', 'x', '--from', '1'], 2, 'both --from N and --to N'],
    [['replay', 'x', '--since', '1h', '--from', '1'], 2, 'cannot be used with'],
    [['replay', 'x', '--since', 'someday'], 2, 'not a valid time'],
    [['ping', '..'], 2, 'is not an ID'],
  ])('%p ends with %d', async (args, code, reason) => {
    const result = await crm(...args);
    expect(result.stderr).toContain(reason);
    expect(result).toMatchObject({ code, stdout: '' });
  });
});

test('replay says what it sends, deliveries what was sent', async () => {
  const { id } = await create();
  await sandbox.ok(['create', 'contacts', 'first_name=Ada']);
  const { stdout, stderr } = await crm('replay', id, '--since', '1h');
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Replaying changes \d+ to \d+ to webhook/);
  expect(JSON.parse(await ok('replay', id, '--from', '1', '--to', '1', '-o', 'json'))).toEqual({
    from: 1,
    to: 1,
  });
  expect(await ok('deliveries', id, '-o', 'table')).toMatch(/^AT +TYPE +SEQUENCE +ATTEMPT +OUTCOME/);
  await drop(id);
});

describe('ping', () => {
  const PING = '019b76da-a800-7000-8000-000000000005';
  const delivery = { id: PING, sequence: null, type: 'ping', attempt: 1, at: '2026-01-01T00:00:00.000Z' };
  const waiting = { ...delivery, ms: null, status: null, outcome: 'pending', next_attempt_at: null };
  const meta = { request_id: 'req_x', api_version: '2', timestamp: delivery.at };

  test('reaches a receiver in a network that the operator allows', async () => {
    const server = await sandbox.serve(['--db', 'ping.db', '--webhooks-allow', '127.0.0.0/8']);
    const env = { CRM_DB: 'ping.db', CRM_URL: server.url };
    const key = await sandbox.ok(['init', '--org', 'Ping'], { env });
    let status = 204;
    using receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(null, { status }),
    });
    const here = { env: { ...env, CRM_API_KEY: key } };
    const words = ['webhooks', 'create', `url=${receiver.url}`, 'events=*'];
    const { id } = JSON.parse(await sandbox.ok(words, here));
    const first = await sandbox.crm(['webhooks', 'ping', id], here);
    expect(first.stderr).toMatch(/^Delivered: the receiver responded with 204 in \d+ ms\.\n$/);
    expect(first.code).toBe(0);
    status = 500;
    const second = await sandbox.crm(['webhooks', 'ping', id], here);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('responded with 500')]);
    const outcomes = ndjson(await sandbox.ok(['webhooks', 'deliveries', id], here)).map((one) => one.outcome);
    expect(outcomes).toEqual(['failed', 'delivered']);
    await server.stop();
  });

  // A server whose receiver does what is wanted, after a moment.
  const pinged = async (result: object, ...args: string[]) => {
    let looks = 0;
    using server = Bun.serve({
      port: 0,
      fetch: (request) => {
        if (request.method === 'POST') return Response.json({ object: 'success', data: waiting, meta });
        looks += 1;
        const data = [
          { ...waiting, id: `${PING.slice(0, -1)}6` },
          looks < 2 ? waiting : { ...waiting, ...result },
        ];
        const page_info = { has_next_page: false, end_cursor: 'x' };
        return Response.json({ object: 'list', data, page_info, meta });
      },
    });
    return await sandbox.crm(['webhooks', 'ping', 'some-id', ...args], {
      env: { CRM_URL: server.url.origin },
    });
  };

  test('that is delivered says so', async () => {
    const { code, stdout, stderr } = await pinged({ outcome: 'delivered', status: 204, ms: 12 });
    expect([code, stderr]).toEqual([0, 'Delivered: the receiver responded with 204 in 12 ms.\n']);
    expect(JSON.parse(stdout)).toMatchObject({ id: PING, outcome: 'delivered' });
    expect((await pinged({ outcome: 'delivered', status: 200, ms: 1 }, '-o', 'table')).stdout).toBe('');
  });

  test.each([
    ['failed', 500, 'responded with 500'],
    ['gone', 410, 'a 410 to a change disables the webhook'],
    ['redirect', 302, 'redirect (302)'],
    ['timeout', null, 'within 15 s'],
    ['tls', null, 'TLS certificate'],
    ['blocked', null, '--webhooks-allow'],
    ['unreachable', null, 'could not be reached'],
  ])('that is %s ends with 1', async (outcome, status, reason) => {
    const { code, stderr } = await pinged({ outcome, status, ms: 3 });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('Next: ');
    expect(code).toBe(1);
  });
});
