// Waiting for changes: woken by each commit of any process, by nothing else, and always let go.
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { lastChange } from '../../db/engine/change-log.ts';
import { type ChangeSignals, ProcessSignals } from '../../db/engine/change-signals.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { openStore, type Store } from '../../db/store.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { Channel } from '../../server/readers/channel.ts';
import { remoteSignals, type WaitKind, waitHandlers } from '../../server/readers/forwarded-waits.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import * as postgres from '../support/on-postgres.ts';
import { roundThat } from '../support/rounds.ts';

let harness: Harness;
/** As another process has it. */
let other: Store;
let remote: ChangeSignals;
beforeAll(async () => {
  harness = await startHarness();
  other = await openStore(harness.dbPath);
  const main: Channel<never> = new Channel(
    { post: (messages) => thread.receive(messages), gather: queueMicrotask },
    waitHandlers(harness.store.signals),
  );
  const thread: Channel<WaitKind> = new Channel(
    { post: (messages) => main.receive(messages), gather: queueMicrotask },
    {},
  );
  remote = remoteSignals(thread);
});
afterAll(async () => {
  await other.close();
  await harness.close();
});

const write = (store: Store, orgNumber = harness.orgNumber) =>
  store.write(orgNumber, async (trx) => {
    const now = Date.now();
    const records = [{ id: recordId(now), data: { first_name: 'A' } }];
    const origin = { orgNumber, createdBy: 'integration', now };
    await insertReservedRecords(actingAs(trx, OPERATOR), contacts, origin, records);
    return lastChange(trx, orgNumber);
  });

/** The state of a wait, which changes without being asked. */
function waiting(signals: ChangeSignals, after: number, orgNumber = harness.orgNumber) {
  const ending = new AbortController();
  const state = { isOver: false, end: () => ending.abort(), ended: Promise.resolve() };
  state.ended = signals.wait(orgNumber, after, ending.signal).then(() => {
    state.isOver = true;
  });
  return state;
}

/** Long enough for what is wrong to show. */
const rest = () => Bun.sleep(400);

for (const where of ['of the process', 'of another thread']) {
  const signalsOf = () => (where === 'of the process' ? harness.store.signals : remote);

  test(`a wait ${where} is over once the organization has a further change, not before`, async () => {
    const { store, otherOrgNumber } = harness;
    const last = await write(store);
    const wait = waiting(signalsOf(), last);
    await write(store, otherOrgNumber);
    await store.write('accounts', async () => undefined);
    const failing = store.write(harness.orgNumber, async (trx) => {
      await lastChange(trx, harness.orgNumber);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    await rest();
    expect(wait.isOver).toBeFalse();
    expect(await write(store)).toBe(last + 1);
    await wait.ended;
    const later = waiting(signalsOf(), last + 1);
    await rest();
    expect(later.isOver).toBeFalse();
    await write(store);
    await later.ended;
  });

  test(`a wait ${where} for what is there already is over at once`, async () => {
    const last = await write(other);
    await waiting(signalsOf(), last - 1).ended;
    await waiting(signalsOf(), 0).ended;
  });

  test(`a wait ${where} is over when it is called off`, async () => {
    const last = await write(harness.store);
    const wait = waiting(signalsOf(), last);
    await rest();
    expect(wait.isOver).toBeFalse();
    wait.end();
    await wait.ended;
    await signalsOf().wait(harness.orgNumber, last, AbortSignal.abort());
  });

  postgres.test(`a wait ${where} is over if the organization has lost that change`, async () => {
    const last = await write(harness.store);
    await waiting(signalsOf(), last + 1).ended;
  });

  test(`a wait ${where} is over within a second of a change by another process`, async () => {
    for (let round = 0; round < 3; round++) {
      const last = await write(harness.store);
      const wait = waiting(signalsOf(), last);
      if (round > 0) await rest();
      expect(wait.isOver).toBeFalse();
      await write(other);
      const committedAt = performance.now();
      await wait.ended;
      // A second, and what a busy machine takes.
      expect(performance.now() - committedAt).toBeLessThan(3_000);
    }
  });
}

test('many that wait at once are each woken, and no change is missed between reading and waiting', async () => {
  const { store, orgNumber } = harness;
  const first = await write(store);
  const rounds = 60;
  const followers = Array.from({ length: 20 }, async (_, index) => {
    const signals = index % 2 === 0 ? store.signals : remote;
    let seen = first;
    while (seen < first + rounds) {
      await waiting(signals, seen).ended;
      const row = await store.read
        .selectFrom('org_clocks')
        .select('last_change')
        .where('org_id', '=', orgNumber)
        .executeTakeFirstOrThrow();
      expect(row.last_change).toBeGreaterThan(seen);
      seen = row.last_change;
    }
  });
  for (let round = 0; round < rounds; round++) await write(round % 3 === 0 ? other : store);
  await Promise.all(followers);
}, 300_000);

test('closing the store ends every wait', async () => {
  const closing = await openStore(harness.dbPath);
  const last = await write(closing);
  const waits = [1, 2, 3].map(() => waiting(closing.signals, last));
  await rest();
  expect(waits.map(({ isOver }) => isOver)).toEqual([false, false, false]);
  await closing.close();
  await Promise.all(waits.map(({ ended }) => ended));
  await waiting(closing.signals, last).ended;
});

postgres.describe('between nodes', () => {
  const admin = isPostgres ? new Bun.SQL(process.env.CRM_TEST_DB ?? '', { max: 1 }) : null;
  afterAll(() => admin?.close());
  // Sessions whose last statement began to listen.
  const listening = async () =>
    (await admin?.unsafe(`select pid from pg_stat_activity where datname = $1 and query ilike 'listen %'`, [
      new URL(harness.dbPath).pathname.slice(1),
    ])) as { pid: number }[];

  postgres.test(
    'a notification wakes sooner than a look, also once a lost connection is back',
    async () => {
      for (const isLost of [false, true]) {
        let last = await write(other);
        await waiting(harness.store.signals, last - 1).ended;
        while ((await listening()).length === 0) await Bun.sleep(20);
        if (isLost) {
          const [{ pid } = { pid: 0 }] = await listening();
          await admin?.unsafe('select pg_terminate_backend($1)', [pid]);
          // Woken by looking, meanwhile.
          const wait = waiting(harness.store.signals, last);
          last = await write(other);
          await wait.ended;
          while ((await listening()).every((one) => one.pid === pid)) await Bun.sleep(20);
        }
        using _looks = spyOn(ProcessSignals.prototype, 'look').mockImplementation(() => undefined);
        const wakeMs = async () => {
          const wait = waiting(harness.store.signals, last);
          await Bun.sleep(80);
          last = await write(other);
          const committedAt = performance.now();
          await wait.ended;
          return performance.now() - committedAt;
        };
        expect(await roundThat((ms) => ms < 200, wakeMs)).toBeLessThan(200);
      }
    },
    300_000,
  );

  postgres.test('a node sends few notifications, whatever it commits', async () => {
    const heard: string[] = [];
    const client = new Bun.SQL(harness.dbPath, { max: 1 });
    const subscription = await client.listen('crm_changes', (text) => heard.push(text));
    const begunAt = performance.now();
    let last = 0;
    for (let count = 0; count < 100; count++) last = await write(harness.store);
    const ms = performance.now() - begunAt;
    while (!heard.at(-1)?.includes(`${harness.orgNumber}:${last}`)) await Bun.sleep(10);
    expect(heard.length).toBeLessThan(ms / 50 + 3);
    await subscription.unlisten();
    await client.close();
  });
});
