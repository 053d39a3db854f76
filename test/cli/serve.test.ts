// `crm serve`: where it listens, what it refuses, what it prints.
import { afterAll, describe, expect, test } from 'bun:test';
import { Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { freePort } from '../support/ports.ts';

const sandbox = await Sandbox.withDatabase();
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('serve', () => {
  test('tells what to type next: init on an empty database, list on another', async () => {
    await using other = await Sandbox.withDatabase();
    const first = await other.serve();
    expect((await first.stop()).stderr).toContain('Next: crm init --org');
    await other.ok(['init', '--org', 'Example']);
    const second = await other.serve();
    expect((await second.stop()).stderr).toContain('Next: crm list contacts');
  });

  test('keys work while it runs, from the next request on', async () => {
    await using other = await Sandbox.withDatabase();
    const server = await other.serveOrganization();
    expect((await other.crm(['list', 'contacts'])).code).toBe(0);
    const { id } = JSON.parse((await other.ok(['keys', 'list'])).split('\n')[0] ?? '');
    await other.ok(['keys', 'revoke', id]);
    const refused = await other.crm(['list', 'contacts']);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(/Request ID: req_\S+\nNext: /);
    await server.stop();
  });

  // Both find the port free, and a port that can be taken over could be shared.
  test('of two that start at the same time on a port, no more than one serves', async () => {
    await using other = await Sandbox.withDatabase();
    for (let times = 0; times < 3; times++) {
      const port = String(await freePort());
      const runs = [sandbox, other].map((one) => one.start(['serve', '--port', port]));
      const first = await Promise.race(runs.map(({ result }) => result));
      expect(first.code).toBe(1);
      expect(first.stderr).toContain(`127.0.0.1:${port} is already in use.`);
      for (const run of runs) run.kill('SIGTERM');
      await Promise.all(runs.map(({ result }) => result));
    }
  });

  test.each(['0.0.0.0', '::', '192.0.2.1', 'crm.example.com'])(
    'refuses to listen on %s in clear',
    async (host) => {
      const { code, stdout, stderr } = await sandbox.crm(['serve', '--host', host]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('--tls-cert');
      expect(stderr).toContain('--behind-proxy');
    },
  );

  test('listens on every address behind a proxy', async () => {
    const server = await sandbox.serve(['--host', '0.0.0.0', '--behind-proxy']);
    expect((await fetch(`http://127.0.0.1:${new URL(server.url).port}/healthz`)).status).toBe(200);
    expect((await server.stop()).stderr).toContain('For a proxy elsewhere, add --trusted-proxy');
  });

  test('behind a proxy says and links the URL that clients use', async () => {
    const url = 'https://crm.example.com/records';
    const server = await sandbox.serve(['--behind-proxy', '--base-url', url]);
    const described = await (await fetch(`${server.url}/docs/json`)).json();
    expect(described).toMatchObject({ servers: [{ url }] });
    const { stderr } = await server.stop();
    expect(stderr).toContain(`\nAPI   ${url}/api/v2 `);
    expect(stderr).toContain(`\nDocs  ${url}/docs`);
  });

  test.each([
    ['of this machine, unless told otherwise', [], 401],
    ['of a network that is named', ['--trusted-proxy', '10.0.0.0/8', '--trusted-proxy', '127.0.0.1'], 401],
    ['of nobody else', ['--trusted-proxy', '10.0.0.0/8'], 429],
  ])('behind a proxy counts wrong keys by the word %s', async (_, words, last) => {
    const server = await sandbox.serve(['--behind-proxy', ...words]);
    const guess = async (from: string) => {
      const headers = { 'X-Service-Api-Key': 'x', 'X-Forwarded-For': from };
      return (await fetch(`${server.url}/api/v2/contacts`, { headers })).status;
    };
    const statuses: number[] = [];
    // Over twice a minute's worth: wherever the minute turns, one part holds more than the limit.
    for (let count = 0; count < 130; count++) statuses.push(await guess(`198.51.100.${count}`));
    expect(statuses.includes(429) ? 429 : 401).toBe(last);
    await server.stop();
  });

  test.each([
    [['--tls-cert', 'a.pem'], 'must be used together'],
    [['--tls-cert', 'a.pem', '--tls-key', 'b.pem'], 'File not found: a.pem'],
    [['--tls-cert', 'a.pem', '--tls-key', 'b.pem', '--behind-proxy'], 'cannot be used with'],
    [['--trusted-proxy', '10.0.0.0/8'], 'requires --behind-proxy'],
    [['--behind-proxy', '--trusted-proxy', '10.0.0.0/33'], '"10.0.0.0/33" is not a valid network'],
    [['--webhooks-allow', '10.0.0.0/33'], '--webhooks-allow "10.0.0.0/33" is not a valid network'],
    [['--base-url', 'crm.example.com'], 'not a valid URL'],
    [['--port', '70000'], '0 to 65535'],
    [['--key-limit', '0'], 'whole number'],
    [['--log', 'loud'], 'json, pretty, off'],
    [['--readers', '65'], 'from 0 to 64'],
    [['--readers', 'two'], 'from 0 to 64'],
    [['--readers', '2', '--db', 'postgres://crm@127.0.0.1/crm'], 'with a database file only'],
  ])('%p is a usage error', async (words, reason) => {
    const { code, stderr } = await sandbox.crm(['serve', ...words]);
    expect(stderr).toContain(reason);
    expect(code).toBe(2);
  });

  test.each(
    isPostgres
      ? [[[], []]]
      : [
          [[], []],
          [[], ['--readers', '2']],
          [['--readers', '2'], []],
          [
            ['--readers', '1'],
            ['--readers', '2'],
          ],
        ],
  )('an address in use is a clear error, served by %p and wanted by %p', async (first, second) => {
    const server = await sandbox.serve(first);
    const sameAddress = ['serve', '--db', 'other.db', '--port', new URL(server.url).port, ...second];
    const taken = await sandbox.crm(sameAddress);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain('is already in use');
    expect(await sandbox.exists('other.db')).toBe(false);
    // The same command, with another port and everything else that was said.
    const [, words = '', suggested] =
      /another: crm (serve --db other\.db) --port (\d+)/.exec(taken.stderr) ?? [];
    expect(words).not.toBe('');
    expect(taken.stderr).toContain(`${['--port', suggested, ...second].join(' ')}\n`);
    expect(suggested).not.toBe(new URL(server.url).port);
    await server.stop();
  });

  // One on PostgreSQL may be served by several.
  test.skipIf(isPostgres)('a file that is served already is a clear error', async () => {
    const server = await sandbox.serve();
    const served = await sandbox.crm(['serve', '--port', '0']);
    expect(served.code).toBe(1);
    expect(served.stderr).toContain(String(server.pid));
    await server.stop();
  });
});
