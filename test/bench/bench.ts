// `bun run bench`: crm against bare servers, and against another build of it; all in this run, what counts are the ratios.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { OPERATIONS, type Server } from './operations.ts';
import { BARE_SERVERS, type Options, readOptions, USAGE } from './options.ts';
import { newReport, type Report, reportOf } from './report.ts';
import { measure } from './rounds.ts';
import { seed } from './seed.ts';
import { type Build, initialize, type Running, runCrm, serveBare, serveBuild } from './servers.ts';
import { headerLine, operationLines } from './terminal.ts';

const BINARIES = {
  crm: process.env.CRM_BIN ?? join(import.meta.dir, '../../dist/crm'),
  before: process.env.CRM_BIN_BEFORE,
};

/** Makes and fills a database with each build, copies it for the bare servers, and serves all of them. */
async function serveAll(folder: string, options: Options, running: Running[]): Promise<Server[]> {
  const servers: Server[] = [];
  const serve = async (starting: Promise<Running>, seeds: Server['seeds']) => {
    const server = await starting;
    running.push(server);
    servers.push({ ...server, seeds });
  };
  for (const name of ['crm', 'before'] as const) {
    const binary = BINARIES[name];
    if (binary === undefined) continue;
    const build = initialize(name, resolve(binary), folder);
    const seeds = await seeded(build, options);
    if (name === 'crm') {
      for (const bare of BARE_SERVERS)
        if (options.against.includes(bare)) await serve(serveBare(bare, build, folder), seeds);
    }
    await serve(serveBuild(build), seeds);
  }
  return servers;
}

async function seeded(build: Build, { contacts }: Options): Promise<Server['seeds']> {
  console.error(`Filling ${build.name} (${build.binary}) with ${contacts.toLocaleString('en')} contacts …`);
  const server = await serveBuild(build);
  try {
    return await seed(server, build, contacts);
  } finally {
    await server.stop();
  }
}

function chosen(only: readonly string[]): typeof OPERATIONS {
  const names = OPERATIONS.map(({ name }) => name);
  for (const name of only)
    if (!names.includes(name)) throw new Error(`there is no ${name}; there are ${names.join(', ')}`);
  return only.length === 0 ? OPERATIONS : OPERATIONS.filter(({ name }) => only.includes(name));
}

async function run(options: Options): Promise<Report> {
  const operations = chosen(options.only);
  const look = { isTerminal: process.stdout.isTTY && process.env.NO_COLOR === undefined };
  const builds: Report['builds'] = {};
  for (const [name, binary] of Object.entries(BINARIES))
    if (binary !== undefined) builds[name as keyof typeof BINARIES] = runCrm(resolve(binary), ['version']);
  const report = newReport(builds, options);
  const folder = mkdtempSync(join(tmpdir(), 'crm-bench-'));
  const running: Running[] = [];
  try {
    const servers = await serveAll(folder, options, running);
    console.log(headerLine(look));
    for (const operation of operations) {
      const those = servers.filter(
        ({ name }) => name === 'crm' || name === 'before' || operation.bare.includes(name),
      );
      const found = reportOf(operation, await measure(operation, those, options));
      report.operations.push(found);
      console.log(operationLines(found, look).join('\n'));
    }
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
  return report;
}

if (process.argv.includes('--help')) console.log(USAGE);
else {
  if (!existsSync(BINARIES.crm)) throw new Error(`${BINARIES.crm} is missing: bun run build`);
  const options = readOptions(process.argv.slice(2));
  const report = await run(options);
  if (options.json !== undefined) await Bun.write(options.json, `${JSON.stringify(report, null, 2)}\n`);
}
