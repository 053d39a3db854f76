// `bun run soak:hour`: an hour of mixed load on one server, and whether it takes more and more of anything.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHANGES_DAYS_DEFAULT } from '../../db/engine/changes-kept.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { limitsFor, MixedLoad } from './mixed/load.ts';
import { type Sample, Sampling, slopeOf } from './samples.ts';
import { Node, runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:hour [options]
  --minutes N      how long (60)
  --warm-up N      minutes before the slopes begin (30): until then the log of changes grows
  --rate N         requests a second (400)
  --readers N      threads that answer (0)
  --postgres       on a PostgreSQL server of its own
  --tls            over HTTPS, whose certificate each HUP reads again
  --out FILE       every sample, as lines of JSON`;

const ORGANIZATIONS = 8;
const SAMPLE_MS = 5_000;
const MINUTE_MS = 60_000;
const BACKUPS = ['--backup-every', '2m', '--keep', '10m=2m'];
const DAY_MS = 86_400_000;
// Old enough that nobody sends a request again, or reads its changes.
const AGE_MS = 5 * MINUTE_MS;

const PROBE = join(import.meta.dir, 'memory-probe.ts');

// What may come of noise alone: MiB an hour, and standard errors.
const GROWTH_MAX = 4;
// What objects take is known to the byte. The rest is not: SQLite fills its cache again after each write of another process,
// JavaScriptCore notes what it compiles for as long as it serves, and the allocator keeps what it may need again.
const HEAP_GROWTH_MAX = 1;
const ERRORS_MAX = 3;

interface Options {
  minutes: number;
  warmUp: number;
  rate: number;
  readers: number;
  tls: boolean;
  out: string | undefined;
}

async function soak(db: string, folder: string, options: Options): Promise<void> {
  const { minutes, warmUp, rate, readers, out } = options;
  const isFile = !db.startsWith('postgres');
  const shape = { organizations: ORGANIZATIONS, rate };
  const load = await MixedLoad.prepare(db, shape);
  const backupFolder = join(folder, 'backups');
  const args = [...limitsFor(shape), ...tlsFlags(folder, options.tls)];
  if (readers > 0) args.push('--readers', String(readers));
  if (isFile) args.push('--backup-dir', backupFolder, ...BACKUPS);
  const log = join(folder, 'log');
  const memory = join(folder, 'memory');
  const node = await Node.start(db, args, log, { BUN_OPTIONS: `--preload=${PROBE}`, SOAK_MEMORY: memory });
  const { pid } = node;
  const sampling = new Sampling(
    { pid, db, backupFolder, memory, ...(out !== undefined && { out }) },
    SAMPLE_MS,
  );
  await load.start(node.url);
  const auditDb = new Bun.SQL(isFile ? `sqlite://${db}` : db, isFile ? {} : { max: 1 });
  if (isFile) await auditDb.unsafe('pragma busy_timeout = 60000');
  await auditDb.unsafe(`drop trigger audit_log_kept${isFile ? '' : ' on audit_log'}`);
  for (let minute = 1; minute <= minutes; minute++) {
    await Bun.sleep(MINUTE_MS);
    node.signal('SIGHUP');
    await age(auditDb);
    progress(minute, load, sampling.samples.at(-1));
  }
  const traffic = await load.end();
  const samples = sampling.end();
  await auditDb.close();
  const code = await node.stop();
  const { answered, aborted, unexpected, slowestMs, statuses } = traffic;
  const counts = [...statuses].toSorted(([one], [other]) => one - other).map((pair) => pair.join(': '));
  const text = `${answered} answered (${counts.join(', ')}), ${aborted} cut off, ${unexpected.length} unexpected`;
  report('answers', unexpected.length === 0, `${text}; slowest ${Math.round(slowestMs)} ms`);
  show(unexpected);
  report('stopped', code === 0, `exit code ${code}`);
  const errors = await linesWith(log, '"level":"error"');
  report('log', errors.length === 0, `${errors.length} lines of errors`);
  show(errors);
  if (isFile) await reportFile(db, backupFolder);
  reportGrowth(samples.filter(({ seconds }) => seconds >= warmUp * 60));
}

function tlsFlags(folder: string, isAsked: boolean): string[] {
  if (!isAsked) return [];
  if (!hasOpenssl) throw new Error('openssl is needed, to make a certificate');
  const { certFile, keyFile } = makeCertificate(folder, '127.0.0.1');
  return ['--tls-cert', certFile, '--tls-key', keyFile];
}

