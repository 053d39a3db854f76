// One webhook request: where it connects, what it takes for an answer, and what it makes of everything else.
import { afterAll, describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { parseNetwork } from '../../db/networks.ts';
import { addressJudge } from '../../server/webhooks/addresses.ts';
import { type Resolver, WebhookSender } from '../../server/webhooks/sender.ts';
import { promptRound } from '../support/rounds.ts';
import { until } from '../support/until.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

interface Receiver {
  port: number;
  /** What came in, one text per connection. */
  received: string[];
  /** Connections that are open. */
  open: Set<Socket>;
}

/** A server that answers each connection in its own way as soon as a request is whole. */
function receiver(answer: (socket: Socket) => unknown, host = '127.0.0.1', port = 0): Promise<Receiver> {
  const [received, open]: [string[], Set<Socket>] = [[], new Set()];
  const server = createServer((socket) => {
    const index = received.push('') - 1;
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    socket.on('data', (data) => {
      const before = received[index] ?? '';
      received[index] = before + data;
      if (!before.endsWith('{}') && received[index].endsWith('{}')) answer(socket);
    });
  });
  servers.push(server);
  return new Promise((resolve) =>
    server.listen(port, host, () => {
      const address = server.address();
      resolve({ port: typeof address === 'object' ? (address?.port ?? 0) : 0, received, open });
    }),
  );
}

const says = (text: string) => (socket: Socket) => void socket.write(text);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

interface Given {
  allowed?: string[];
  resolve?: Resolver;
  timeoutMs?: number;
}

function senderWith({ allowed = ['127.0.0.0/8'], resolve, timeoutMs = 60_000 }: Given = {}): WebhookSender {
  const networks = allowed.flatMap((network) => parseNetwork(network) ?? []);
  return new WebhookSender({ judge: addressJudge(networks), timeoutMs, ...(resolve && { resolve }) });
}

const to = (url: string, headers: Record<string, string> = {}) => ({ url, headers, body: '{}' });
const at = (...addresses: string[]): Resolver => {
  return async () => addresses;
};

describe('a request', () => {
  test('is a POST of JSON for the name, on a connection of its own', async () => {
    const target = await receiver(says(OK));
    const url = `http://hooks.test:${target.port}/a/b?token=1#part`;
    const sender = senderWith({ resolve: at('127.0.0.1') });
    const attempt = await sender.send(to(url, { 'webhook-id': 'msg_1' }));
    expect(attempt).toEqual({
      outcome: 'delivered',
      status: 200,
      retryAfterMs: null,
      ms: expect.any(Number),
    });
    await sender.send(to(url));
    expect(target.received.length).toBe(2);
    const [head = '', body] = target.received[0]?.split('\r\n\r\n') ?? [];
    expect(head.split('\r\n').toSorted()).toEqual(
      [
        'POST /a/b?token=1 HTTP/1.1',
        `Host: hooks.test:${target.port}`,
        'webhook-id: msg_1',
        'User-Agent: crm-webhooks',
        'Content-Type: application/json',
        'Content-Length: 2',
        'Connection: close',
      ].toSorted(),
    );
    expect(body).toBe('{}');
    await until(() => target.open.size === 0);
  });

  test('uses no proxy of the environment', async () => {
    const proxy = await receiver(says(OK));
    const target = await receiver(says(OK));
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      const attempt = await senderWith().send(to(`http://127.0.0.1:${target.port}/`));
      expect(attempt).toMatchObject({ outcome: 'delivered' });
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect([proxy.received.length, target.received.length]).toEqual([0, 1]);
  });
});

describe('addresses', () => {
  test('the name is resolved once an attempt, and the connection made to what was found', async () => {
    const target = await receiver(says(OK));
    let asked = 0;
    const rebinding: Resolver = async () => {
      asked += 1;
      return asked % 2 === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
    };
    const sender = senderWith({ resolve: rebinding });
    const url = `http://rebinding.test:${target.port}/`;
    expect(await sender.send(to(url))).toMatchObject({ outcome: 'delivered' });
    expect(asked).toBe(1);
    expect(await sender.send(to(url))).toMatchObject({ outcome: 'blocked', status: null });
    expect([asked, target.received.length]).toEqual([2, 1]);
  });

  test('one address that is closed blocks the name', async () => {
    const target = await receiver(says(OK));
    for (const closed of [
      '169.254.169.254',
      '10.0.0.1',
      '::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      'fe80::1%eth0',
      '',
    ]) {
      const sender = senderWith({ resolve: at('127.0.0.1', closed) });
      expect([closed, await sender.send(to(`http://mixed.test:${target.port}/`))]).toMatchObject([
        closed,
        { outcome: 'blocked' },
      ]);
    }
    expect(target.received).toEqual([]);
  });

  test('public addresses are for https on 443 and 8443 only', async () => {
    const sender = senderWith({ resolve: at('8.8.8.8') });
    for (const url of ['http://public.test/', 'http://public.test:443/', 'https://public.test:444/'])
      expect([url, await sender.send(to(url))]).toMatchObject([url, { outcome: 'blocked' }]);
  });

  test('without allowed networks this machine is closed, by whatever name', async () => {
    const target = await receiver(says(OK));
    const sender = senderWith({ allowed: [] });
    const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '0'];
    for (const host of hosts) {
      for (const url of [`http://${host}:${target.port}/`, `https://${host}:8443/`])
        expect([url, await sender.send(to(url))]).toMatchObject([url, { outcome: 'blocked' }]);
    }
    expect(target.received).toEqual([]);
  });

  test('the next address is tried if the first does not answer', async () => {
    const target = await receiver(says(OK), '127.0.0.3');
    const sender = senderWith({ resolve: at('127.0.0.2', '127.0.0.3') });
    expect(await sender.send(to(`http://two.test:${target.port}/`))).toMatchObject({ outcome: 'delivered' });
  });

  test('a name without an address is unreachable', async () => {
    const none = senderWith({ resolve: at() });
    expect(await none.send(to('http://none.test/'))).toMatchObject({ outcome: 'unreachable', status: null });
    expect(await senderWith().send(to('http://none.invalid/'))).toMatchObject({ outcome: 'unreachable' });
  });

  test('a URL that was stored and is not valid is blocked', async () => {
    expect(await senderWith().send(to('ftp://127.0.0.1/'))).toMatchObject({ outcome: 'blocked' });
    expect(await senderWith().send(to('http://ada@127.0.0.1/'))).toMatchObject({ outcome: 'blocked' });
  });
});

