// A client that walks by updated_since while two nodes write, whose clocks are apart: it misses nothing.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStore, type Store } from '../../db/store.ts';
import { appOn, type Harness, type Json, type Send, sender, startHarness } from '../support/harness.ts';
import { describe } from '../support/on-postgres.ts';

const WRITES = Number(process.env.NODES_WRITES ?? 300);
// Less than what a node may be off.
const APART_MS = 4_000;

describe('two nodes whose clocks are apart', () => {
  let harness: Harness;
  let other: Store;
  let writers: Send[];
  beforeAll(async () => {
    harness = await startHarness();
    other = await openStore(harness.dbPath);
    writers = await Promise.all(
      [harness.store, other].map(async (store, index) => {
        const clock = {
          get now() {
            return Date.now() + index * APART_MS;
          },
        };
        const app = await appOn(store, clock);
        return sender((request) => app.handle(request), harness);
      }),
    );
  });
  afterAll(async () => {
    await other.close();
    await harness.close();
  });

  /** Asks one node and then the other for what came since the last record that was seen, until told to stop. */
  async function follow(isOver: () => boolean): Promise<{ versions: Set<string>; looks: number }> {
    const versions = new Set<string>();
    let since = 0;
    for (let looks = 1; ; looks++) {
      const wasOver = isOver();
      const send = writers[looks % 2] ?? harness.send;
      let latest = since;
      for (let cursor = ''; ; ) {
        const query = `updated_since=${since}&sort_by=updated_at&sort_direction=asc&limit=50${cursor}`;
        const { status, body } = await send('GET', `/api/v2/contacts?${query}`);
        expect(status).toBe(200);
        for (const { id, updated_at } of body.data) {
          versions.add(`${id} ${updated_at}`);
          latest = Math.max(latest, Date.parse(updated_at));
        }
        if (!body.page_info.has_next_page) break;
        cursor = `&cursor=${body.page_info.end_cursor}`;
      }
      since = latest;
      if (wasOver) return { versions, looks };
    }
  }

  test(`make ${2 * WRITES} records, and a client that walks by updated_since sees all of them`, async () => {
    let isOver = false;
    const written: Json[] = [];
    const write = async (send: Send, index: number) => {
      const { body } = await send('POST', '/api/v2/contacts', { body: { first_name: `W${index}` } });
      written.push(body.data);
    };
    const following = follow(() => isOver);
    const lane = async (send: Send, from: number) => {
      for (let index = from; index < WRITES; index += 4) await write(send, index);
    };
    await Promise.all(writers.flatMap((send) => [0, 1, 2, 3].map((from) => lane(send, from))));
    isOver = true;
    const { versions, looks } = await following;
    expect(looks).toBeGreaterThan(3);
    expect(written).toHaveLength(2 * WRITES);
    const missed = written.filter(({ id, updated_at }) => !versions.has(`${id} ${updated_at}`));
    expect(missed).toEqual([]);
    expect(new Set(written.map(({ updated_at }) => updated_at)).size).toBe(2 * WRITES);
  }, 300_000);
});
