// `crm listen`: what a local receiver gets, which changes, and what is printed of its answers.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { ndjson, Sandbox } from '../support/command.ts';
import { Following } from '../support/following.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

interface Received {
  headers: Record<string, string>;
  body: string;
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** A receiver that answers with these statuses in turn, then with 204. */
function receiver(statuses: number[] = [], port = 0) {
  const received: Received[] = [];
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: async (request) => {
      received.push({ headers: request.headers.toJSON(), body: await request.text() });
      return new Response(null, { status: statuses.shift() ?? 204, headers: { location: '/elsewhere' } });
    },
  });
  return {
    received,
    url: `localhost:${listener.port}/hooks?a=1`,
    [Symbol.dispose]: () => listener.stop(true),
  };
}

const create = async (resource: string, pair: string): Promise<string> =>
  JSON.parse(await sandbox.ok(['create', resource, pair, '-o', 'json'])).id;

const secretOf = (text: string) => /^Signing secret: (whsec_\S+)$/m.exec(text)?.[1] ?? '';

test('a receiver gets what a webhook would get, signed with the secret that is printed', async () => {
  using local = receiver();
  await using listening = await Following.start(sandbox, ['listen', '--forward', local.url]);
  const id = await create('deals', 'name=Engine');
  await sandbox.ok(['update', 'deals', id, 'name=Difference engine']);
  await listening.lines(2);
  const webhook = new Webhook(secretOf(listening.stderr));
  const messages = local.received.map(({ headers, body }) => webhook.verify(body, headers));
  expect(messages).toMatchObject([
    { type: 'deals.created', data: { object: 'change', record_id: id, sequence: 2 } },
    { type: 'deals.updated', data: { before: { name: 'Engine' }, record: { name: 'Difference engine' } } },
  ]);
  const { headers } = local.received[0] ?? { headers: {} as Record<string, string> };
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'crm-webhooks' });
  const printed = ndjson(listening.stdout);
  expect(printed).toMatchObject([
    { type: 'deals.created', record_id: id, sequence: 2, outcome: 'delivered', status: 204 },
    { type: 'deals.updated', record_id: id, sequence: 3, outcome: 'delivered', status: 204 },
  ]);
  expect(printed.map(({ webhook_id }) => String(webhook_id))).toEqual(
    local.received.map((one) => one.headers['webhook-id'] ?? ''),
  );
});

test('each of its answers is told, and the next change follows', async () => {
  using local = receiver([500, 302, 410]);
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  await using listening = await Following.start(sandbox, [
    'listen',
    '--forward',
    local.url,
    '--secret',
    secret,
  ]);
  expect(secretOf(listening.stderr)).toBe(secret);
  for (const name of ['1', '2', '3', '4']) await create('tasks', `name=${name}`);
  await listening.lines(4);
  expect(ndjson(listening.stdout).map(({ outcome, status }) => [outcome, status])).toEqual([
    ['failed', 500],
    ['redirect', 302],
    ['gone', 410],
    ['delivered', 204],
  ]);
  expect(local.received.length).toBe(4);
});

test('a receiver that is not there yet misses nothing', async () => {
  const port = await freePort();
  await using listening = await Following.start(sandbox, ['listen', '--forward', `127.0.0.1:${port}`]);
  const id = await create('tasks', 'name=Early');
  await listening.says('trying again');
  using local = receiver([], port);
  await listening.lines(1);
  expect(ndjson(listening.stdout)).toMatchObject([{ record_id: id, status: 204 }]);
  expect(listening.stderr.match(/trying again/g)?.length).toBe(1);
  expect(local.received.length).toBe(1);
});

test('--events chooses as those of a webhook do', async () => {
  using local = receiver();
  const events = ['--events', 'deals.*,contacts.deleted', '--events', 'tasks.created'];
  await using listening = await Following.start(sandbox, ['listen', '--forward', local.url, ...events]);
  const contact = await create('contacts', 'first_name=Ada');
  await create('companies', 'name=Engines');
  const deal = await create('deals', 'name=Engine');
  const task = await create('tasks', 'name=Call');
  await sandbox.ok(['update', 'tasks', task, 'name=Write']);
  await sandbox.ok(['delete', 'contacts', contact, '--yes']);
  await listening.lines(3);
  expect(ndjson(listening.stdout).map(({ type, record_id }) => [type, record_id])).toEqual([
    ['deals.created', deal],
    ['tasks.created', task],
    ['contacts.deleted', contact],
  ]);
});

test('without --forward it prints the body of each', async () => {
  const listening = await Following.start(sandbox, ['listen']);
  const id = await create('notes', 'title=Hello');
  await listening.lines(1);
  const { code, stdout, stderr } = await listening.stop('SIGINT');
  expect(code).toBe(130);
  expect(ndjson(stdout)).toMatchObject([{ type: 'notes.created', data: { record_id: id } }]);
  expect(stderr).not.toContain('whsec_');
});

test('on a terminal it shows the answer next to the change', async () => {
  using local = receiver([500]);
  const shown = sandbox.onTerminal(['listen', '--forward', local.url, '--no-color'], {
    columns: 160,
    when: 'Second',
    answer: '\u0003',
  });
  // Until it is known to listen.
  while (local.received.length === 0) await create('tasks', 'name=First');
  await create('tasks', 'name=Second');
  const { code, output } = await shown;
  expect(code).toBe(130);
  expect(output).toMatch(/^(?:[\d-]{10} )?\d\d:\d\d:\d\d {2}500 \([^)]+\) +created task First /m);
  expect(output).toMatch(/^(?:[\d-]{10} )?\d\d:\d\d:\d\d {2}204 \([^)]+\) +created task Second /m);
});

test('a receiver that does not answer does not hold up the end', async () => {
  let isReached = false;
  using local = Bun.listen({
    ...{ hostname: '127.0.0.1', port: 0 },
    socket: {
      data: () => {
        isReached = true;
      },
    },
  });
  void local;
  const url = `127.0.0.1:${local.port}`;
  const listening = await Following.start(sandbox, ['listen', '--forward', url]);
  await create('tasks', 'name=Silent');
  await until(() => isReached);
  expect((await listening.stop('SIGTERM')).code).toBe(143);
});

describe('refused before anything is asked:', () => {
  test.each([
    [['--forward', 'not an address'], 'is not an address'],
    [['--forward', 'ftp://localhost/'], 'is not an address'],
    [['--events', 'deal.created'], 'contacts.created'],
    [['--events', 'deals.*,'], '--events ""'],
    [['--forward', 'localhost:3000', '--secret', 'whsec_c2hvcnQ='], '24 to 64 bytes'],
    [['--secret', `whsec_${Buffer.alloc(24).toString('base64')}`], 'Add --forward URL'],
  ])('%p', async (args, words) => {
    const { code, stdout, stderr } = await sandbox.crm(['listen', ...args], {
      env: { CRM_URL: 'http://127.0.0.1:1' },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });
});
