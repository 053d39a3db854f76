// What a server tells on its metrics port: of requests, limits, writes and its database, and of nobody in particular.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { type IssuedKey, issueKey } from '../../db/accounts/keys.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { openStore } from '../../db/store.ts';
import { describedOperations } from '../../server/interface.ts';
import { FAMILIES } from '../../server/metrics/families.ts';
import { PROCESS_METRICS } from '../../server/metrics/metrics-port.ts';
import { type RunningServer, type ServeOptions, startServer } from '../../server/serve.ts';
import { databases } from '../support/folders.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import type { Json } from '../support/json.ts';
import { Scrape } from '../support/metrics.ts';

const newDatabase = databases();
const BUILD = { version: '1.2.3', commit: 'abcdef' };

/** A server that serves metrics, with a key for everything; `close` ends it. */
class Measured {
  readonly server: RunningServer;
  readonly key: string;
  readonly keyId: string;

  private constructor(server: RunningServer, { key, row }: IssuedKey) {
    this.server = server;
    this.key = key;
    this.keyId = row.id;
  }

  static async start(options: Partial<ServeOptions> = {}): Promise<Measured> {
    const db = await newDatabase();
    const store = await openStore(db);
    const now = Date.now();
    const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
    const owner = { orgNumber: org.number, name: null, scopes: V2_SCOPES, access: 'organization' } as const;
    const issued = await store.write('accounts', (trx) =>
      issueKey(trx, { ...owner, api: 'v2', userId: null, expiresAt: null, now }),
    );
    await store.close();
    const limits = { keyLimit: 1e6, orgLimit: 1e6 };
    const metrics = { host: '127.0.0.1', port: 0, ...BUILD };
    const server = await startServer({
      db,
      host: '127.0.0.1',
      port: 0,
      ...limits,
      log: 'off',
      metrics,
      ...options,
    });
    return new Measured(server, issued);
  }

  send(method: string, path: string, init: { body?: unknown; headers?: Record<string, string> } = {}) {
    return fetch(`${this.server.url}${path}`, {
      method,
      headers: { 'X-Service-Api-Key': this.key, 'Content-Type': 'application/json', ...init.headers },
      ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
    });
  }

  scrape(headers?: Record<string, string>): Promise<Scrape> {
    return Scrape.of(this.server.metricsUrl, headers);
  }
}

