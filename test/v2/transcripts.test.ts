// Transcripts: a fresh link with each GET of a recording, good for 300 s, 60 times a minute, for that transcript alone.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BASE_URL, type Harness, type Reply, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed, SEGMENTS } from '../support/read-only.ts';
import { type Client, clientOf, expectError, expectMissing } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const PATH = '/api/v2/transcripts/download';

async function linkTo(recording: string): Promise<string> {
  return (await api.fetch('recordings', recording)).transcript_url;
}

/** Follows a link as anyone would, without a key. */
function follow(link: string): Promise<Reply> {
  return harness.send('GET', link.slice(BASE_URL.length), { key: null });
}

test('the link opens the transcript, without a key, as often as wanted', async () => {
  const meeting_id = await insertReadOnly(harness, 'meetings');
  const id = await insertTranscribed(harness, { meeting_id });
  const link = await linkTo(id);
  expect(link).toStartWith(`${BASE_URL}${PATH}?token=`);
  for (const _ of [1, 2, 3]) {
    const reply = await follow(link);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      object: 'success',
      data: { recording_id: id, meeting_id, language: 'en', segments: SEGMENTS },
      meta: expect.objectContaining({ api_version: '2' }),
    });
  }
});

test('every GET issues a fresh link, and earlier ones stay good', async () => {
  const id = await insertTranscribed(harness);
  const links = [await linkTo(id), await linkTo(id), await linkTo(id)];
  expect(new Set(links).size).toBe(3);
  for (const link of links) expect((await follow(link)).status).toBe(200);
});

test('lists never issue a link, nor does a recording without a transcript', async () => {
  const id = await insertTranscribed(harness);
  const without = await insertReadOnly(harness, 'recordings');
  const all = await api.list('/recordings?limit=200');
  expect(all.map((recording) => recording.id)).toEqual(expect.arrayContaining([id, without]));
  for (const recording of all) expect(recording.transcript_url).toBeNull();
  expect(all.find((recording) => recording.id === id).has_transcript).toBe(true);
  expect(await api.fetch('recordings', without)).toMatchObject({
    has_transcript: false,
    transcript_url: null,
  });
});

test('it is good for 300 s and not a moment longer', async () => {
  const link = await linkTo(await insertTranscribed(harness));
  const { now } = harness.clock;
  harness.clock.now = now + 299_999;
  expect((await follow(link)).status).toBe(200);
  harness.clock.now = now + 300_000;
  expectMissing(await follow(link));
  harness.clock.now = now + 86_400_000;
  expectMissing(await follow(link));
});

test('altered, cut, foreign or missing, the token opens nothing', async () => {
  const link = await linkTo(await insertTranscribed(harness));
  const token = link.slice(link.indexOf('=') + 1);
  const flip = (at: number) => {
    const other = token[at] === 'A' ? 'B' : 'A';
    return token.slice(0, at) + other + token.slice(at + 1);
  };
  const broken = [flip(0), flip(45), flip(token.length - 2), token.slice(0, -4), `${token}AAAA`, 'x', '%20'];
  for (const one of broken) expectMissing(await follow(`${BASE_URL}${PATH}?token=${one}`));
  expectMissing(await follow(`${BASE_URL}${PATH}`));
  expectMissing(await follow(`${BASE_URL}${PATH}?token=`));
  const cursor = (await api.get('/contacts?limit=1')).body.page_info.end_cursor ?? 'x';
  expectMissing(await follow(`${BASE_URL}${PATH}?token=${cursor}`));
});

test('each token opens its own transcript', async () => {
  const [one, two] = [await insertTranscribed(harness), await insertTranscribed(harness)];
  expect((await follow(await linkTo(one))).body.data.recording_id).toBe(one);
  expect((await follow(await linkTo(two))).body.data.recording_id).toBe(two);
});

test('a key is no token, and takes none of its place', async () => {
  await insertTranscribed(harness);
  expectMissing(await harness.send('GET', PATH));
});

test('60 downloads a minute by one token, then 429 with Retry-After', async () => {
  const id = await insertTranscribed(harness);
  harness.clock.now = Math.ceil(harness.clock.now / 60_000) * 60_000 + 15_000;
  const [link, spare] = [await linkTo(id), await linkTo(id)];
  for (let count = 1; count <= 60; count++) expect((await follow(link)).status).toBe(200);
  const refused = await follow(link);
  expectError(refused, 429, 'RATE_LIMIT_EXCEEDED');
  expect(refused.headers.get('Retry-After')).toBe('45');
  expect((await follow(spare)).status).toBe(200);
  harness.clock.now += 45_000;
  expect((await follow(link)).status).toBe(200);
});

test("another organization's recording issues no link", async () => {
  const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
  const id = await insertTranscribed(harness);
  expectMissing(await other.get(`/recordings/${id}`));
});
