// Recordings and their transcripts: seen over HTTP, on a real database.
import { describe, expect, test } from 'bun:test';
import { counts, ingestSandbox, PAST } from '../support/ingest-database.ts';

const sandbox = ingestSandbox();
const { get, byExternalId, calendar, recordings } = sandbox;

describe('recordings', () => {
  const segments = [
    { speaker: { name: 'Ada', email: 'ada@x.test' }, start_time: 0, end_time: 1.5, speech: 'Hello' },
  ];

  test('have the meeting, its owner, and a transcript behind a link', async () => {
    await calendar([`UID:a@x\n${PAST}\nORGANIZER:mailto:alice@acme.test`]);
    const [meeting] = await get('meetings');
    const item = {
      external_id: 'r',
      meeting_external_id: 'a@x',
      title: 'Kick-off',
      duration_seconds: 90.5,
      language: 'en',
      segments,
    };
    expect(counts(await recordings(item))).toEqual([1, 0, 0, 0]);
    expect(counts(await recordings(item))).toEqual([0, 0, 1, 0]);
    const [{ id }] = await get('recordings');
    const recording = await get(`recordings/${id}`);
    expect(recording).toMatchObject({
      meeting_id: meeting.id,
      owner_id: sandbox.alice,
      has_transcript: true,
      duration_seconds: 90.5,
    });
    const { pathname, search } = new URL(recording.transcript_url);
    const { body } = await sandbox.harness.send('GET', pathname + search, { key: null });
    expect(body.data).toEqual({ recording_id: id, meeting_id: meeting.id, language: 'en', segments });
    expect((await get('meetings'))[0].recording_ids).toEqual([id]);
  });

  test('have no transcript while it is made, nor where there was no audio', async () => {
    await recordings(
      { external_id: 'a', segments: null },
      { external_id: 'b', segments: [] },
      { external_id: 'c' },
    );
    const all = await byExternalId('recordings');
    expect([...all.values()].map((one) => one.has_transcript)).toEqual([false, false, false]);
    expect(counts(await recordings({ external_id: 'a', segments }))).toEqual([0, 1, 0, 0]);
    expect((await byExternalId('recordings')).get('a')?.has_transcript).toBe(true);
  });

  test('change in what is given only', async () => {
    await recordings({ external_id: 'a', title: 'Call', language: 'en', segments });
    expect(counts(await recordings({ external_id: 'a', language: 'de' }))).toEqual([0, 1, 0, 0]);
    const [{ id }] = await get('recordings');
    const { transcript_url, title } = await get(`recordings/${id}`);
    const { pathname, search } = new URL(transcript_url);
    const { body } = await sandbox.harness.send('GET', pathname + search, { key: null });
    expect([title, body.data.language, body.data.segments]).toEqual(['Call', 'de', segments]);
    await recordings({ external_id: 'a', segments: null });
    expect(await get(`recordings/${id}`)).toMatchObject({
      title: 'Call',
      has_transcript: false,
      transcript_url: null,
    });
  });

  test('of a meeting that is not there are a fault', async () => {
    await calendar([`UID:a@x\n${PAST}`]);
    const [{ id }] = await get('meetings');
    const report = await recordings(
      { external_id: 'a', meeting_id: id },
      { external_id: 'b', meeting_external_id: 'z' },
      { external_id: 'c', meeting_id: 'a@x' },
    );
    expect(counts(report)).toEqual([1, 0, 0, 0]);
    expect(report.faults.map(({ message }) => message)).toEqual([
      'meeting_external_id: the organization has no meeting z; ingest meetings first',
      'meeting_id: the organization has no meeting a@x; ingest meetings first',
    ]);
  });
});
