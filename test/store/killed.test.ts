// kill -9 in mid-write: what was acknowledged is there, and repeating everything doubles none.
import { describe, expect, test } from 'bun:test';
import type { Json } from '../support/harness.ts';
import { allIds, Place, post, type Sent } from '../support/server-process.ts';

const place = new Place();

describe('kill -9 in the middle of writing', () => {
  const WRITES = 400;
  const KILL_AFTER = 120;

  test('loses no acknowledged row, and repeating everything doubles none', async () => {
    const { db, key } = await place.database();
    const first = await place.serve(db);
    const acknowledged = new Map<number, string>();
    const send = async (url: string, index: number) => {
      const name = { first_name: `K${index}` };
      // Every tenth is a batch of three.
      if (index % 10 === 0) return post(url, key, '/contacts/batch', [name, name, name], `key-${index}`);
      return post(url, key, '/contacts', name, `key-${index}`);
    };
    const idsOf = ({ body }: Sent): string[] => {
      const { data } = body;
      return data.items === undefined ? [data.id] : data.items.map((item: Json) => item.data.id);
    };
    let next = 0;
    const client = async () => {
      for (let index = next++; index < WRITES; index = next++) {
        const reply = await send(first.url, index).catch(() => undefined);
        if (reply === undefined) return;
        acknowledged.set(index, idsOf(reply).join());
        if (acknowledged.size === KILL_AFTER) first.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    await first.child.exited;
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILL_AFTER);
    expect(acknowledged.size).toBeLessThan(WRITES);

    const second = await place.serve(db);
    const survived = new Set(await allIds(second.url, key, 'contacts'));
    for (const ids of acknowledged.values())
      for (const id of ids.split(',')) expect(survived.has(id)).toBe(true);
    // Whatever was not acknowledged may be there or not, but a batch is there whole or not at all.
    const total = WRITES + 2 * (WRITES / 10);
    for (let index = 0; index < WRITES; index++) {
      const ids = idsOf(await send(second.url, index)).join();
      const before = acknowledged.get(index);
      if (before !== undefined) expect(ids).toBe(before);
      else if (survived.has(ids.split(',')[0] ?? ''))
        for (const id of ids.split(',')) expect(survived.has(id)).toBe(true);
    }
    const all = await allIds(second.url, key, 'contacts');
    expect([all.length, new Set(all).size]).toEqual([total, total]);
    second.child.kill('SIGTERM');
  }, 300_000);
});
