// Clients that do not read, over a socket: what they are sent is bounded, keeps nobody else waiting, and is given up.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type RunningServer, Sandbox } from '../support/command.ts';
import type { Json } from '../support/json.ts';
import { longText } from '../support/long-texts.ts';
import { Scrape } from '../support/metrics.ts';
import { promptRound, roundThat } from '../support/rounds.ts';

const MEBIBYTE = 1024 * 1024;
const LIST = '/api/v2/contacts?limit=200';
/** Three pages of a little more than 4 MiB fit into the half of a key. */
const FLAGS = ['--org-body-mib', '26', '--metrics-port', '0', '--key-limit', '10000', '--org-limit', '10000'];
const CLIENTS = 12;
const FIT = 3;
const REFUSED = CLIENTS - FIT;
/** Those who wait for room are refused after ten seconds, and those who take nothing are given up some seconds later. */
const REFUSED_AFTER_MS = 10_500;
/** Within this time nobody has waited long enough to be refused, or read too little and been given up. */
const PROMPT_MS_MAX = 8_000;

describe.each([0, 2])('with %i threads beside', (readers) => {
  const sandbox = new Sandbox();
  let server: RunningServer;
  let key = '';
  let other = '';
  beforeAll(async () => {
    key = await sandbox.ok(['init', '--org', 'Example']);
    other = await sandbox.ok(['keys', 'issue', '--org', 'Example', '--all-scopes']);
    server = await sandbox.serve([...FLAGS, '--readers', String(readers)]);
    const custom = Object.fromEntries(Array.from({ length: 100 }, (_, name) => [name, longText('CJK')]));
    const body = JSON.stringify(Array.from({ length: 16 }, () => ({ first_name: 'Large', custom })));
    expect((await ask('/api/v2/contacts/batch', key, { method: 'POST', body })).status).toBe(200);
  }, 300_000);
  afterAll(() => sandbox[Symbol.dispose]());

  const ask = (path: string, bearer: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, headers: { Authorization: `Bearer ${bearer}` }, keepalive: false });
  const figure = async (name: string, labels = {}) =>
    (await Scrape.of(server.metricsUrl)).value(name, labels) ?? 0;
  const until = async (is: () => Promise<boolean>) => {
    while (!(await is())) await Bun.sleep(50);
  };

  /** Asks for the list, and reads nothing of it until told to, and then its head. */
  function silentClient(): { leave: () => void; read: () => Promise<string> } {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: crm.test\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    socket.on('data', (chunk) => {
      if (text.includes('\r\n\r\n')) return;
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n')) resolve(text.slice(0, text.indexOf('\r\n\r\n')));
    });
    socket.on('close', () => resolve(text));
    const read = () => {
      socket.resume();
      return promise;
    };
    return { leave: () => socket.destroy(), read };
  }

  const waiting = () => figure('crm_answers_waiting');
  // Of all threads together.
  const held = () => figure('crm_answer_bytes');
  const refusals = () => figure('crm_limit_refusals_total', { limit: 'answers' });

  test('clients that do not read get the part of their key, and keep nobody else waiting', async () => {
    const round = async () => {
      const before = await refusals();
      const clients = Array.from({ length: CLIENTS }, silentClient);
      await until(async () => (await waiting()) > 0 && (await held()) >= FIT * 4 * MEBIBYTE);
      expect(await held()).toBeLessThanOrEqual(13 * MEBIBYTE);
      expect((await ask('/api/v2/contacts?limit=1&email=none@example.com', key)).status).toBe(200);
      const page = (await (await ask(LIST, other)).json()) as Json;
      expect(page.page_info.has_next_page).toBe(true);
      const stillWaiting = await waiting();
      for (const { leave } of clients) leave();
      await until(async () => (await held()) === 0 && (await waiting()) === 0);
      return { stillWaiting, refused: (await refusals()) - before };
    };
    const last = await promptRound(PROMPT_MS_MAX, round);
    expect(last.stillWaiting).toBeGreaterThan(0);
    expect(last.refused).toBe(0);
  }, 300_000);

  if (readers > 0) return;

  test.skipIf(process.platform !== 'linux')(
    'the description is in memory once, however many clients do not read it',
    async () => {
      const memory = () => Number(readFileSync(`/proc/${server.pid}/statm`, 'utf8').split(' ')[1]) * 4_096;
      const { length } = await (
        await fetch(`${server.url}/openapi.json`, { headers: { 'Accept-Encoding': 'identity' } })
      ).text();
      const before = memory();
      // So many that what else the process takes and gives back matters little.
      const sockets = Array.from({ length: 300 }, () => {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
        socket.on('error', () => undefined);
        socket.write('GET /openapi.json HTTP/1.1\r\nHost: crm.test\r\n\r\n');
        return socket;
      });
      await until(async () => (await figure('crm_http_requests_in_flight')) === sockets.length);
      expect(memory() - before).toBeLessThan((sockets.length * length) / 2);
      for (const socket of sockets) socket.destroy();
    },
    300_000,
  );

  test('those for which there is no room get 429, and who takes nothing is given up', async () => {
    const round = async () => {
      const before = await refusals();
      const clients = Array.from({ length: CLIENTS }, silentClient);
      let [heldMost, allWait, noneGivenUp] = [0, Number.POSITIVE_INFINITY, 0];
      for (let bytes = 0; heldMost === 0 || bytes > 0; await Bun.sleep(50)) {
        const asked = performance.now();
        const scrape = await Scrape.of(server.metricsUrl);
        const value = (name: string, labels = {}) => scrape.value(name, labels) ?? 0;
        bytes = value('crm_answer_bytes');
        heldMost = Math.max(heldMost, bytes);
        const refused = value('crm_limit_refusals_total', { limit: 'answers' }) - before;
        if (value('crm_answers_waiting') + refused !== REFUSED) continue;
        allWait = Math.min(allWait, performance.now());
        if (bytes >= FIT * 4 * MEBIBYTE) noneGivenUp = asked;
      }
      const counted = (await refusals()) - before;
      const heads = await Promise.all(clients.map(({ read }) => read()));
      const refused = heads.filter((head) => head.startsWith('HTTP/1.1 429'));
      expect(counted).toBe(refused.length);
      expect(heldMost).toBeWithin(FIT * 4 * MEBIBYTE, 13 * MEBIBYTE);
      return { waitedMs: noneGivenUp - allWait, refused };
    };
    // On a busy machine some begin so late that they still wait when the first are given up, and get their room.
    const { refused } = await roundThat(({ waitedMs }) => waitedMs > REFUSED_AFTER_MS, round, 10);
    expect(refused).toHaveLength(REFUSED);
    for (const head of refused) expect(head).toMatch(/^retry-after: 5\r?$/im);
    expect((await ask(LIST, key)).status).toBe(200);
  }, 300_000);
});
