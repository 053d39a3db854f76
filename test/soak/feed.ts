// `bun run soak:feed`: consumers that know only HTTP keep exact copies, whatever happens to the servers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { PostgresServer } from '../support/postgres.ts';
import { deleteWithDependents } from './feed/dependents.ts';
import type { FollowedFigures } from './feed/followed.ts';
import { removeOldChanges, type Waits } from './feed/retention.ts';
import { streamThroughWrites } from './feed/streams.ts';
import { followOneServer, followTwoNodes, type TrialExtent } from './feed/trials.ts';
import { sendToFailingReceiver } from './feed/webhooks.ts';
import { runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:feed [--rounds N] [--clients N] [--seconds N] [--changes N] [--dependents N] [--writes N]
                    [--only server|nodes|retention|dependents|streams|webhooks]
  --rounds      how often everything happens (20)
  --clients     that write (8)
  --seconds     between two events (1)
  --changes     that are too old to be kept (1000000)
  --dependents  of each record that is deleted and restored (100000)
  --writes      a second, while 20 streams are open, for a minute (2000)
  --only        just that part: server is one on a file, killed, restarted, taken over and restored from a backup;
                nodes are two on PostgreSQL, each killed in turn; retention removes old changes while others write;
                dependents deletes and restores records on which many depend while others write;
                streams are of a server that is killed ten times, without and with --readers; webhooks go to
                a receiver that fails, is slow, and is killed in each round`;

const PAUSE_MS = 10;
const STREAMS = 20;
// No write of another organization takes longer.
const WAIT_MS_MAX = 1_000;
// For a record with 100,000 dependents. On SQLite, all others wait as long.
const SECONDS_MAX = 5;

const PARTS: Record<string, (extent: TrialExtent) => Promise<FollowedFigures>> = {
  server: async (extent) => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
    return followOneServer(folder, extent).finally(() => rmSync(folder, { recursive: true }));
  },
  nodes: async (extent) => {
    const server = await PostgresServer.start();
    return followTwoNodes(server.address(), extent).finally(() => server.close());
  },
};

async function follow(
  name: string,
  part: (extent: TrialExtent) => Promise<FollowedFigures>,
  extent: TrialExtent,
) {
  try {
    const { acknowledged, changes, copies, failures, faults } = await part(extent);
    const text = `${acknowledged} writes acknowledged, each in the log; ${changes} changes read, copied ${copies.join(' and ')} times; `;
    report(name, faults.length === 0 && acknowledged > 0, `${text}${failures} requests without a response`);
    show(faults);
  } catch (error) {
    report(name, false, error instanceof Error ? error.message : String(error));
  }
}

function sayWaits({ count, p50, p99, longest }: Waits): string {
  return `${count} writes, ${[p50, p99, longest].map((ms) => ms.toFixed(1)).join(' / ')} ms`;
}

async function removeChanges(changes: number): Promise<void> {
  const { removed, seconds, other, own, calm } = await removeOldChanges(changes);
  const text = `${removed} changes removed in ${seconds.toFixed(1)} s; p50 / p99 / longest of another organization: `;
  report(
    'retention',
    other.longest < WAIT_MS_MAX,
    `${text}${sayWaits(other)} (before it ${sayWaits(calm)}); of the same: ${sayWaits(own)}`,
  );
}

async function deleteMany(dependents: number): Promise<void> {
  for (const { name, seconds, cpuSeconds, other } of await deleteWithDependents(dependents)) {
    const took = `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU time`;
    const isQuick = seconds < SECONDS_MAX && (!isPostgres || other.longest < WAIT_MS_MAX);
    report(name, isQuick, `${took}; p50 / p99 / longest of another organization: ${sayWaits(other)}`);
  }
}

async function stream(writesPerSecond: number, flags: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const extent = { streams: STREAMS, writesPerSecond, seconds: 60, kills: 10, flags };
  const figures = await streamThroughWrites(join(folder, 'crm.db'), extent);
  rmSync(folder, { recursive: true });
  const { changes, perSecond, events, opened, p50, p99, faults } = figures;
  const text = `${changes} changes, ${perSecond.toFixed(0)} per second; ${events} events of ${opened} streams, `;
  const isWhole = faults.length === 0 && events === STREAMS * changes;
  report(['streams', ...flags].join(' '), isWhole, `${text}${p50} / ${p99} ms after the write (p50 / p99)`);
  show(faults);
}

async function send(kills: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const extent = { writeMs: 5_000, kills, patienceMs: 60_000 };
  const { changes, requests, refused, faults } = await sendToFailingReceiver(join(folder, 'crm.db'), extent);
  rmSync(folder, { recursive: true });
  report(
    'webhooks',
    faults.length === 0 && changes > 0,
    `${changes} changes, ${requests} requests, ${refused} refused`,
  );
  show(faults);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      rounds: { ...text, default: '20' },
      clients: { ...text, default: '8' },
      seconds: { ...text, default: '1' },
      changes: { ...text, default: '1000000' },
      dependents: { ...text, default: '100000' },
      writes: { ...text, default: '2000' },
      only: text,
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return console.log(USAGE);
  if (
    values.only !== undefined &&
    ![...Object.keys(PARTS), 'retention', 'dependents', 'streams', 'webhooks'].includes(values.only)
  )
    throw new Error(USAGE);
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${values.rounds} rounds`);
  const extent = {
    rounds: Number(values.rounds),
    restMs: Number(values.seconds) * 1_000,
    amount: { clients: Number(values.clients), pauseMs: PAUSE_MS },
  };
  const isWanted = (name: string) => values.only === undefined || values.only === name;
  for (const [name, part] of Object.entries(PARTS)) if (isWanted(name)) await follow(name, part, extent);
  if (isWanted('retention')) await removeChanges(Number(values.changes));
  if (isWanted('dependents')) await deleteMany(Number(values.dependents));
  if (isWanted('streams'))
    for (const flags of [[], ['--readers', '2']]) await stream(Number(values.writes), flags);
  if (isWanted('webhooks')) await send(extent.rounds);
  exitWithVerdict();
}

await main();