describe('an answer', () => {
  const status = (code: number, headers = '') =>
    says(`HTTP/1.1 ${code} Word\r\n${headers}Content-Length: 0\r\n\r\n`);

  test.each([
    [200, 'delivered'],
    [202, 'delivered'],
    [299, 'delivered'],
    [300, 'redirect'],
    [304, 'redirect'],
    [400, 'failed'],
    [404, 'failed'],
    [410, 'gone'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [999, 'failed'],
  ] as const)('%i is %s', async (code, outcome) => {
    const { port } = await receiver(status(code));
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({ outcome, status: code });
  });

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (code) => {
    const inside = await receiver(says(OK));
    const { port } = await receiver(status(code, `Location: http://127.0.0.1:${inside.port}/\r\n`));
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'redirect',
      status: code,
    });
    expect(inside.received).toEqual([]);
  });

  test('can ask to wait', async () => {
    const { port } = await receiver(status(503, 'Retry-After: 120\r\n'));
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'failed',
      retryAfterMs: 120_000,
    });
  });

  test('can come after others that are only information', async () => {
    const { port } = await receiver(
      says(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`),
    );
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'delivered',
      status: 200,
    });
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP 0.9', '<html></html>\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n'],
    ['random bytes', `${'\x00\xff\x16\x03'.repeat(100)}\n`],
  ])('%s is a failure without a status', async (_, text) => {
    const { port } = await receiver(says(text));
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'failed',
      status: null,
    });
  });

  test('101 is a failure, and its connection is closed', async () => {
    const target = await receiver(
      says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n'),
    );
    const attempt = await senderWith().send(to(`http://127.0.0.1:${target.port}/`));
    expect(attempt).toMatchObject({ outcome: 'failed', status: 101 });
    await closed(target);
  });

  test('with headers without end is refused', async () => {
    let sent = 0;
    const target = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const line = `X-Long: ${'a'.repeat(1_000)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(line)) sent += 1;
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    const attempt = await senderWith().send(to(`http://127.0.0.1:${target.port}/`));
    expect(attempt).toMatchObject({ outcome: 'failed', status: null });
    await closed(target);
    expect(sent).toBeGreaterThan(10);
  });

  test('with a body without end is read to 4 KiB', async () => {
    const target = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `1000\r\n${'a'.repeat(4_096)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const attempt = await senderWith().send(to(`http://127.0.0.1:${target.port}/`));
    expect(attempt).toMatchObject({ outcome: 'delivered', status: 200 });
    await closed(target);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_048_576);
  });

  test('with a slow body counts by its status, a second later', async () => {
    const target = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
      const timer = setInterval(() => socket.write('a'), 100);
      socket.on('close', () => clearInterval(timer));
    });
    const url = `http://127.0.0.1:${target.port}/`;
    const attempt = await promptRound(3_000, () => senderWith().send(to(url)));
    expect(attempt).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(attempt?.ms).toBeWithin(900, 3_000);
    await closed(target);
  });

  test('that breaks off counts by its status', async () => {
    const { port } = await receiver((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nok');
    });
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'delivered',
      status: 200,
    });
  });
});

