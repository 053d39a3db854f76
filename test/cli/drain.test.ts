// Between SIGTERM and the end: a server under load loses no request, and tells its clients that it is stopping.
import { describe, expect, test } from 'bun:test';
import { Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { isLast, Kept, type Outcome, statusOf } from '../support/kept-connections.ts';
import { roundThat } from '../support/rounds.ts';

const CONNECTIONS = 16;

const LONG = 300_000;

test.each(isPostgres ? [[]] : [[], ['--readers', '2']])(
  'answers whatever comes on kept connections, each for the last time, and is not ready %p %p',
  async (...readers) => {
    await using sandbox = await Sandbox.withDatabase();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    // As long as it can, for a busy machine: the second signal ends it.
    const draining = await sandbox.serve(readers, ['--drain-seconds', '8']);
    const port = Number(new URL(draining.url).port);
    const create = `POST /api/v2/contacts HTTP/1.1\r\nHost: crm\r\nAuthorization: Bearer ${key}`;
    const outcomes: Outcome[] = [];
    const client = async (name: string) => {
      for (let index = 0; ; ) {
        const kept = await Kept.open(port);
        if (kept === null) return;
        for (let outcome = ''; !isLast(outcome) && outcome !== 'lost'; index += 1) {
          outcome = await kept.send(create, JSON.stringify({ first_name: `${name}-${index}` }));
          outcomes.push(outcome);
          // A proxy sends no more to one that has said so.
          if (isLast(outcome)) return;
          await Bun.sleep(Math.random() * 2);
        }
      }
    };
    const [idle, unused] = [await Kept.open(port), await Kept.open(port)];
    expect(statusOf((await idle?.send('GET /readyz HTTP/1.1\r\nHost: crm')) ?? '')).toBe(200);
    const clients = Array.from({ length: CONNECTIONS }, (_, index) => client(`client-${index}`));
    await Bun.sleep(300);
    process.kill(draining.pid, 'SIGTERM');
    await draining.says('Shutting down');
    // Each thread has heard of it by then.
    for (let count = 0; count < 10; ) {
      const asking = await Kept.open(port);
      if (asking === null) throw new Error('the server stopped before all of its threads had heard of it');
      count = statusOf(await asking.send('GET /readyz HTTP/1.0')) === 503 ? count + 1 : 0;
    }
    for (const kept of [idle, unused]) {
      const outcome = (await kept?.send(create, JSON.stringify({ first_name: 'kept' }))) ?? '';
      expect([statusOf(outcome), isLast(outcome)]).toEqual([201, true]);
    }
    // As HAProxy asks.
    for (const [path, status] of [
      ['readyz', 503],
      ['healthz', 200],
    ] as const)
      expect(statusOf((await (await Kept.open(port))?.send(`GET /${path} HTTP/1.0`)) ?? '')).toBe(status);
    await Promise.all(clients);
    expect(outcomes.filter((outcome) => statusOf(outcome) !== 201)).toEqual([]);
    expect(outcomes.filter(isLast)).toHaveLength(CONNECTIONS);
    expect((await draining.stop('SIGTERM')).code).toBe(0);
  },
  LONG,
);

describe('goes on', () => {
  /** Seconds from SIGTERM to the end of a server, at which something is done meanwhile. */
  const secondsToEnd = async (drain: readonly string[], during: (url: string, pid: number) => unknown) => {
    await using other = await Sandbox.withDatabase();
    const server = await other.serve([], drain);
    process.kill(server.pid, 'SIGTERM');
    const begun = performance.now();
    await server.says('Shutting down');
    await during(server.url, server.pid);
    expect((await server.stop('SIGCONT')).code).toBe(0);
    return (performance.now() - begun) / 1_000;
  };

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'until another %s',
    async (signal) => {
      const again = (_: string, pid: number) => process.kill(pid, signal);
      expect(await secondsToEnd(['--drain-seconds', '8'], again)).toBeLessThan(8);
    },
    LONG,
  );

  // For as long as it is answered: what went on without end would never be over here.
  const pollUntilClosed = async (url: string) => {
    while ((await fetch(url).catch(() => null)) !== null) await Bun.sleep(20);
  };
  // By several, so that one of them waits for an answer at any time.
  const pollingOf = (path: string) => (url: string) =>
    Promise.all(Array.from({ length: 4 }, () => pollUntilClosed(`${url}${path}`)));

  test(
    'as long as requests come, for two seconds at most, and not for the sake of health checks',
    async () => {
      // On a busy machine the requests to one server may pause, to each of them only if they do not keep it up.
      const withRequests = await roundThat(
        (seconds) => seconds > 1.2,
        () => secondsToEnd([], pollingOf('/docs')),
        4,
      );
      expect(withRequests).toBeGreaterThan(1.2);
      // There one server may take long, all of them only if health checks count as requests.
      const withChecks: number[] = [];
      do withChecks.push(await secondsToEnd([], pollingOf('/readyz')));
      while (Math.min(...withChecks) >= withRequests && withChecks.length < 4);
      expect(Math.min(...withChecks)).toBeLessThan(withRequests);
    },
    LONG,
  );
});
