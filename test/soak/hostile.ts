// `bun run soak:hostile`: an hour of hostile clients of one organization, and what another organization notices of them.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { QUOTA } from './hostile/attack.ts';
import { CLIENTS, HostileTrial } from './hostile/trial.ts';
import { type Sample, Sampling } from './samples.ts';
import { runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:hostile [options]
  --minutes N    how long (60)
  --readers N    threads that answer (0)
  --only WORD    the hostile clients whose name has it, and no others
  --out FILE     every sample, as lines of JSON`;

const MINUTE_MS = 60_000;
const SAMPLE_MS = 1_000;
const REST_MS = 20_000;
const LOWER = 10;
const MIB = 2 ** 20;
// What the trial holds a server to.
const P99_MS_MAX = 50;
const MEMORY_MIB_MAX = 700;
// Beside the records and the answers: pages that are not full, indexes, the other organization.
const OTHER_MIB_MAX = 128;
const WAL_MIB_MAX = 128;
// Once an hour for each key that lists contacts, and as often for one that walks a list to its end.
const AUDITED_MAX = 20;

const shareOf = (sorted: readonly number[], share: number) =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? 0;

/** How long requests took, in words. */
function spread(waits: readonly number[]): string {
  const sorted = waits.toSorted((one, other) => one - other);
  const [half, most, last] = [0.5, 0.99, 1].map((share) => shareOf(sorted, share).toFixed(1));
  return `${sorted.length} requests, p50 ${half} ms, p99 ${most} ms, slowest ${last} ms`;
}

interface Options {
  minutes: number;
  readers: number;
  only: string;
  out: string | undefined;
}

async function soak(folder: string, { minutes, readers, only, out }: Options): Promise<void> {
  const db = join(folder, 'crm.db');
  const log = join(folder, 'log');
  const trial = await HostileTrial.start(db, readers > 0 ? ['--readers', String(readers)] : [], log);
  const { node, attack } = trial;
  const { pid } = node;
  // Where cores are few, who is measured, and the server, are not to wait for those who are hostile.
  setPriority(LOWER);
  await Bun.sleep(Math.min(1, minutes / 5) * MINUTE_MS);
  console.log(`     alone: ${spread((await trial.take()).waits)}`);
  const watched = { pid, db, backupFolder: '', ...(out !== undefined && { out }) };
  const sampling = new Sampling(watched, SAMPLE_MS);
  await trial.startAttack(CLIENTS.filter(({ name }) => name.includes(only)));
  await trial.take();
  const [all, unexpected]: [number[], string[]] = [[], []];
  let phones = 0;
  const endAt = performance.now() + minutes * MINUTE_MS;
  for (let minute = 1; performance.now() < endAt; minute++) {
    await Bun.sleep(Math.min(MINUTE_MS, endAt - performance.now()));
    const taken = await trial.take();
    all.push(...taken.waits);
    unexpected.push(...taken.unexpected);
    phones += taken.phones;
    progress(minute, taken.waits, sampling.samples.at(-1));
    show([...taken.unexpected.slice(-1), ...attack.faults.slice(-1)]);
  }
  await trial.end();
  await Bun.sleep(Math.min(REST_MS, minutes * MINUTE_MS));
  const samples = sampling.end();
  const p99 = shareOf(
    all.toSorted((one, other) => one - other),
    0.99,
  );
  report('the other organization', p99 <= P99_MS_MAX, `${spread(all)} (${P99_MS_MAX} ms at most)`);
  report(
    'its answers',
    unexpected.length === 0 && phones > 0,
    `${unexpected.length} unexpected; ${phones} of phones`,
  );
  show(unexpected);
  report(
    'the hostile ones',
    attack.faults.length === 0,
    `${attack.faults.length} outcomes that should not be`,
  );
  show(summary(attack.faults));
  for (const [client, of] of attack.outcomes)
    console.log(`       ${client}: ${[...of].map(([outcome, count]) => `${outcome} × ${count}`).join(', ')}`);
  reportMemory(samples);
  await reportDisk(db, samples, statSync(log).size / MIB);
  await node.ready();
  const code = await node.stop();
  report('stopped', code === 0 && node.pid === pid, `exit code ${code}, by the process that was started`);
  const errors = (await Bun.file(log).text()).split('\n').filter((line) => line.includes('"level":"error"'));
  report('log', errors.length === 0, `${errors.length} lines of errors`);
  show(errors);
}

// Each once, with how often.
function summary(faults: readonly string[]): string[] {
  return [...Map.groupBy(faults, (fault) => fault)].map(([fault, of]) => `${of.length} × ${fault}`);
}

function progress(minute: number, waits: readonly number[], sample: Sample | undefined): void {
  if (sample === undefined) return;
  const { rss, database, wal, descriptors, cpuSeconds } = sample;
  const files = `database ${database.toFixed(0)}, wal ${wal.toFixed(0)}`;
  const counts = `${descriptors} descriptors, ${cpuSeconds.toFixed(0)} s CPU`;
  console.log(`     minute ${minute}: ${spread(waits)}; ${rss.toFixed(0)} MiB; ${files}; ${counts}`);
}

function reportMemory(samples: readonly Sample[]): void {
  const most = Math.max(...samples.map(({ rss }) => rss));
  const last = samples.at(-1)?.rss ?? 0;
  const text = `${most.toFixed(0)} MiB at most (${MEMORY_MIB_MAX}), ${last.toFixed(0)} at rest after it`;
  report('memory', most <= MEMORY_MIB_MAX, text);
}

async function reportDisk(db: string, samples: readonly Sample[], logMib: number): Promise<void> {
  const held = JSON.parse(await runOnce(['orgs', 'quota', 'Hostile', '-o', 'json', '--db', db]));
  const isKept =
    held.records <= QUOTA.records && held.bytes <= QUOTA.bytes && held.replay_bytes <= QUOTA.answers + MIB;
  const ofAll = [held.bytes / MIB, held.replay_bytes / MIB].map((mib) => `${mib.toFixed(0)} MiB`);
  report('budgets', isKept, `${held.records} records in ${ofAll[0]}, stored answers in ${ofAll[1]}`);
  const [database, wal] = (['database', 'wal'] as const).map((name) =>
    Math.max(...samples.map((sample) => sample[name])),
  ) as [number, number];
  const most = (QUOTA.bytes + QUOTA.answers) / MIB + OTHER_MIB_MAX;
  const text = `database ${database.toFixed(0)} MiB (${most}), wal ${wal.toFixed(0)} MiB (${WAL_MIB_MAX}) at most`;
  report('disk', database <= most && wal <= WAL_MIB_MAX, `${text}; ${logMib.toFixed(0)} MiB of log`);
  const sql = new Bun.SQL(`sqlite://${db}`);
  const [{ audited }] = await sql.unsafe(
    "select count(*) as audited from audit_log where action like '%export%'",
  );
  const [{ integrity_check }] = await sql.unsafe('pragma integrity_check');
  await sql.close();
  report('the audit log', audited <= AUDITED_MAX, `${audited} entries of exports`);
  report('the database', integrity_check === 'ok', integrity_check);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      minutes: { ...text, default: '60' },
      readers: { ...text, default: '0' },
      only: { ...text, default: '' },
      ...{ out: text, help: { type: 'boolean', default: false } },
    },
  });
  if (values.help) return console.log(USAGE);
  const { minutes, readers, only, out } = values;
  const options = { minutes: Number(minutes), readers: Number(readers), only, out };
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${options.minutes} minutes`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  try {
    await soak(folder, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

await main();
