// Every operation of version 2 that is no GET: a dry run of it changes no table, and a repeated one replays its response.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { prepared } from '../support/contract-walk.ts';
import { ROWS } from '../support/endpoints.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { shapeOf } from '../support/shapes.ts';
import { tableDigests } from '../support/table-digests.ts';

const KEYED = ['POST', 'PATCH'];

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Without the instants that writes have taken. */
function withoutClocks({ org_clocks: _, ...rest }: Record<string, string>): Record<string, string> {
  return rest;
}

/** Makes the links that a batch is to remove. */
async function link(items: Json[]): Promise<void> {
  const body = items.map((item) => ({
    ...item,
    ...(item.of === 'notes.records' && { record_type: 'contact' }),
  }));
  const reply = await harness.send('POST', '/api/v2/links/batch', { body });
  expect(reply.body.data.summary.failed).toBe(0);
}

for (const [method, path, , success, body] of ROWS) {
  if (method === 'GET' || !path.startsWith('/api/v2')) continue;
  const status = Number(success.split(' ')[0]);
  const isRead = /\/(?:batch\/get|query|count)$/.test(path);
  // What clears something needs it set.
  const setting = ROWS.find(([other, same]) => method === 'DELETE' && other === 'PUT' && same === path);

  /** Makes the records that the operation names, and returns how to send it, any number of times. */
  const prepare = async () => {
    const raw = body === undefined ? {} : { raw: await prepared(harness, body) };
    const target = await prepared(harness, path);
    if (setting !== undefined)
      await harness.send('PUT', target, { raw: await prepared(harness, setting[4] ?? '') });
    if (path.endsWith('/links/batch/delete')) await link(JSON.parse(raw.raw ?? '[]'));
    return (headers: Record<string, string>) => harness.send(method, target, { ...raw, headers });
  };
  const expectDone = (reply: Reply, marked: { dry?: 'true'; replayed?: 'true' } = {}) => {
    const { headers } = reply;
    const marks = [headers.get('Dry-Run'), headers.get('Idempotent-Replayed')];
    expect([reply.status, ...marks]).toEqual([status, marked.dry ?? null, marked.replayed ?? null]);
    if (success.endsWith('batch')) expect(reply.body.data.summary).toMatchObject({ failed: 0 });
  };

  describe(`${method} ${path}`, () => {
    test('in a dry run is answered as it would be, and changes no table', async () => {
      const send = await prepare();
      const before = await tableDigests(harness);
      const dry = await send({ 'Dry-Run': 'true' });
      expectDone(dry, isRead ? {} : { dry: 'true' });
      expect(await tableDigests(harness)).toEqual(before);
      const real = await send({});
      expectDone(real);
      expect(shapeOf(dry.body)).toEqual(shapeOf(real.body));
      // So that there was something to change.
      const after = withoutClocks(await tableDigests(harness));
      expect(Bun.deepEquals(after, withoutClocks(before))).toBe(isRead);
    });

    if (!KEYED.includes(method)) return;
    test('is replayed to the byte, and carried out once', async () => {
      const send = await prepare();
      const headers = { 'Idempotency-Key': `${method} ${path}`.replaceAll(' ', '-') };
      const first = await send(headers);
      expectDone(first);
      const before = await tableDigests(harness);
      const again = await send(headers);
      expectDone(again, { replayed: 'true' });
      expect([again.text, again.headers.get('Location')]).toEqual([
        first.text,
        first.headers.get('Location'),
      ]);
      expect(await tableDigests(harness)).toEqual(before);
    });
  });
}
