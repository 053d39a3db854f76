// Bodies under way on a server of several threads: one budget for all of them, whichever thread a request comes to.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { openStore } from '../../db/store.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';
import { databasePaths } from '../support/folders.ts';
import { Scrape } from '../support/metrics.ts';
import { requestHead } from '../support/slow-client.ts';

const MEBIBYTE = 1024 * 1024;
const LIMITS = { orgBytes: 4 * MEBIBYTE, allBytes: 16 * MEBIBYTE };
/** The half of a key. */
const SLOW_BYTES = 2 * MEBIBYTE;
/** So many connections come to both of two threads. */
const REQUESTS = 12;
/** Long enough that on a busy machine too, those that are to be let in are not refused before. */
const WAIT_MS = 8_000;
/** A body that is slow here is never too slow. */
const PATIENT = { pauseMs: 300_000, wholeMs: 300_000 };
const METRICS = { host: '127.0.0.1', port: 0, version: '0', commit: '0' };
const newPath = databasePaths();

describe.each([0, 2])('with %d reader threads', (readers) => {
  let server: RunningServer;
  let [key, other] = ['', ''];
  beforeAll(async () => {
    const db = newPath();
    const store = await openStore(db);
    const now = Date.now();
    const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
    const options = { orgNumber: org.number, api: 'v2', name: null, access: 'organization' } as const;
    const issue = async () => {
      const more = { scopes: ['contacts:write'], userId: null, expiresAt: null, now };
      return (await store.write('accounts', (trx) => issueKey(trx, { ...options, ...more }))).key;
    };
    [key, other] = [await issue(), await issue()];
    await store.close();
    server = await startServer({
      ...{ db, host: '127.0.0.1', port: 0, log: 'off', readers, metrics: METRICS },
      ...{ keyLimit: 10_000, orgLimit: 10_000, inFlightLimits: LIMITS, bodyWaitMs: WAIT_MS },
      bodyTimeouts: { record: PATIENT, batch: PATIENT },
    });
  }, 300_000);
  afterAll(() => server.stop(), 300_000);

  const figure = async (name: string) => (await Scrape.of(server.metricsUrl)).value(name);
  const until = async (name: string, value: number) => {
    while ((await figure(name)) !== value) await Bun.sleep(10);
  };
  const untilOneWaits = async () => {
    while ((await figure('crm_request_bodies_waiting')) === 0) await Bun.sleep(10);
  };

  /** Batches on connections of their own, and how they are answered. */
  const batches = (bearer: string, kibibytes: number, count: number) => {
    const body = JSON.stringify([{ first_name: 'Ada', remarks: 'x'.repeat(kibibytes * 1_024) }]);
    const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body, keepalive: false };
    const url = `${server.url}/api/v2/contacts/batch`;
    return Array.from({ length: count }, async () => (await fetch(url, init)).status);
  };

  /** A batch that stays incomplete until it is ended, or its client goes away. */
  function slowBatch(bearer: string) {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const { promise: answered, resolve } = Promise.withResolvers<string>();
    socket.on('data', (data) => resolve(data.toString().slice(9, 12)));
    const headers = { Authorization: `Bearer ${bearer}`, 'Content-Length': SLOW_BYTES };
    socket.write(`${requestHead('POST /api/v2/contacts/batch', headers)}[`);
    const end = () => {
      socket.write(`${' '.repeat(SLOW_BYTES - 2)}]`);
      return answered;
    };
    return { end, leave: () => socket.destroy() };
  }

  test('a slow body takes the part of its key once, and keeps no other key waiting', async () => {
    const slow = slowBatch(key);
    await until('crm_request_body_bytes', SLOW_BYTES);
    expect(await figure('crm_request_body_limit_bytes')).toBe(18 * MEBIBYTE);
    const refused = Promise.all(batches(key, 400, REQUESTS));
    await untilOneWaits();
    for (let count = 0; count < REQUESTS; count++) expect(await batches(other, 400, 1)[0]).toBe(200);
    expect(await refused).toEqual(Array(REQUESTS).fill(429));
    const waiting = Promise.all(batches(key, 100, REQUESTS));
    await untilOneWaits();
    expect(await slow.end()).toBe('200');
    expect(await waiting).toEqual(Array(REQUESTS).fill(200));
    await until('crm_request_body_bytes', 0);
  }, 300_000);

  test('clients that go away give the room of their organization back', async () => {
    const slow = [key, other].map(slowBatch);
    await until('crm_request_body_bytes', 2 * SLOW_BYTES);
    const gone = [key, other, key, other].map(slowBatch);
    await untilOneWaits();
    for (const { leave } of [...slow, ...gone]) leave();
    await until('crm_request_body_bytes', 0);
    await until('crm_request_bodies_waiting', 0);
    expect(await Promise.all(batches(key, 400, 4))).toEqual(Array(4).fill(200));
  }, 300_000);
});
