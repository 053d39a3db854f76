// An ingest into an organization that has no more room: what was stored stays, nothing of the rest is, and it goes on.
import { describe, expect, test } from 'bun:test';
import { QuotaError } from '../../db/engine/quota.ts';
import { counts, ingestSandbox, PAST } from '../support/ingest-database.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';

const sandbox = ingestSandbox();
const { byExternalId, calendar, recordings, create, get } = sandbox;

const where = () => ({ ...sandbox.harness, orgNumber: sandbox.options.orgNumber });

async function expectExact(): Promise<void> {
  expect(await countedIn(where())).toEqual(await recordTotalsOf(where()));
}

const segments = (speech: string) => [
  { speaker: { name: null, email: null }, start_time: 0, end_time: 1, speech },
];
const item = (id: string, speech: string) => ({ external_id: id, title: 'Call', segments: segments(speech) });

describe('an ingest', () => {
  test('counts transcripts, and stops at the one for which there is no room', async () => {
    await setQuota(where(), { bytes: 2_000 });
    expect(counts(await recordings(item('a', 'x'.repeat(500)), item('b', 'ö'.repeat(100))))).toEqual([
      2, 0, 0, 0,
    ]);
    await expectExact();
    const stopped = recordings(item('c', 'short'), item('d', 'x'.repeat(2_000)), item('e', 'short'));
    await expect(stopped).rejects.toBeInstanceOf(QuotaError);
    expect([...(await byExternalId('recordings')).keys()].sort()).toEqual(['a', 'b', 'c']);
    await expectExact();
    await setQuota(where(), { bytes: 4_000 });
    const again = [item('c', 'short'), item('d', 'x'.repeat(2_000)), item('e', 'short')];
    expect(counts(await recordings(...again))).toEqual([2, 0, 1, 0]);
    // A transcript that is shorter, or taken away, gives room.
    expect(counts(await recordings({ ...item('d', ''), segments: [] }, item('a', 'y'.repeat(499))))).toEqual([
      ...[0, 2, 0, 0],
    ]);
    await expectExact();
  });

  test('stores a meeting with what is logged of it, or neither', async () => {
    await create('contacts', { email: 'ada@x.test' });
    // The first pipeline, the contact, and room for one more.
    await setQuota(where(), { records: 3 });
    const event = `UID:a@x\n${PAST}\nATTENDEE:mailto:ada@x.test`;
    await expect(calendar([event])).rejects.toBeInstanceOf(QuotaError);
    expect(await get('meetings')).toEqual([]);
    expect(await get('interactions')).toEqual([]);
    await expectExact();
    await setQuota(where(), { records: 4 });
    expect(counts(await calendar([event]))).toEqual([1, 0, 0, 0]);
    expect((await get('interactions')).length).toBe(1);
    await expectExact();
  });
});
