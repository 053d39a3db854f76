// What signals do to `crm serve`: three end it in good order, and one that says that a terminal is gone does too.
import { afterAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { Sandbox } from '../support/command.ts';
import { chunk, dribble, requestHead } from '../support/slow-client.ts';

const sandbox = await Sandbox.withDatabase();
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('serve', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)(
    'drains and ends with 0 on %s; stdout stays empty',
    async (signal) => {
      const server = await sandbox.serve();
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      const { code, stdout, stderr } = await server.stop(signal);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(stderr).toContain(`${server.url}/api/v2`);
      expect(stderr).toContain(`${server.url}/docs`);
    },
  );

  test.each(['SIGTERM', 'SIGQUIT'] as const)(
    'answers a request that is under way at %s, however often that comes',
    async (signal) => {
      await using other = await Sandbox.withDatabase();
      const server = await other.serveOrganization();
      const body = JSON.stringify({ first_name: 'Ada' });
      const head = [
        'POST /api/v2/contacts HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${other.env.CRM_API_KEY}`,
        `Content-Length: ${body.length}`,
      ];
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      const answer = Promise.withResolvers<string>();
      socket.on('data', (data) => answer.resolve(data.toString()));
      socket.on('close', () => answer.resolve('closed'));
      socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
      await Bun.sleep(200);
      process.kill(server.pid, signal);
      await server.says('Shutting down');
      process.kill(server.pid, signal);
      await Bun.sleep(100);
      socket.write(body.slice(5));
      expect(await answer.promise).toStartWith('HTTP/1.1 201');
      expect((await server.stop(signal)).code).toBe(0);
    },
  );

  test('ends with 0 although a client goes on sending, and never ends its request', async () => {
    await using other = await Sandbox.withDatabase();
    const server = await other.serveOrganization();
    const headers = { Authorization: `Bearer ${other.env.CRM_API_KEY}`, 'Transfer-Encoding': 'chunked' };
    // To a batch a client may take minutes, longer than this test.
    const pieces = [requestHead('POST /api/v2/contacts/batch', headers), chunk('[ ')];
    const sent = dribble(server.url, pieces, { gapMs: 500, isEndless: true });
    await Bun.sleep(1_000);
    expect((await server.stop()).code).toBe(0);
    expect((await sent).status).toBe(503);
  }, 300_000);

  test('continues at SIGHUP where there is nothing to read or open again', async () => {
    const server = await sandbox.serve();
    process.kill(server.pid, 'SIGHUP');
    await server.says('no log file or certificate to reload');
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
  });

  test('ends in good order when its terminal is gone', async () => {
    await using other = await Sandbox.withDatabase();
    await other.ok(['init', '--org', 'Example']);
    const { code, output } = await other.onTerminal(['serve', '--port', '0', '--log', 'off'], {
      when: 'Next: crm list',
      hangUp: true,
    });
    expect(output).toContain('Docs ');
    expect(code).toBe(0);
    // Folded into the file, as at any end in good order.
    expect(await other.exists('crm.db-wal')).toBe(false);
  });
});
