// Bodies that come slowly: read for as long as they go on coming, answered when that is too long, closed when they stop.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { openStore } from '../../db/store.ts';
import { BodyTimer } from '../../server/pipeline/body-timeouts.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';
import { databasePaths } from '../support/folders.ts';
import { HttpConnection } from '../support/http-connection.ts';
import { promptRound, roundThat } from '../support/rounds.ts';
import { chunk, type Dribbled, dribble, requestHead } from '../support/slow-client.ts';

const GAP_MS = 250;
const PACES = {
  record: { pauseMs: 1_500, wholeMs: 3_000 },
  batch: { pauseMs: 1_500, wholeMs: 12_000 },
};
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const JSON_BODY = JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace' });
const LONG_BODY = JSON.stringify({ first_name: 'Ada', remarks: 'x'.repeat(9_000) });

const THREADS = [0, 2];
const servers = new Map<number, { server: RunningServer; key: string }>();

beforeAll(async () => {
  await Promise.all(THREADS.map(async (readers) => servers.set(readers, await start(readers))));
}, 300_000);
afterAll(async () => {
  await Promise.all([...servers.values()].map(({ server }) => server.stop()));
}, 300_000);
// Its folders go after the servers.
const newPath = databasePaths();

async function start(readers: number) {
  const db = newPath();
  const store = await openStore(db);
  const now = Date.now();
  const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
  const scopes = ['contacts:read', 'contacts:write'];
  const options = { orgNumber: org.number, api: 'v2', name: null, scopes, access: 'organization' } as const;
  const { key } = await store.write('accounts', (trx) =>
    issueKey(trx, { ...options, userId: null, expiresAt: null, now }),
  );
  await store.close();
  const server = await startServer({
    ...{ db, host: '127.0.0.1', port: 0, log: 'off', readers },
    ...{ keyLimit: 100_000, orgLimit: 100_000, bodyTimeouts: PACES },
  });
  return { server, key };
}

/** The first piece of a request, and all of them. */
type Head = (headers: Record<string, string | number>) => string;

const inPieces = (text: string, count: number) => {
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size));
};
const announced = (head: Head, text: string, count: number) => [
  head({ 'Content-Length': text.length }),
  ...inPieces(text, count),
];
const told = ({ status, body }: Dribbled) => {
  const { error, data } = JSON.parse(body);
  return [status, error?.code ?? data.first_name];
};
/** What a client hears that sent steadily: where this thread stalled, which to the server is a pause, it sends again. */
const steadily = (send: () => Promise<Dribbled>): Promise<Dribbled> =>
  roundThat(({ pauseMs }) => pauseMs < PACES.record.pauseMs - GAP_MS, send);
const TOO_SLOW = [408, 'VALIDATION_OUT_OF_RANGE'];

