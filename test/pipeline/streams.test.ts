// Streams on the wire: they end whole when the server stops or is replaced, go on at the next, and hold little for slow clients.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { COMMAND, type RunningServer, Sandbox } from '../support/command.ts';
import { EventReader } from '../support/event-stream.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { Scrape } from '../support/metrics.ts';
import { until } from '../support/until.ts';
import { UpgradedServer } from '../support/upgrades.ts';

const LONG = 300_000;
const STREAM = '/api/v2/changes/stream';
const MODES: [string, string[]][] = [['one thread', []]];
if (!isPostgres) MODES.push(['threads', ['--readers', '2']]);

interface Api {
  url: string;
  key: string;
}

const headersOf = ({ key }: Api) => ({ Authorization: `Bearer ${key}` });

async function open(api: Api, query = '?start=now', lastEventId = ''): Promise<EventReader> {
  const headers = { ...headersOf(api), ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
  return new EventReader(await fetch(api.url + STREAM + query, { headers }));
}

async function create(api: Api, name = 'T'): Promise<string> {
  const response = await fetch(`${api.url}/api/v2/tasks`, {
    method: 'POST',
    headers: { ...headersOf(api), 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

const openStreams = async (server: RunningServer) =>
  (await Scrape.of(server.metricsUrl)).value('crm_change_streams_open');

for (const [mode, args] of MODES) {
  test(
    `with ${mode}, streams are counted, logged when they begin, and let go with their clients`,
    async () => {
      await using sandbox = await Sandbox.withDatabase();
      const key = await sandbox.ok(['init', '--org', 'Example']);
      const server = await sandbox.serve(['--metrics-port', '0', '--log', 'json', ...args]);
      const api = { url: server.url, key };
      const streams = await Promise.all(Array.from({ length: 20 }, () => open(api)));
      const route = '/api/v2/changes/stream';
      await server.says(route);
      expect(await openStreams(server)).toBe(20);
      expect((await fetch(api.url + STREAM, { headers: headersOf(api) })).status).toBe(429);
      const id = await create(api);
      for (const stream of streams) expect((await stream.take(1))[0]?.data.record_id).toBe(id);
      const requests = (await Scrape.of(server.metricsUrl)).value('crm_http_requests_total', {
        route,
        status: '200',
      });
      expect(requests).toBe(20);
      await Promise.all(streams.map((stream) => stream.close()));
      await until(async () => (await openStreams(server)) === 0);
      await server.stop();
    },
    LONG,
  );

  test(
    `with ${mode}, a server that stops ends streams after a whole event, and the next goes on behind it`,
    async () => {
      await using sandbox = await Sandbox.withDatabase();
      const key = await sandbox.ok(['init', '--org', 'Example']);
      const server = await sandbox.serve(args, ['--drain-seconds', '1']);
      const api = { url: server.url, key };
      const streams = await Promise.all(Array.from({ length: 8 }, () => open(api)));
      const seen = Promise.all(streams.map((stream) => stream.all()));
      const made: string[] = [];
      for (let count = 0; count < 20; count++) made.push(await create(api));
      const stopped = server.stop();
      const begunAt = performance.now();
      const events = await seen;
      expect(performance.now() - begunAt).toBeLessThan(3_000);
      expect(streams.map(({ rest }) => rest)).toEqual(streams.map(() => ''));
      expect(events.flat().filter(({ event }) => event !== 'change')).toEqual([]);
      expect((await stopped).code).toBe(0);
      const next = await sandbox.serve(args);
      const there = { url: next.url, key };
      made.push(await create(there));
      for (const [index, first] of events.entries()) {
        const lastEventId = streams[index]?.lastEventId ?? '';
        const rest = await open(there, '', lastEventId);
        const later = await rest.take(made.length - first.length);
        expect([...first, ...later].map(({ data }) => data.record_id)).toEqual(made);
        await rest.close();
      }
      await next.stop();
    },
    LONG,
  );
}

test.skipIf(isPostgres || process.platform !== 'linux')(
  'a stream that is taken over loses nothing, although connections go to either server',
  async () => {
    await using sandbox = await Sandbox.withDatabase();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const server = await UpgradedServer.start(COMMAND, sandbox.folder, ['--readers', '2']);
    const api = { url: server.url, key };
    const made: string[] = [];
    let [isWriting, isOver] = [true, false];
    let ends = 0;
    const follow = async (opened: EventReader) => {
      const seen: string[] = [];
      let stream = opened;
      let last = '';
      while (!isOver || seen.length < made.length) {
        const event = await stream.next();
        if (event !== null) seen.push(event.data.record_id);
        else {
          ends += 1;
          expect(stream.rest).toBe('');
          // The server that is replaced ends one at once, without an event.
          last = stream.lastEventId || last;
          await Bun.sleep(100);
          stream = await open(api, '?start=now', last);
        }
      }
      await stream.close();
      return seen;
    };
    const first = await open(api);
    const streams = await Promise.all([open(api), open(api), open(api)]);
    const followers = Promise.all(streams.map(follow));
    const write = async () => {
      while (isWriting) {
        made.push(await create(api));
        await Bun.sleep(20);
      }
    };
    const writing = write();
    await Bun.sleep(500);
    await server.upgrade(COMMAND);
    await first.all();
    await Bun.sleep(1_000);
    isWriting = false;
    await writing;
    isOver = true;
    // Behind the last event that each has waited for.
    await create(api);
    for (const seen of await followers) expect(seen.slice(0, made.length)).toEqual(made);
    expect(ends).toBeGreaterThan(2);
    await server.stop();
  },
  LONG,
);

test.skipIf(process.platform !== 'linux')(
  'clients that do not read have little kept for them, and get everything later',
  async () => {
    await using sandbox = await Sandbox.withDatabase();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const server = await sandbox.serve(['--metrics-port', '0']);
    const api = { url: server.url, key };
    const content = 'x'.repeat(50_000);
    const notes = 200;
    const batch = JSON.stringify(Array.from({ length: notes / 2 }, () => ({ title: 'N', content })));
    for (let half = 0; half < 2; half++) {
      const headers = { ...headersOf(api), 'Content-Type': 'application/json' };
      const response = await fetch(`${api.url}/api/v2/notes/batch`, { method: 'POST', headers, body: batch });
      expect(response.status).toBe(200);
    }
    const { hostname, port } = new URL(api.url);
    const head = `GET ${STREAM}?resource=notes HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const residentMib = () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
    // What a client that reads has the server take is there already.
    const warm = await open(api, '?resource=notes');
    await warm.take(notes);
    await warm.close();
    const before = residentMib();
    const sockets = Array.from({ length: 12 }, () => {
      const socket = connect(Number(port), hostname);
      socket.pause();
      socket.write(head);
      return socket;
    });
    await until(async () => (await openStreams(server)) === sockets.length);
    await Bun.sleep(2_000);
    // 10 MB would be waiting for each of them.
    expect(residentMib() - before).toBeLessThan(sockets.length * 4);
    const [socket] = sockets;
    if (socket === undefined) throw new Error('no socket');
    const mark = 'event: change\n';
    let tail = '';
    let events = 0;
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why} after ${events} of ${notes} events: ${tail}`));
      socket.on('error', reject);
      socket.on('close', () => fail('the connection was closed'));
      socket.on('data', (chunk) => {
        const text = tail + chunk.toString('latin1');
        events += text.split(mark).length - 1;
        tail = text.slice(1 - mark.length);
        if (events >= notes) resolve();
        else if (text.includes('event: error\n')) fail(text.slice(text.indexOf('event: error\n')));
        else if (text.endsWith('\r\n0\r\n\r\n')) fail('the stream ended');
      });
      socket.resume();
    });
    expect(events).toBe(notes);
    for (const one of sockets) one.destroy();
    await server.stop();
  },
  LONG,
);
