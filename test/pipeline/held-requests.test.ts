// Requests that are held open, on the wire: answered when the server stops or is replaced, let go with their clients.
import { expect, test } from 'bun:test';
import { issueKey } from '../../db/accounts/keys.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { openStore } from '../../db/store.ts';
import { COMMAND, type RunningServer, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import type { Json } from '../support/json.ts';
import { Scrape } from '../support/metrics.ts';
import { until } from '../support/until.ts';
import { UpgradedServer } from '../support/upgrades.ts';

const LONG = 300_000;
/** Long enough that twenty requests do not take that long themselves, on a busy machine either. */
const HELD_MS = 5_000;
const WAIT = '/api/v2/changes?start=now&wait=25';
const MODES: [string, string[]][] = [['one thread', []], ...(isPostgres ? [] : [readers()])];

function readers(): [string, string[]] {
  return ['threads', ['--readers', '2']];
}

interface Api {
  url: string;
  key: string;
}

const get = ({ url, key }: Api, path: string, signal?: AbortSignal) =>
  fetch(url + path, { headers: { Authorization: `Bearer ${key}` }, ...(signal && { signal }) });

const create = ({ url, key }: Api) =>
  fetch(`${url}/api/v2/tasks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"name":"T"}',
  });

/** Waits for what follows a page. */
const getAfter = (api: Api, { page_info }: Json) =>
  body(get(api, `/api/v2/changes?cursor=${page_info.end_cursor}&wait=25`));

const body = async (response: Promise<Response>): Promise<Json> => (await response).json();

/** Resolves once the server, which has metrics, holds this many requests. */
const holds = (server: RunningServer, count: number) =>
  until(async () => (await Scrape.of(server.metricsUrl)).value('crm_change_waits_held') === count);

for (const [mode, args] of MODES) {
  test(
    `with ${mode}, waits are woken, counted and let go`,
    async () => {
      await using sandbox = await Sandbox.withDatabase();
      const key = await sandbox.ok(['init', '--org', 'Example']);
      const server = await sandbox.serve(['--metrics-port', '0', ...args]);
      const api = { url: server.url, key };
      const waits = Array.from({ length: 20 }, () => body(get(api, WAIT)));
      await holds(server, 20);
      expect((await get(api, WAIT)).status).toBe(429);
      await create(api);
      for (const { data } of await Promise.all(waits)) expect(data).toHaveLength(1);
      await holds(server, 0);
      const figure = async (name: string) =>
        (await Scrape.of(server.metricsUrl)).value(`crm_http_request_duration_seconds_${name}`, {
          route: '/api/v2/changes',
        });
      await until(async () => (await figure('count')) === 21);
      const before = (await figure('sum')) ?? 0;
      const leaving = new AbortController();
      const gone = Array.from({ length: 20 }, () => get(api, WAIT, leaving.signal).catch(() => null));
      await holds(server, 20);
      await Bun.sleep(HELD_MS);
      leaving.abort();
      await Promise.all(gone);
      await holds(server, 0);
      await until(async () => (await figure('count')) === 41);
      // The time that a request was held is not the time that it took.
      expect(((await figure('sum')) ?? 0) - before).toBeLessThan((20 * HELD_MS) / 1_000);
      await server.stop();
    },
    LONG,
  );

  test(
    `with ${mode}, waits are answered when the server stops`,
    async () => {
      await using sandbox = await Sandbox.withDatabase();
      const key = await sandbox.ok(['init', '--org', 'Example']);
      const server = await sandbox.serve(['--metrics-port', '0', ...args], ['--drain-seconds', '5']);
      const api = { url: server.url, key };
      const waits = Array.from({ length: 10 }, () => get(api, WAIT));
      await holds(server, 10);
      const begunAt = performance.now();
      const stopped = server.stop();
      for (const response of await Promise.all(waits)) {
        expect(response.status).toBe(200);
        const { data, page_info } = (await response.json()) as Json;
        expect([data, page_info.has_next_page]).toEqual([[], false]);
        expect(page_info.end_cursor).toBeString();
      }
      // One that comes while the server drains is not held.
      const late = await get(api, WAIT);
      expect([late.status, late.headers.get('Connection')]).toEqual([200, 'close']);
      expect(performance.now() - begunAt).toBeLessThan(5_000);
      expect((await stopped).code).toBe(0);
    },
    LONG,
  );
}

test.skipIf(isPostgres || process.platform !== 'linux')(
  'waits are answered by the server that is replaced, and held by the next',
  async () => {
    await using sandbox = await Sandbox.withDatabase();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const server = await UpgradedServer.start(COMMAND, sandbox.folder, [
      ...['--readers', '2', '--drain-seconds', '2'],
    ]);
    const api = { url: server.url, key };
    const waits = Array.from({ length: 10 }, () => body(get(api, WAIT)));
    await Bun.sleep(500);
    await server.upgrade(COMMAND);
    const answered = await Promise.all(waits);
    expect(answered.map(({ data }) => data)).toEqual(answered.map(() => []));
    const next = getAfter(api, answered[0]);
    await create(api);
    // On a connection to the server that was replaced, a request is answered at once.
    for (let page = await next; page.data.length === 0; ) page = await getAfter(api, page);
    await server.stop();
  },
  LONG,
);

test(
  'a command that writes wakes those who wait at a server',
  async () => {
    await using sandbox = await Sandbox.withDatabase();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const server = await sandbox.serve(['--metrics-port', '0']);
    await sandbox.write(
      'meeting.ics',
      [
        ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test', 'BEGIN:VEVENT', 'UID:1@example.com'],
        ...['DTSTAMP:20260105T090000Z', 'DTSTART:20260105T090000Z', 'DTEND:20260105T093000Z'],
        ...['SUMMARY:Kick-off', 'END:VEVENT', 'END:VCALENDAR', ''],
      ].join('\r\n'),
    );
    const api = { url: server.url, key };
    // On a busy machine a command can take longer than a wait.
    const untilChanged = async () => {
      let page = await body(get(api, WAIT));
      while (page.data.length === 0) page = await getAfter(api, page);
      return page;
    };
    const changed = untilChanged();
    await holds(server, 1);
    await sandbox.ok(['ingest', 'meetings', 'meeting.ics', '--org', 'Example']);
    const endedAt = performance.now();
    expect((await changed).data).toMatchObject([{ action: 'created', resource: 'meetings' }]);
    expect(performance.now() - endedAt).toBeLessThan(3_000);
    await server.stop();
  },
  LONG,
);

test(
  'requests that are held do not hide what another process has just committed',
  async () => {
    await using sandbox = await Sandbox.withDatabase();
    const first = await sandbox.ok(['init', '--org', 'Example']);
    const { url, stop } = await sandbox.serve();
    const store = await openStore(sandbox.database);
    const { number: orgNumber } = await store.read
      .selectFrom('organizations')
      .select('number')
      .executeTakeFirstOrThrow();
    const issue = () =>
      store.write('accounts', (trx) =>
        issueKey(trx, {
          ...{ orgNumber, api: 'v2', name: null, scopes: V2_SCOPES, access: 'organization' },
          ...{ userId: null, expiresAt: null, now: Date.now() },
        }),
      );
    const others = [await issue(), await issue()].map(({ key }) => key);
    const waits = [first, ...others].flatMap((key) =>
      Array.from({ length: 15 }, () => get({ url, key }, WAIT)),
    );
    for (let round = 0; round < 20; round++) {
      const { key } = await issue();
      expect((await get({ url, key }, '/api/v2/contacts')).status).toBe(200);
    }
    await create({ url, key: first });
    await Promise.all(waits);
    await store.close();
    await stop();
  },
  LONG,
);
