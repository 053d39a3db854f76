// `bun run bench`: crm against bare servers, and against another build of it; all in this run, what counts are the ratios.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Databases } from './databases.ts';
import { Fleet } from './fleet.ts';
import { FOLLOWING, measureFollowing } from './following.ts';
import { measureLarge } from './large/large.ts';
import { MEASUREMENTS, measured } from './measurements.ts';
import { OPERATIONS } from './operations.ts';
import { BARE_SERVERS, type Options, readOptions, USAGE } from './options.ts';
import { idle } from './process.ts';
import { jsonOf, newReport, type Report, reportOf } from './report.ts';
import { measure } from './rounds.ts';
import { type Binary, findBinary, isBuild, killServers, type ServerName } from './servers.ts';
import { headerLine, measurementLines, operationLines } from './terminal.ts';

/**
 * The builds that the environment names, the one that is measured first; without a log of changes too, and with readers and
 * on PostgreSQL if that is asked for.
 */
function binaries({ postgres, readers }: Options): Binary[] {
  const { CRM_BIN_BEFORE } = process.env;
  const binary = findBinary();
  const found: Binary[] = [{ name: 'crm', binary }];
  if (CRM_BIN_BEFORE !== undefined) found.push({ name: 'before', binary: resolve(CRM_BIN_BEFORE) });
  found.push({ name: 'crm-unlogged', binary, flags: ['--changes-days', '0'] });
  if (readers !== undefined)
    found.push({ name: 'crm-readers', binary, flags: ['--readers', String(readers)] });
  if (postgres !== undefined) found.push({ name: 'crm-postgres', binary });
  for (const { binary: path } of found)
    if (!existsSync(path)) throw new Error(`${path} is missing; bun run build makes dist/crm`);
  return found;
}

async function run(options: Options, folder: string, databases?: Databases): Promise<Report> {
  const look = { isTerminal: process.stdout.isTTY && process.env.NO_COLOR === undefined };
  const print = (lines: readonly string[]) => console.log(lines.join('\n'));
  const names = [...[...OPERATIONS, ...MEASUREMENTS].map(({ name }) => name), ...FOLLOWING];
  const unknown = options.only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${names.join(', ')}`);
  const isAsked = ({ name }: { name: string }) => options.only.length === 0 || options.only.includes(name);
  const builds = binaries(options);
  const report = newReport(builds, options, await databases?.describe());
  await using fleet = new Fleet();
  process.stderr.write(`Filling databases with ${options.contacts.toLocaleString('en')} contacts …\n`);
  await fleet.start(folder, {
    binaries: builds,
    bare: BARE_SERVERS.filter((name) => options.against.includes(name)),
    contacts: options.contacts,
    starts: options.rounds,
    ...(databases !== undefined && { databases }),
  });
  // Otherwise the first operation would pay for what seeding has left to do.
  await Promise.all(fleet.servers.map(({ pid }) => idle(pid, options.idleSeconds)));
  print([headerLine(look)]);
  for (const operation of OPERATIONS.filter(isAsked)) {
    const has = (name: string) => operation.bare.some((bare) => bare === name);
    const isMeasured = (name: ServerName) =>
      name === 'crm-unlogged' ? operation.isLogged === true : isBuild(name) || has(name);
    const servers = fleet.servers.filter(({ name }) => isMeasured(name));
    const found = reportOf(operation, await measure(operation, servers, options));
    report.operations.push(found);
    print(operationLines(found, look));
  }
  const facts = fleet.facts();
  report.measurements.push(...MEASUREMENTS.filter(isAsked).map((row) => measured(row, facts)));
  if (FOLLOWING.some((name) => isAsked({ name })))
    report.following.push(...(await measureFollowing(fleet.servers, options.seconds * 2)).filter(isAsked));
  const measurements = [...report.measurements, ...report.following];
  print(measurements.flatMap((measurement) => measurementLines(measurement, look)));
  return report;
}

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const folder = mkdtempSync(join(tmpdir(), 'crm-bench-'));
  const databases = options.postgres === undefined ? undefined : new Databases(options.postgres);
  const clear = async () => {
    rmSync(folder, { recursive: true, force: true });
    await databases?.[Symbol.asyncDispose]();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      killServers();
      await clear().finally(() => process.exit(130));
    });
  }
  try {
    const measured = options.large === undefined ? run : measureLarge;
    const report = await measured(options, folder, databases);
    if (options.json !== undefined) await Bun.write(options.json, jsonOf(report));
  } finally {
    await clear();
  }
}

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(USAGE);
else {
  await main(args).catch((error: Error) => {
    console.error(`bench: ${error.message}`);
    process.exitCode = 1;
  });
}
