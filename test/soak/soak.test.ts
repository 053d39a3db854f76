// The long trials in short: a mixed load, kills, odd requests and misplaced keys, on the compiled executable.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { BINARY, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { until } from '../support/until.ts';
import { Fuzzing } from './fuzz/run.ts';
import { CLIENTS, HostileTrial } from './hostile/trial.ts';
import { Kills } from './killed/cycles.ts';
import { Ledger } from './killed/ledger.ts';
import { limitsFor, MixedLoad } from './mixed/load.ts';
import { type Sample, slopeOf } from './samples.ts';
import { journey } from './secrets/journey.ts';
import { Search } from './secrets/needles.ts';
import { ingestReadOnly, NO_LIMITS, Node } from './service.ts';

const isBuilt = existsSync(BINARY);
if (!isBuilt) console.warn(`skipped: ${BINARY} is not built; run "bun run build"`);

const LONG = 600_000;

// All of them at once keep a machine busy by themselves.
const FEWER_CLIENTS = CLIENTS.map((client) => ({ ...client, count: Math.ceil(client.count / 4) }));

const sandboxes: Sandbox[] = [];
const nodes: Node[] = [];
afterAll(async () => {
  for (const node of nodes) await node.kill();
  for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]();
});

async function emptySandbox(): Promise<Sandbox> {
  const sandbox = await Sandbox.withDatabase([BINARY]);
  sandboxes.push(sandbox);
  return sandbox;
}

async function prepared(sandbox: Sandbox, args: readonly string[]): Promise<Node> {
  const node = await Node.prepare(sandbox.database, args);
  nodes.push(node);
  return node;
}

describe.skipIf(!isBuilt)('for a while the executable', () => {
  test(
    'answers a mixed load as it must, beside a HUP',
    async () => {
      const sandbox = await emptySandbox();
      const shape = { organizations: 1, rate: 200 };
      const load = await MixedLoad.prepare(sandbox.database, shape);
      const node = await prepared(sandbox, limitsFor(shape));
      await node.start();
      await load.start(node.url);
      await Bun.sleep(2_000);
      node.signal('SIGHUP');
      const { answered } = load.traffic;
      await Bun.sleep(2_000);
      await until(() => load.traffic.answered > answered + 50);
      const { unexpected } = await load.end();
      expect(unexpected).toEqual([]);
      expect(await node.stop()).toBe(0);
    },
    LONG,
  );

  test(
    'keeps what it acknowledged, whenever it is killed',
    async () => {
      const sandbox = await emptySandbox();
      const key = await sandbox.ok(['init', '--org', 'Kills']);
      const ledger = new Ledger();
      const node = await prepared(sandbox, NO_LIMITS);
      const target = { db: sandbox.database, folder: sandbox.folder, key, node, ledger };
      const kills = new Kills(target, isPostgres ? 0 : 2);
      await kills.run(4);
      expect([ledger.lost, ledger.doubled, ledger.faults]).toEqual([0, 0, []]);
      expect(ledger.acknowledged).toBeGreaterThan(0);
      expect(ledger.changes.count).toBeGreaterThan(ledger.acknowledged / 2);
    },
    LONG,
  );

  // How long others wait is for the hour: here it is that they are answered.
  test.skipIf(isPostgres)(
    'serves one organization while the clients of another are hostile',
    async () => {
      const sandbox = await emptySandbox();
      const trial = await HostileTrial.start(sandbox.database, []);
      try {
        await trial.startAttack(FEWER_CLIENTS);
        const isThere = (client: string) => trial.attack.outcomes.has(client);
        while (!['what is malformed', 'keys that are none'].every(isThere)) await Bun.sleep(50);
        const unexpected: string[] = [];
        await until(async () => {
          const taken = await trial.take();
          unexpected.push(...taken.unexpected);
          return taken.waits.length > 0;
        });
        await trial.end();
        expect([unexpected, trial.attack.faults]).toEqual([[], []]);
        expect(await trial.node.stop()).toBe(0);
      } finally {
        await trial.kill();
      }
    },
    LONG,
  );

  test(
    'has an answer to odd requests, and to bytes that are none',
    async () => {
      const sandbox = await emptySandbox();
      const v2 = await sandbox.ok(['init', '--org', 'Fuzz']);
      const v1 = await sandbox.ok(['keys', 'issue', '--org', 'Fuzz', '--api', 'v1', '--all-scopes']);
      const user = await sandbox.ok(['users', 'create', 'user@fuzz.test', '--org', 'Fuzz', '-o', 'json']);
      await ingestReadOnly(sandbox.database, ['--org', 'Fuzz', '--owner', 'user@fuzz.test']);
      const node = await prepared(sandbox, NO_LIMITS);
      await node.start();
      const fuzzing = new Fuzzing(node.url, { v1, v2 }, 20_261_122, JSON.parse(user).id);
      await fuzzing.run(1_000);
      expect(fuzzing.faults).toEqual([]);
      expect(fuzzing.statuses.get(200)).toBeGreaterThan(50);
    },
    LONG,
  );

  test(
    'leaves no key and no token anywhere',
    async () => {
      const { hits, readable, failures, secrets } = await journey('json', [BINARY], { forms: ['json'] });
      expect([hits, readable]).toEqual([[], []]);
      expect(failures).toBeGreaterThan(0);
      expect(secrets.length).toBeGreaterThan(8);
    },
    LONG,
  );
});

test('a part of a key is found in every spelling', () => {
  const key = `service_live_${'0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'}123456`;
  const half = key.slice('service_live_'.length, 34);
  const spelled = [key, half, Buffer.from(half).toString('hex'), btoa(`user:${key}`), btoa(`ab${half}c`)];
  for (const text of [...spelled, [...half].toReversed().join('')]) {
    const search = new Search([{ name: 'key', text: key }]);
    search.in('text', Buffer.from(`before ${text} after`));
    expect(search.hits.length).toBeGreaterThan(0);
  }
  const search = new Search([{ name: 'key', text: key }]);
  search.in('text', Buffer.from(`service_live_ ${Bun.SHA256.hash(key, 'hex')}`));
  expect(search.hits).toEqual([]);
});

test('a slope is that of a line through what remains, with its error', () => {
  // What is not collected yet grows too, and does not count.
  const rssAt = (seconds: number) => 100 + seconds / 600 + (seconds % 180 === 0 ? 0 : seconds / 60);
  const samples = Array.from({ length: 720 }, (_, index) => ({
    seconds: index * 5,
    rss: rssAt(index * 5),
  }));
  const { perHour, error } = slopeOf(samples as Sample[], 'rss');
  expect(perHour).toBeCloseTo(6, 5);
  expect(error).toBeCloseTo(0, 5);
});