// Stored responses are kept for a day, changes and the audit log for 30 days, longer than this runs. The first two are made
// older, so that the server removes as many as come, and entries of the audit log are deleted: else the database grows, and
// with it the part of it that is kept in memory.
async function age(sql: Bun.SQL): Promise<void> {
  const until = Date.now() - AGE_MS;
  for (const [table, column, keptMs] of [
    ['idempotency_keys', 'created_at', DAY_MS],
    ['changes', 'at', CHANGES_DAYS_DEFAULT * DAY_MS],
  ] as const) {
    const isYoung = `${column} between ${Date.now() - keptMs} and ${until}`;
    await sql.unsafe(`update ${table} set ${column} = ${column} - ${keptMs} where ${isYoung}`);
  }
  await sql.unsafe(`delete from audit_log where created_at < ${until}`);
}

function progress(minute: number, { traffic }: MixedLoad, sample: Sample | undefined): void {
  if (sample === undefined) return;
  const { rss, anonymous, heap, pages, descriptors, threads, database, wal, cpuSeconds } = sample;
  const parts = `heap ${heap.toFixed(1)}, cached pages ${pages.toFixed(1)}`;
  const memory = `${rss.toFixed(1)} MiB, ${anonymous.toFixed(1)} of it anonymous (${parts})`;
  const files = `database ${database.toFixed(1)}, wal ${wal.toFixed(1)}`;
  const counts = `${descriptors} descriptors, ${threads} threads, ${cpuSeconds.toFixed(0)} s CPU`;
  const answers = `${traffic.answered} answers, ${traffic.unexpected.length} unexpected`;
  console.log(`     minute ${minute}: ${memory}; ${files}; ${counts}; ${answers}`);
  show(traffic.unexpected.slice(-1));
}

async function linesWith(file: string, part: string): Promise<string[]> {
  const found: string[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of Bun.file(file).stream()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    found.push(...lines.filter((line) => line.includes(part)));
  }
  return found;
}

async function reportFile(db: string, backupFolder: string): Promise<void> {
  const sql = new Bun.SQL(`sqlite://${db}`);
  const [{ integrity_check }] = await sql.unsafe('pragma integrity_check');
  const foreign = await sql.unsafe('pragma foreign_key_check');
  await sql.close();
  report('the database', integrity_check === 'ok' && foreign.length === 0, integrity_check);
  const names = [...new Bun.Glob('crm-*.db').scanSync(backupFolder)].toSorted();
  const newest = names.at(-1);
  if (newest === undefined) return;
  const restored = `${db}-restored`;
  await runOnce(['restore', join(backupFolder, newest), '--confirm', '--db', restored]);
  report('backups', names.length <= 8, `${names.length} stay, the newest restored`);
}

function reportGrowth(samples: readonly Sample[]): void {
  const minutes = ((samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0)) / 60;
  for (const name of [
    'heap',
    'native',
    'pages',
    'rss',
    'anonymous',
    'database',
    'wal',
    'descriptors',
    'threads',
  ] as const) {
    const { perHour, error } = slopeOf(samples, name);
    const values = samples.map((one) => one[name]);
    const range = `from ${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
    const isSteady =
      perHour < (name === 'heap' ? HEAP_GROWTH_MAX : GROWTH_MAX) || perHour < ERRORS_MAX * error;
    const slope = `${perHour >= 0 ? '+' : ''}${perHour.toFixed(2)} ± ${error.toFixed(2)} an hour`;
    report(name, isSteady, `${slope}, ${range}, over ${minutes.toFixed(0)} minutes`);
  }
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      minutes: { ...text, default: '60' },
      'warm-up': { ...text, default: '30' },
      rate: { ...text, default: '400' },
      readers: { ...text, default: '0' },
      ...{ postgres: flag, tls: flag, out: text, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  const [minutes, warmUp, rate] = [Number(values.minutes), Number(values['warm-up']), Number(values.rate)];
  const options = {
    minutes,
    warmUp,
    rate,
    readers: Number(values.readers),
    tls: values.tls,
    out: values.out,
  };
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${minutes} minutes, ${rate} requests a second`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  try {
    await soak(server?.address() ?? join(folder, 'crm.db'), folder, options);
  } finally {
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

await main();
