// A server of PostgreSQL that is back at an earlier time, as after a failover or a recovery that lost the last writes.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { renameSync, rmSync } from 'node:fs';
import { ProcessSignals } from '../../db/engine/change-signals.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

const LONG_MS = 300_000;
// More than there are until then.
const TRANSACTIONS = 60;

describe.skipIf(postgresPrograms === null)('a node', () => {
  let server: PostgresServer;
  let harness: Harness;
  let api: Client;
  beforeAll(async () => {
    // So that writes have the numbers of those that were lost.
    server = await PostgresServer.start({ settings: { autovacuum: 'off' } });
    harness = await startHarness({ db: server.address() });
    api = clientOf(harness);
  }, LONG_MS);
  afterAll(async () => {
    await harness?.close();
    await server?.close();
  });

  const isBack = () => until(async () => (await api.get('/contacts')).status === 200);

  /** Has the server forget what is written meanwhile. */
  async function losing(write: () => Promise<void>): Promise<void> {
    const kept = `${server.data}-kept`;
    await server.stop();
    Bun.spawnSync(['cp', '-a', server.data, kept]);
    await server.start();
    await isBack();
    await write();
    await server.stop();
    rmSync(server.data, { recursive: true });
    renameSync(kept, server.data);
    await server.start();
    await isBack();
  }

  test(
    'finds what the index has now, not what it had under the same numbers',
    async () => {
      const transaction = async () => Number((await server.sql('select txid_current() as id'))[0]?.id);
      const next = (await transaction()) + TRANSACTIONS;
      const rename = async ({ id }: Json) => {
        await api.update('contacts', id, { last_name: 'Zeta' });
        // Of the transaction that the index is written in, whatever else had one.
        while ((await transaction()) < next) {}
        await indexAll(harness);
      };
      const found = async () =>
        (await api.list('/search?q=zeta+person')).map(({ record }: Json) => record.first_name);
      const [ada, bob] = [
        await api.create('contacts', { first_name: 'Ada Person' }),
        await api.create('contacts', { first_name: 'Bob Person' }),
      ];
      await indexAll(harness);
      const runs = () => server.sql('select run, xmin::text from search_runs order by run');
      let lost: Json;
      await losing(async () => {
        await rename(ada);
        expect(await found()).toEqual(['Ada Person']);
        lost = await runs();
      });
      await rename(bob);
      expect(await runs()).toEqual(lost);
      expect(await found()).toEqual(['Bob Person']);
    },
    LONG_MS,
  );

  test(
    'lets those who read lost changes begin again, and others go on',
    async () => {
      const now = async () => (await api.get('/changes?start=now')).body.page_info.end_cursor;
      const after = (cursor: string) => api.get(`/changes?cursor=${cursor}`);
      const before = await now();
      let lost = '';
      const waiting: ReturnType<typeof after>[] = [];
      await losing(async () => {
        for (const name of ['Lost', 'Lost too']) await api.create('tasks', { name });
        lost = await now();
        using waits = spyOn(ProcessSignals.prototype, 'wait');
        waiting.push(after(`${lost}&wait=25`));
        await until(() => waits.mock.calls.length > 0);
        // It looks once at what is there, no later than this does.
        await harness.store.signals.wait(harness.orgNumber, 0, new AbortController().signal);
      });
      for (const reply of waiting) expectFault(await reply, 'VALIDATION_OUT_OF_RANGE', 'cursor');
      const made = [await api.create('tasks', { name: 'A' }), await api.create('tasks', { name: 'B' })];
      expect((await after(before)).body.data.map(({ record_id }: Json) => record_id)).toEqual(
        made.map(({ id }) => id),
      );
      expectFault(await after(lost), 'VALIDATION_OUT_OF_RANGE', 'cursor');
    },
    LONG_MS,
  );
});
