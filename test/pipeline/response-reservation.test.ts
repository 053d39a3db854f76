// Answers under way: a large one has room, or waits for it with nothing done, and is refused in the end.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { saveTranscript } from '../../db/records/transcripts.ts';
import type { InFlightBudget } from '../../server/quotas/in-flight-budget.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { longText } from '../support/long-texts.ts';
import { insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';

const KIBIBYTE = 1024;
/** Of a large record: some 150,000 bytes, so that a key has room for three. */
const CONTENT = longText('CJK', 50_000);
const LIMITS = { orgBytes: 1_024 * KIBIBYTE, allBytes: 8_192 * KIBIBYTE };

let harness: Harness;
let api: Client;
let answers: InFlightBudget;
/** While it is true, nobody takes an answer. */
let isHeld = false;
let second = '';
let note = '';
let person: Json;
let segment = '';
let transcript = '';

const keyed = (method: string, path: string, key: string, body: Json) =>
  harness.send(method, `/api/v2${path}`, { body, headers: { 'Idempotency-Key': key } });
const storing = () => keyed('POST', '/notes', 'stored', { title: 'Stored', content: CONTENT });

beforeAll(async () => {
  harness = await startHarness({
    inFlightLimits: LIMITS,
    isUnsent: () => isHeld,
    observer: {
      watch: (shared) => {
        answers = shared.answers;
      },
      responded: () => undefined,
    },
  });
  api = clientOf(harness);
  second = (await harness.issue()).key;
  note = (await api.create('notes', { title: 'Large', content: CONTENT })).id;
  const custom = Object.fromEntries(Array.from({ length: 50 }, (_, key) => [key, longText('CJK')]));
  person = await api.create('contacts', { first_name: 'Large', remarks: longText('CJK', 10_000), custom });
  for (let count = 0; count < 6; count++)
    await api.create('contacts', { first_name: 'Large', remarks: longText('CJK', 10_000) });
  segment = (await api.create('segments', { name: 'Large' })).id;
  const segments = Array.from({ length: 200 }, (_, index) => ({
    ...{ speaker: null, start_time: index, end_time: index },
    speech: longText('CJK', 300),
  }));
  const recording = await insertTranscribed(harness);
  const { store, orgNumber } = harness;
  await store.write(orgNumber, (trx) => saveTranscript(trx, { orgNumber, id: recording }, { segments }));
  const url = new URL((await api.get(`/recordings/${recording}`)).body.data.transcript_url);
  transcript = url.pathname + url.search;
  await storing();
});
afterAll(() => harness.close());
beforeEach(() => releaseAnswers());

const getNote = (key = harness.v2) => harness.send('GET', `/api/v2/notes/${note}`, { key });
const remaining = ({ headers }: Reply) => Number(headers.get('X-RateLimit-Remaining'));
/** Has nobody take the answers that fill the room of both keys, and so of their organization. */
async function fill(): Promise<void> {
  isHeld = true;
  for (const key of [harness.v2, second]) {
    for (let count = 0; count < 3; count++) expect((await getNote(key)).status).toBe(200);
  }
}

async function releaseAnswers(): Promise<void> {
  isHeld = false;
  while (answers.stats().bytes > 0) await Bun.sleep(10);
}

test('a large answer waits for room, and is given once another is taken; small ones and other keys do not wait', async () => {
  isHeld = true;
  for (let count = 0; count < 3; count++) expect((await getNote()).status).toBe(200);
  const waiting = getNote();
  while (answers.stats().waiting === 0) await Bun.sleep(5);
  expect(answers.stats().bytes).toBeWithin(450_000, 512 * KIBIBYTE);
  expect((await api.get('/notes?limit=1&is_archived=true')).status).toBe(200);
  expect((await getNote(second)).status).toBe(200);
  isHeld = false;
  expect((await waiting).body.data.content).toBe(CONTENT);
  await releaseAnswers();
});

test('a page of usual records has its room for a moment, and one of few has none', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({
    name: `Task ${index}`,
    description: longText('letters'),
  }));
  expect((await api.post('/tasks/batch', many)).status).toBe(200);
  await releaseAnswers();
  isHeld = true;
  expect((await api.get('/tasks?limit=20')).status).toBe(200);
  expect(answers.stats().bytes).toBe(0);
  expect((await api.get('/tasks?limit=100')).status).toBe(200);
  expect(answers.stats().bytes).toBeGreaterThan(100_000);
  await releaseAnswers();
});

test('what finds no room in ten seconds is refused, with nothing done, and counted nowhere', async () => {
  await fill();
  const before = await api.get('/notes?limit=1&is_archived=true');
  const contact = String(person.id);
  const v1 = (path: string, body: Json) => harness.send('POST', path, { key: harness.v1, body });
  const requests: Record<string, () => Promise<Reply>> = {
    'a record': () => getNote(),
    'a list': () => api.get('/contacts'),
    'a query of version 1': () => v1('/api/v1/people/query', {}),
    'a transcript': () => harness.send('GET', transcript, { key: null }),
    'an update': () => api.patch(`/notes/${note}`, { title: 'Changed' }),
    'a keyed update': () => keyed('PATCH', `/notes/${note}`, 'new', { title: 'Keyed' }),
    'a create': () => api.post('/notes', { title: 'Another', content: CONTENT }),
    'a batch': () => api.post('/notes/batch', [{ title: 'Another', content: CONTENT }]),
    'a link': () => api.post(`/segments/${segment}/members`, { record_id: contact }),
    'a replay': () => storing(),
  };
  const startedMs = performance.now();
  const refused = await Promise.all(Object.values(requests).map((send) => send()));
  expect(performance.now() - startedMs).toBeGreaterThan(9_500);
  for (const [index, name] of Object.keys(requests).entries()) {
    const reply = refused[index] as Reply;
    expect([name, reply.status, reply.body.error?.code]).toEqual([name, 429, 'RATE_LIMIT_EXCEEDED']);
    expect([name, Number(reply.headers.get('Retry-After'))]).toEqual([name, 5]);
    expect(reply.body.error.message).toContain('bytes of responses');
    if (name === 'a transcript') expect(remaining(reply)).toBe(60);
  }
  await releaseAnswers();
  const after = await api.get('/notes?limit=200');
  expect(remaining(after)).toBe(remaining(before) - 1);
  expect(after.body.data.map((one: Json) => one.title).toSorted()).toEqual(['Large', 'Stored']);
  expect((await api.get(`/segments/${segment}/members`)).body.data).toEqual([]);
  for (const [name, send] of Object.entries(requests)) {
    const reply = await send();
    expect([name, reply.status < 300]).toEqual([name, true]);
    const isReplayed = reply.headers.has('Idempotent-Replayed');
    expect([name, isReplayed]).toEqual([name, name === 'a replay']);
  }
  await releaseAnswers();
}, 300_000);
