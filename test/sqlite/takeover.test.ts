// `crm serve --takeover`: one server gives port and file to the next, and no client notices.
import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { openSync } from 'node:fs';
import { QueueingListener } from '../../server/lifecycle/request-queue.ts';
import { UpgradeLoad } from '../soak/upgrade-load.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { COMMAND, Sandbox } from '../support/command.ts';
import { describe, test } from '../support/on-sqlite.ts';
import { freePort } from '../support/ports.ts';
import { ManagerSocket } from '../support/service-manager.ts';
import { until } from '../support/until.ts';
import { UpgradedServer } from '../support/upgrades.ts';

const LONG = 300_000;
const TLS = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
const canTakeOver = process.platform === 'linux';

describe.skipIf(!canTakeOver)('a server takes over', () => {
  test.each([
    ['twice', [], 2],
    ...(hasOpenssl ? [['with certificates and threads', [...TLS, '--readers', '2'], 1] as const] : []),
  ] as const)(
    '%s, and no request fails',
    async (_, args, count) => {
      using sandbox = new Sandbox();
      makeCertificate(sandbox.folder, 'crm');
      const key = await sandbox.ok(['init', '--org', 'Example']);
      const server = await UpgradedServer.start(COMMAND, sandbox.folder, args);
      const load = new UpgradeLoad(server.url, key);
      for (let number = 0; number < count; number++) {
        await Bun.sleep(500);
        const said = await server.upgrade(COMMAND);
        expect(said).toMatch(
          /^Asking process \d+ to shut down; new requests wait\.\nThe old process released the database after /,
        );
      }
      await Bun.sleep(500);
      const ledger = await load.end(server.db);
      await server.stop();
      expect(ledger).toMatchObject({ failures: [], lost: 0, doubled: 0, unasked: 0 });
      expect(ledger.acknowledged).toBeGreaterThan(100);
    },
    LONG,
  );

  test(
    'just starts where nobody serves, and answers nobody else’s port',
    async () => {
      using sandbox = new Sandbox();
      const port = String(await freePort());
      const server = await sandbox.serve(['--takeover', '--port', port]);
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      const other = await sandbox.crm(['serve', '--db', 'other.db', '--takeover', '--port', port]);
      expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('is already in use')]);
      expect((await server.stop()).code).toBe(0);
    },
    LONG,
  );

  test(
    'in the background, as a service manager has it, which hears who serves before the former one ends',
    async () => {
      using sandbox = new Sandbox();
      using manager = new ManagerSocket(sandbox.folder);
      sandbox.env.NOTIFY_SOCKET = manager.path;
      await sandbox.ok(['init', '--org', 'Example']);
      const port = String(await freePort());
      const former = await sandbox.serve(['--port', port]);
      expect(await manager.next()).toBe(`READY=1\nMAINPID=${former.pid}`);
      const flags = ['serve', '--takeover', '--background', '--port', port, '--log', 'off'];
      // It has the stream of the command for its own.
      const said = openSync(sandbox.path('said'), 'w');
      expect(await sandbox.spawn([...flags, '--drain-seconds', '0'], said).exited).toBe(0);
      expect(await sandbox.read('said')).toContain('The old process released the database');
      const pid = Number(/^MAINPID=(\d+)$/.exec(await manager.next())?.[1]);
      expect(await manager.next()).toBe(`READY=1\nMAINPID=${pid}`);
      expect((await fetch(`${former.url}/readyz`)).status).toBe(200);
      expect(await sandbox.crm([...flags, '--readers', '0', '--db', 'none/crm.db'])).toMatchObject({
        code: 1,
      });
      expect((await former.stop('SIGCONT')).code).toBe(0);
      const isHealthy = async () => {
        const { code, stdout } = await sandbox.crm(['health', '--url', former.url]);
        return code === 0 && stdout === '';
      };
      await until(isHealthy);
      process.kill(pid, 'SIGTERM');
      while ((await fetch(former.url).catch(() => null)) !== null) await Bun.sleep(20);
      expect((await sandbox.crm(['health', '--url', former.url])).code).toBe(1);
    },
    LONG,
  );

  test(
    'not where it cannot, and the former one goes on',
    async () => {
      using sandbox = new Sandbox();
      await sandbox.ok(['init', '--org', 'Example']);
      const port = String(await freePort());
      const server = await sandbox.serve(['--port', port, '--readers', '2']);
      const refused = async (...args: string[]) => {
        const { code, stderr } = await sandbox.crm(['serve', '--takeover', ...args]);
        expect(code).not.toBe(0);
        expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
        return stderr;
      };
      expect(await refused('--port', String(await freePort()))).toContain(
        'Use the same --host and --port as the running server.',
      );
      expect(await refused('--port', port)).toContain('Use --readers 2 or more.');
      expect(
        await refused('--port', port, '--readers', '2', '--tls-cert', 'no', '--tls-key', 'no'),
      ).toContain('not found');
      const other = await sandbox.serve(['--db', 'other.db', '--metrics-port', '0']);
      const taken = new URL(other.metricsUrl ?? '').port;
      expect(await refused('--port', port, '--readers', '2', '--metrics-port', taken)).toContain(
        `another program already listens at 127.0.0.1:${taken}`,
      );
      await other.stop();
      expect(await refused('--db', 'postgres://crm@127.0.0.1/crm')).toContain(
        '--takeover works with a database file only.',
      );
      using file = new Database(sandbox.database);
      file.run("INSERT INTO kysely_migration VALUES ('9999-newer', '2030-01-01T00:00:00.000Z')");
      file.close();
      expect(await refused('--port', port, '--readers', '2')).toContain('newer crm');
      await server.stop();
    },
    LONG,
  );
});

describe('requests wait', () => {
  const open = () => {
    const room = new QueueingListener(
      { host: '127.0.0.1', port: 0, isPortShared: false },
      'http://crm.example',
    );
    return { room, url: `http://127.0.0.1:${room.listener.port}` };
  };

  test('with their bodies, until they are answered; those who have gone are not', async () => {
    const { room, url } = open();
    const answered: string[] = [];
    const send = (name: string, signal?: AbortSignal) =>
      fetch(url, { method: 'POST', body: name, ...(signal && { signal }) }).catch(() => null);
    const waiting = ['one', 'two'].map((name) => send(name));
    const leaving = new AbortController();
    const gone = send('gone', leaving.signal);
    await until(() => room.listener.pending === 3);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    leaving.abort();
    await gone;
    await until(() => room.listener.pending === 2);
    room.open(async (request) => {
      const text = await request.text();
      answered.push(text);
      return new Response(text);
    });
    const answers = await Promise.all(waiting);
    expect(await Promise.all(answers.map((answer) => answer?.text()))).toEqual(['one', 'two']);
    await send('three');
    expect(answered.toSorted()).toEqual(['one', 'three', 'two']);
    await room.close();
  });

  test('and are sent away with 503 and the usual envelope where nobody will answer', async () => {
    const { room, url } = open();
    const waiting = fetch(`${url}/api/v1/people`);
    await until(() => room.listener.pending === 1);
    await room.close();
    const answer = await waiting;
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({
      object: 'error',
      error: { code: 'INTERNAL_ERROR', details: null },
      meta: { api_version: '1', request_id: answer.headers.get('X-Request-Id') },
    });
  });
});
