// `bun run soak:nodes`: several nodes on one PostgreSQL, for minutes, against each other, their limits and all that befalls them.
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { FAULT_NAMES, soakFault, soakPromotion } from './faults.ts';
import type { Ledger } from './keyed-load.ts';
import { isExact, measureLimits } from './limits.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:nodes [--rounds N] [--minutes N] [--only races|limits|faults|promotion]
  --rounds   how often each fault comes, and the primary is lost (3)
  --minutes  whole minutes during which limits are measured (3)
  --only     just that part`;

// The long form of what bun test does in short.
const LONG_RACES = { NODES_ROUNDS: '200', NODES_KEYS: '1500', NODES_WRITES: '1023' };
const RACES_TIMEOUT_MS = 600_000;

async function races(): Promise<void> {
  const server = await PostgresServer.start();
  try {
    const tests = ['races', 'idempotency', 'walk'].map((name) => `test/nodes/${name}.test.ts`);
    const command = [process.execPath, 'test', '--timeout', String(RACES_TIMEOUT_MS), ...tests];
    const child = Bun.spawn(command, {
      ...{ env: { ...process.env, ...LONG_RACES, CRM_TEST_DB: server.address() } },
      ...{ stdout: 'ignore', stderr: 'pipe' },
    });
    const said = await child.stderr.text();
    for (const [, verdict, name = ''] of said.matchAll(/^\((pass|fail)\) (.*?)(?: \[[\d.]+ms\])?$/gm))
      report('two nodes at once', verdict === 'pass', name);
    if ((await child.exited) !== 0) report('two nodes at once', false, said.slice(-2_000));
  } finally {
    await server.close();
  }
}

async function limits(minutes: number): Promise<void> {
  const server = await PostgresServer.start();
  try {
    for (const minute of await measureLimits(server.address(), minutes)) {
      const { reset, ofOrganization, ofKeys, refused } = minute;
      const until = new Date(reset * 1_000).toISOString().slice(11, 16);
      const text = `${ofOrganization} let in, by key ${ofKeys.join(' + ')}; ${refused} refused`;
      report(`limits until ${until}`, isExact(minute), text);
    }
  } finally {
    await server.close();
  }
}

function reportLedger(name: string, ledger: Ledger): void {
  const { acknowledged, lost, doubled, repeated, replayed, unexpected, longestMs } = ledger;
  const isGood = lost === 0 && doubled === 0 && unexpected.length === 0 && acknowledged > 0;
  const seconds = (longestMs / 1_000).toFixed(1);
  const text = `${acknowledged} keys acknowledged, ${lost} lost, ${doubled} doubled; `;
  report(name, isGood, `${text}${repeated} repeats, ${replayed} replays, longest ${seconds} s`);
  show(unexpected);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      minutes: { type: 'string', default: '3' },
      only: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return console.log(USAGE);
  if (postgresPrograms === null) throw new Error("PostgreSQL's server is needed: apt-get install postgresql");
  const [rounds, minutes] = [Number(values.rounds), Number(values.minutes)];
  const parts: Record<string, () => Promise<void>> = {
    races,
    limits: () => limits(minutes),
    faults: async () => {
      for (const name of FAULT_NAMES) reportLedger(name, await soakFault(name, rounds));
    },
    promotion: async () => {
      for (let round = 0; round < rounds; round++)
        reportLedger('promotion of a standby', await soakPromotion());
    },
  };
  if (values.only !== undefined && parts[values.only] === undefined) throw new Error(USAGE);
  console.log(`${BINARY}, ${rounds} rounds, ${minutes} minutes`);
  for (const [name, part] of Object.entries(parts))
    if (values.only === undefined || values.only === name) await part();
  exitWithVerdict();
}

await main();
