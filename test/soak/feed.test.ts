// Consumers of the log of changes in short: whatever happens to the servers, their copies are exact.
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { BINARY, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { streamThroughWrites } from './feed/streams.ts';
import { followOneServer, followTwoNodes } from './feed/trials.ts';
import { sendToFailingReceiver } from './feed/webhooks.ts';

const isBuilt = existsSync(BINARY);
if (!isBuilt) console.warn(`skipped: ${BINARY} is not built; run "bun run build"`);

const LONG = 1_200_000;
const EXTENT = { rounds: 1, restMs: 200, amount: { clients: 4, pauseMs: 10 } };

describe.skipIf(!isBuilt)('who follows the log of changes over HTTP has an exact copy', () => {
  test.skipIf(isPostgres)(
    'of a server that is killed, restarted, taken over, and set back to a backup, after which it copies again',
    async () => {
      await using sandbox = await Sandbox.withDatabase([BINARY]);
      const { acknowledged, changes, copies, faults } = await followOneServer(sandbox.folder, EXTENT);
      expect([faults, copies]).toEqual([[], [2, 2]]);
      expect(Math.min(acknowledged, changes)).toBeGreaterThan(0);
    },
    LONG,
  );

  test.skipIf(!isPostgres)(
    'of two nodes, which are killed in turn',
    async () => {
      await using sandbox = await Sandbox.withDatabase([BINARY]);
      const { acknowledged, changes, copies, faults } = await followTwoNodes(sandbox.database, EXTENT);
      expect([faults, copies]).toEqual([[], [1, 1]]);
      expect(Math.min(acknowledged, changes)).toBeGreaterThan(0);
    },
    LONG,
  );

  test(
    'of what streams bring, though some are slow, some come back, and the server is killed',
    async () => {
      await using sandbox = await Sandbox.withDatabase([BINARY]);
      const flags = isPostgres ? [] : ['--readers', '2'];
      const streams = { streams: 4, writesPerSecond: 400, seconds: 2, kills: 1, flags };
      const { changes, events, opened, faults } = await streamThroughWrites(sandbox.database, streams);
      expect([faults, events]).toEqual([[], streams.streams * changes]);
      expect(changes).toBeGreaterThan(0);
      expect(opened).toBeGreaterThan(streams.streams);
    },
    LONG,
  );
});

test.skipIf(!isBuilt)(
  'a receiver of webhooks that fails, is slow and is killed gets each change, and those of a record in order',
  async () => {
    await using sandbox = await Sandbox.withDatabase([BINARY]);
    const extent = { writeMs: 400, kills: 1, patienceMs: 30_000 };
    const { changes, refused, faults } = await sendToFailingReceiver(sandbox.database, extent);
    expect(faults).toEqual([]);
    expect(Math.min(changes, refused)).toBeGreaterThan(0);
  },
  LONG,
);