describe('no answer', () => {
  test.each([
    ['nothing', () => undefined],
    ['half of the headers', says('HTTP/1.1 200 OK\r\nX-Slow: ')],
    [
      'a header at a time',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('X-Slow: a\r\n'), 50);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ] as const)('in time, %s, is a timeout', async (_, answer) => {
    const target = await receiver(answer);
    const url = `http://127.0.0.1:${target.port}/`;
    const attempt = await promptRound(2_000, () => senderWith({ timeoutMs: 500 }).send(to(url)));
    expect(attempt).toMatchObject({ outcome: 'timeout', status: null });
    expect(attempt?.ms).toBeWithin(450, 2_000);
    await closed(target);
  });

  test('from DNS in time is a timeout', async () => {
    const sender = senderWith({ timeoutMs: 200, resolve: () => new Promise(() => undefined) });
    expect(await sender.send(to('http://slow.test/'))).toMatchObject({ outcome: 'timeout' });
  });

  test('in a TLS handshake in time is a timeout', async () => {
    const target = await receiver(() => undefined);
    const attempt = await senderWith({ timeoutMs: 500 }).send(to(`https://127.0.0.1:${target.port}/`));
    expect(attempt).toMatchObject({ outcome: 'timeout' });
    await closed(target);
  });

  test.each([
    ['closed', (socket: Socket): unknown => socket.destroy()],
    ['half-closed', (socket: Socket): unknown => socket.end()],
    ['reset', (socket: Socket): unknown => socket.resetAndDestroy()],
  ] as const)('but a connection that is %s is unreachable', async (_, answer) => {
    const { port } = await receiver(answer);
    expect(await senderWith().send(to(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'unreachable',
    });
  });

  test('because nothing listens is unreachable', async () => {
    expect(await senderWith().send(to('http://127.0.0.9:9/'))).toMatchObject({ outcome: 'unreachable' });
  });

  test('because the sending was stopped is not an attempt', async () => {
    const target = await receiver(() => undefined);
    const stop = new AbortController();
    const attempt = senderWith().send(to(`http://127.0.0.1:${target.port}/`), stop.signal);
    while (target.received.length === 0) await Bun.sleep(5);
    stop.abort();
    expect(await attempt).toBeNull();
    await closed(target);
    expect(await senderWith().send(to(`http://127.0.0.1:${target.port}/`), stop.signal)).toBeNull();
  });
});

const closed = ({ open }: Receiver): Promise<void> => until(() => open.size === 0, undefined, 10_000);