describe('a server that is measured', () => {
  let measured: Measured;
  beforeAll(async () => {
    measured = await Measured.start();
  });
  afterAll(() => measured.server.stop());

  test('tells it on that port, under that path, and nowhere else', async () => {
    const { url, metricsUrl } = measured.server;
    const { status, headers } = await fetch(metricsUrl ?? '');
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const at = (path: string) => new URL(path, metricsUrl ?? '');
    expect((await fetch(at('/'))).status).toBe(404);
    expect((await fetch(at('/api/v2/contacts'))).status).toBe(404);
    expect((await fetch(at('/metrics'), { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(at('/metrics'), { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });

  test('counts requests by version, method, template and status, and how long they took', async () => {
    const created = await measured.send('POST', '/api/v2/contacts', { body: { first_name: 'Ada' } });
    const { id } = ((await created.json()) as Json).data;
    for (let count = 0; count < 3; count++) await measured.send('GET', `/api/v2/contacts/${id}`);
    await measured.send('GET', `/api/v2/contacts/${crypto.randomUUID()}`);
    await measured.send('PUT', `/api/v2/contacts/${id}`);
    await measured.send('GET', '/api/v1/nothing');
    await measured.send('GET', '/nothing');
    const scrape = await measured.scrape();
    const route = '/api/v2/contacts/{id}';
    const got = { api: 'v2', method: 'GET', route };
    expect(scrape.value('crm_http_requests_total', { ...got, status: '200' })).toBe(3);
    expect(scrape.value('crm_http_requests_total', { ...got, status: '404' })).toBe(1);
    expect(scrape.value('crm_http_requests_total', { method: 'PUT', route, status: '405' })).toBe(1);
    expect(scrape.value('crm_http_requests_total', { api: 'v1', route: '/api/v1/*', status: '404' })).toBe(1);
    expect(scrape.value('crm_http_requests_total', { api: 'v2', route: '/*' })).toBeGreaterThan(0);
    const seconds = 'crm_http_request_duration_seconds';
    expect(scrape.value(`${seconds}_count`, { method: 'GET', route })).toBe(4);
    expect(scrape.value(`${seconds}_bucket`, { method: 'GET', route, le: '+Inf' })).toBe(4);
    expect(scrape.value(`${seconds}_bucket`, { method: 'GET', route, le: '10' })).toBe(4);
    expect(scrape.value(`${seconds}_sum`, { method: 'GET', route })).toBeWithin(0.000_001, 10);
    const buckets = scrape.samples.filter(
      ({ name, labels }) => name === `${seconds}_bucket` && labels.route === route && labels.method === 'GET',
    );
    expect(buckets.map(({ value }) => value)).toEqual(
      buckets.map(({ value }) => value).toSorted((a, b) => a - b),
    );
  });

  test('counts replays, items of batches, commits and the writes that shared one', async () => {
    const before = await measured.scrape();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const body = [{ first_name: 'Ada' }, { nothing: 1 }, { first_name: 'Grace' }];
    for (let count = 0; count < 3; count++) {
      const { status } = await measured.send('POST', '/api/v2/contacts/batch', { body, headers });
      expect(status).toBe(200);
    }
    await Promise.all(
      Array.from({ length: 20 }, () =>
        measured.send('POST', '/api/v2/notes', { body: { title: 'A', content: 'B' } }),
      ),
    );
    const scrape = await measured.scrape();
    const route = '/api/v2/contacts/batch';
    const grown = (name: string, labels = {}) =>
      (scrape.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    expect(grown('crm_idempotent_replays_total')).toBe(2);
    expect(scrape.value('crm_batch_items_total', { route, result: 'created' })).toBe(2);
    expect(scrape.value('crm_batch_items_total', { route, result: 'failed' })).toBe(1);
    expect(grown('crm_write_group_jobs_sum')).toBeGreaterThanOrEqual(21);
    expect(grown('crm_commits_total')).toBe(grown('crm_write_group_jobs_count'));
    expect(grown('crm_commits_total')).toBe(grown('crm_commit_duration_seconds_count'));
    expect(grown('crm_commits_total')).toBeWithin(1, 23);
    expect(scrape.value('crm_database_size_bytes')).toBeGreaterThan(100_000);
  });

  test('tells which build it is, on which engine, and that it is ready', async () => {
    // The delay is taken note of now and then.
    let scrape = await measured.scrape();
    while (scrape.value('crm_event_loop_delay_seconds_count') === 0) scrape = await measured.scrape();
    const engine = isPostgres ? 'postgresql' : 'sqlite';
    expect(scrape.value('crm_build_info', { ...BUILD, engine })).toBe(1);
    expect(scrape.value('crm_ready')).toBe(1);
    expect(scrape.value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(scrape.value('process_start_time_seconds')).toBeWithin(
      Date.now() / 1_000 - 3_600,
      Date.now() / 1_000,
    );
    expect(scrape.value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(scrape.value('process_open_fds')).toBeGreaterThan(3);
    expect(scrape.value('crm_event_loop_delay_seconds_count')).toBePositive();
    if (!isPostgres) return;
    for (const pool of ['reading', 'writing', 'counting']) {
      const size = scrape.value('crm_postgres_pool_size', { pool }) ?? 0;
      expect(scrape.value('crm_postgres_pool_open', { pool })).toBeWithin(1, size + 1);
      expect(scrape.value('crm_postgres_connects_total', { pool })).toBeGreaterThan(0);
    }
  });

  test('tells of no organization, key, record or path that a client made up', async () => {
    const secret = 'service_api_0123456789abcdef';
    for (let count = 0; count < 50; count++) {
      const id = crypto.randomUUID();
      await measured.send('GET', `/api/v2/contacts/${id}`);
      await measured.send('GET', `/${secret}/${id}?token=${secret}`);
      await measured.send('DELETE', `/api/v2/deals/${id}/contacts/${id}`);
    }
    const { text, ...scrape } = await measured.scrape();
    expect(text).not.toMatch(/[\da-f]{8}-[\da-f]{4}/);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(measured.keyId);
    expect(text).not.toContain(measured.key.slice(13, 24));
    expect(text).not.toContain('Acme');
    expect(scrape.samples.length).toBeLessThan(1_500);
  });

  test('labels are of fixed sets, so that the series are bounded', async () => {
    const scrape = await measured.scrape();
    const paths = describedOperations().map(({ path }) => path);
    const routes = new Set([...paths, '/*', '/api/v1/*']);
    expect(scrape.labelValues('route').filter((route) => !routes.has(route))).toEqual([]);
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'];
    expect(scrape.labelValues('method').filter((method) => !methods.includes(method))).toEqual([]);
    const known = [
      'api',
      'method',
      'route',
      'status',
      'le',
      'limit',
      'result',
      'pool',
      'state',
      'outcome',
      'part',
    ];
    const labels = new Set(scrape.samples.flatMap(({ labels }) => Object.keys(labels)));
    const more = ['version', 'commit', 'engine'];
    expect([...labels].filter((label) => ![...known, ...more].includes(label))).toEqual([]);
  });

  test('every family is declared, with its labels', async () => {
    const scrape = await measured.scrape();
    const declared: string[] = [...Object.keys(FAMILIES), ...PROCESS_METRICS];
    expect(scrape.families.filter((name) => !declared.includes(name))).toEqual([]);
    const ofOthers =
      /^crm_backup(s|_interval|_last_(duration|size))|^crm_sqlite|^crm_postgres|disk_free|last_success/;
    expect(declared.filter((name) => !scrape.families.includes(name) && !ofOthers.test(name))).toEqual([]);
  });

  test('speaks OpenMetrics to who asks for it', async () => {
    const { text } = await measured.scrape({
      Accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5',
    });
    expect(text).toEndWith('\n# EOF\n');
    expect(text).toContain('# TYPE crm_http_requests counter\n');
    expect(text).toMatch(/^crm_http_requests_total\{.*\} \d+$/m);
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
    expect(text).not.toContain('_total_total');
  });
});

test('refusals are counted by the limit that refused, and the busiest is counted without a name', async () => {
  const { server, ...measured } = await Measured.start({ keyLimit: 5, orgLimit: 1_000 });
  const send = (key: string) =>
    fetch(`${server.url}/api/v2/contacts`, { headers: { 'X-Service-Api-Key': key } });
  for (let count = 0; count < 8; count++) await send(measured.key);
  for (let count = 0; count < 70; count++) await send('wrong');
  const scrape = await Scrape.of(server.metricsUrl);
  const refused = scrape.value('crm_http_requests_total', { status: '429' }) ?? 0;
  expect(scrape.value('crm_limit_refusals_total')).toBe(refused);
  // A minute may have turned meanwhile.
  expect(scrape.value('crm_limit_refusals_total', { limit: 'key' })).toBeWithin(0, 4);
  expect(scrape.value('crm_limit_refusals_total', { limit: 'wrong_keys' })).toBeWithin(0, 11);
  expect(refused).toBeGreaterThan(0);
  expect(scrape.value('crm_limit_refusals_total', { limit: 'organization' })).toBe(0);
  expect(scrape.value('crm_rate_limit_requests_per_minute', { limit: 'key' })).toBe(5);
  expect(scrape.value('crm_rate_limit_used_ratio', { limit: 'key' })).toBeWithin(0, 1.01);
  await server.stop();
});

test('a server that drains tells that it is not ready, to the end', async () => {
  const { server } = await Measured.start();
  const draining = server.drain(500);
  await Bun.sleep(50);
  expect((await Scrape.of(server.metricsUrl)).value('crm_ready')).toBe(0);
  await draining;
  await server.stop();
  expect(await fetch(server.metricsUrl ?? '').catch(() => 'gone')).toBe('gone');
});

test('one that is not measured has no such port', async () => {
  const db = await newDatabase();
  const options = { db, host: '127.0.0.1', port: 0, keyLimit: 10, orgLimit: 10, log: 'off' as const };
  const server = await startServer(options);
  expect(server.metricsUrl).toBeNull();
  await server.stop();
});