describe.each(THREADS)('with %d reader threads, a body', (readers) => {
  const given = () => {
    const { server, key } = servers.get(readers) ?? expect.unreachable();
    const headers = { Authorization: `Bearer ${key}` };
    const head: Head = (more) => requestHead('POST /api/v2/contacts', { ...headers, ...more });
    const batchHead: Head = (more) => requestHead('POST /api/v2/contacts/batch', { ...headers, ...more });
    return { url: server.url, headers, head, batchHead };
  };

  const kept: [name: string, pieces: (head: Head) => string[]][] = [
    ['with a length', (head) => announced(head, LONG_BODY, 9)],
    ['of few bytes', (head) => announced(head, JSON_BODY, 9)],
    ['in chunks', (head) => [head(CHUNKED), ...inPieces(LONG_BODY, 8).map(chunk), chunk('')]],
  ];
  test.concurrent.each(kept)('%s is read past the pause that would end it', async (_, pieces) => {
    const { url, head } = given();
    // On a busy machine it can take longer than a body may.
    const answer = await promptRound(PACES.record.wholeMs, () =>
      dribble(url, pieces(head), { gapMs: GAP_MS }),
    );
    expect(told(answer)).toEqual([201, 'Ada']);
  });

  const endless: [name: string, pieces: (head: Head) => string[]][] = [
    ['with a length', (head) => [head({ 'Content-Length': 900_000 }), 'x']],
    ['in chunks', (head) => [head(CHUNKED), chunk('x')]],
  ];
  test.concurrent.each(endless)('%s that does not end is answered 408, and closed', async (_, pieces) => {
    const { url, head } = given();
    const answer = await steadily(() => dribble(url, pieces(head), { gapMs: GAP_MS, isEndless: true }));
    expect(told(answer)).toEqual(TOO_SLOW);
    expect(answer.head).toMatch(/^connection: close\r?$/im);
    expect(answer.body).toContain('within 3 s of its first byte');
    expect(answer.ms).toBeGreaterThan(2_900);
    await answer.closed;
  });

  test.concurrent('of a batch has longer', async () => {
    const { url, batchHead } = given();
    const pieces = announced(batchHead, `[${LONG_BODY}]`, 16);
    const answer = await steadily(() => dribble(url, pieces, { gapMs: GAP_MS }));
    expect([answer.status, answer.ms > 3_200]).toEqual([200, true]);
  });

  test.concurrent('that stops is closed, each of twelve, at its beginning or in its midst', async () => {
    const { url, head } = given();
    const stopped = [head({ 'Content-Length': 40 }), head(CHUNKED)].flatMap((begun, index) => [
      [begun],
      [begun, index === 0 ? '{' : chunk('{')],
    ]);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => dribble(url, stopped[index % stopped.length] ?? [])),
    );
    expect(answers.map(told)).toEqual(Array(12).fill(TOO_SLOW));
    expect(answers[0]?.body).toContain('No data of the body arrived for 1.5 s');
    await Promise.all(answers.map(({ closed }) => closed));
  });

  // Bun answers it in lower case only; such a client sends nothing before it hears of it.
  test.concurrent('that waits for a "100 Continue" that cannot come gets the reason', async () => {
    const { url, head } = given();
    const expecting = head({ 'Content-Length': 40, Expect: '100-Continue' });
    const answer = await dribble(url, [expecting]);
    expect(told(answer)).toEqual(TOO_SLOW);
    expect(answer.body).toContain('leave it out');
    const answered = await dribble(url, [head({ 'Content-Length': 40, Expect: '100-continue' })]);
    expect(answered.status).toBe(100);
  });

  test.concurrent('leaves its connection as it was', async () => {
    const { url, headers } = given();
    const connection = await HttpConnection.open(url);
    const asked = { method: 'POST', path: '/api/v2/contacts', headers, body: JSON_BODY, bodyMs: 400 };
    for (let count = 0; count < 3; count++)
      expect(await connection.ask(asked)).toMatchObject({ status: 201, isLast: false });
    connection.close();
  });
});

test('a body that has not come whole when the server stops is answered 503', async () => {
  const ending = new AbortController();
  const clock = () => new BodyTimer(PACES.record, { ending: ending.signal });
  const [ended, stopped] = [clock(), clock()];
  const told = (piece: Promise<unknown>) => piece.catch(({ status, headers }) => [status, headers]);
  const waiting = told(ended.limit(Promise.withResolvers().promise));
  expect(await stopped.limit(Promise.resolve('piece'))).toBe('piece');
  stopped.stop();
  ending.abort();
  const answered = [503, { 'Retry-After': '1', Connection: 'close' }];
  expect(await waiting).toEqual(answered);
  expect(await told(clock().limit(Promise.withResolvers().promise))).toEqual(answered);
});

test('time in which the server itself did not run does not count as a pause of the client', async () => {
  const timer = new BodyTimer({ pauseMs: 50, wholeMs: 10_000 });
  const limited = timer.limit(Bun.sleep(60).then(() => 'piece'));
  Bun.sleepSync(400);
  expect(await limited).toBe('piece');
  timer.stop();
});
