// A large database on one engine, from its first row to the last figure.
import { SQL } from 'bun';
import type { Databases } from '../databases.ts';
import type { CpuClock } from '../process.ts';
import { type Binary, type Build, environment, initialize, runCrm } from '../servers.ts';
import { type Asked, answersTo } from './answers.ts';
import { askBesidePocketBase, type PocketBaseAnswer, type PocketBaseReport } from './beside-pocketbase.ts';
import { askByHand, HAND_QUESTIONS, indexByHand } from './by-hand.ts';
import { searchBytesOf, seedBuild, serveAsked, waitUntilFilled } from './filling.ts';
import { Inside } from './inside.ts';
import { copyOf, type Filled, KEPT_NAME, readKept, writeKept } from './kept.ts';
import { QUESTIONS } from './questions.ts';
import {
  ANSWERS_HEADER,
  answersLine,
  type EngineReport,
  filledLine,
  handLine,
  POCKETBASE_HEADER,
  pocketBaseLine,
  sizeLines,
  WRITES_HEADER,
  writeLine,
} from './report.ts';
import type { Samples } from './samples.ts';
import { writeCosts } from './writes.ts';

/** How large the databases are from which the index of contacts alone is told, at most. */
const ALONE_SCALE_MAX = 0.1;
// What contacts add is the difference; their emails are at the domains of companies.
const ALONE = [['companies'], ['companies', 'contacts']] as const;
// The first of those that a build is initialized with.
const USER = 'user0@bench.example';
const UNLOGGED = ['--changes-days', '0'];

export interface EngineOptions {
  engine: EngineReport['engine'];
  binary: Binary['binary'];
  scale: number;
  /** Of each question and each round of writes, at least. */
  seconds: number;
  /** Of each kind of write. */
  rounds: number;
  /** Different ones of each question. */
  requests: number;
  /** Names of questions; all of them, writes and questions by hand if there are none. */
  only: readonly string[];
  /** An empty folder. */
  folder: string;
  /** Where the database, or what is known of one on a server, is kept or was by an earlier run; undefined for nowhere. */
  keep: string | undefined;
  /** An executable of PocketBase, to ask the same questions of instead of all else; undefined for none. */
  pocketbase: string | undefined;
  /** Of a server, for the engine that needs them. */
  databases: Databases | undefined;
  databaseCpu: CpuClock | undefined;
  print(lines: readonly string[]): void;
}

/** Runs everything that was asked for, and prints each figure as soon as it is known. */
export async function measureEngine(options: EngineOptions): Promise<EngineReport> {
  const { engine, binary, only, folder, keep, pocketbase, databaseCpu, print } = options;
  const known = keep === undefined ? null : await readKept(keep, options);
  const { build, userKey, samples, ...found } = await filledIn(known ?? (await seeded(options)), options);
  const answers = [];
  let server = await serveAsked(build, { userKey, databaseCpu });
  try {
    if (pocketbase !== undefined) {
      const report = { engine, version: runCrm(binary, ['version']), answers: [], ...found };
      const beside = await besidePocketBase(pocketbase, server, samples, options);
      return { ...report, searchBytesPerContact: null, writes: [], byHand: null, pocketbase: beside };
    }
    print([...found.filled.map(filledLine), ...sizeLines(found.sizes, samples.counts), ANSWERS_HEADER]);
    for (const question of QUESTIONS.filter(({ name }) => only.length === 0 || only.includes(name))) {
      const answered = await answersTo(question, server, samples, options);
      print([answersLine(answered)]);
      answers.push(answered);
    }
    const report: EngineReport = {
      ...{ engine, version: runCrm(binary, ['version']), answers, ...found },
      ...{ searchBytesPerContact: null, writes: [], byHand: null },
    };
    if (only.length > 0) return report;
    await server.stop();
    const written = keep === undefined ? build : await copyOf(build, folder, options.databases);
    for (const flags of [[], UNLOGGED]) {
      server = await serveAsked({ ...written, flags }, { userKey, databaseCpu });
      report.writes.push(await writesOn(server, options, flags));
      await server.stop();
    }
    report.searchBytesPerContact = await searchBytesPerContact(options);
    print([`  search index of a contact: ${Math.round(report.searchBytesPerContact)} bytes`]);
    if (options.databases !== undefined) report.byHand = await byHand(written, samples, options);
    return report;
  } finally {
    await server.stop();
  }
}

/** Writes a large database, and keeps it if that is asked for. */
async function seeded(options: EngineOptions): Promise<Filled> {
  const { engine, binary, scale, folder, keep, databases, print } = options;
  const database = keep === undefined ? databases?.create() : databases?.createKept(KEPT_NAME);
  const build = initialize({ name: engine, binary }, keep ?? folder, await database);
  const userKey = issueUserKey(build);
  const startedAt = performance.now();
  const samples = await seedBuild(build, scale);
  const seedSeconds = (performance.now() - startedAt) / 1_000;
  await databases?.settle(build.db);
  print([
    `${engine}: ${samples.counts.contacts.toLocaleString('en')} contacts in ${seedSeconds.toFixed(1)} s`,
  ]);
  await using inside = new Inside(build.db);
  const sizesBefore = await inside.sizes();
  const made = { build, userKey, samples, seedSeconds, filled: [], sizesBefore, sizes: [] };
  if (keep !== undefined) await writeKept(keep, made);
  return made;
}

/** Lets a server fill in what it derives from records, unless one has; a run that was given up before the end goes on. */
async function filledIn(made: Filled, { keep, databases, databaseCpu }: EngineOptions): Promise<Filled> {
  const { build, userKey, sizes } = made;
  if (sizes.length > 0) return made;
  await using inside = new Inside(build.db);
  const unfilled = await inside.unfilled();
  const server = await serveAsked(build, { userKey, databaseCpu });
  const filled = await waitUntilFilled(server, inside, unfilled).finally(() => server.stop());
  await databases?.settle(build.db);
  const whole = { ...made, filled, sizes: await inside.sizes() };
  if (keep !== undefined) await writeKept(keep, whole);
  return whole;
}

/** Issues a key that sees the records of one user. */
function issueUserKey({ binary, db }: Build): string {
  const args = ['keys', 'issue', '--all-scopes', '--access', 'user', '--user', USER];
  return runCrm(binary, args, environment(db));
}

async function writesOn(
  server: Asked,
  options: EngineOptions,
  flags: readonly string[],
): Promise<EngineReport['writes'][number]> {
  await using inside = new Inside(server.build.db);
  const costs = await writeCosts(server, inside, options);
  const named = { flags: flags.join(' '), costs };
  options.print([`crm serve ${named.flags}`.trimEnd(), WRITES_HEADER, ...costs.map(writeLine)]);
  return named;
}

async function searchBytesPerContact(options: EngineOptions): Promise<number> {
  const scale = Math.min(options.scale, ALONE_SCALE_MAX);
  const bytes: number[] = [];
  let contacts = 1;
  for (const kinds of ALONE) {
    const { engine, binary, folder, databases } = options;
    const build = initialize(
      { name: engine, binary },
      `${folder}/${kinds.length}`,
      await databases?.create(),
    );
    const found = await searchBytesOf(build, scale, kinds);
    contacts = found.contacts;
    bytes.push(found.bytes);
  }
  const [companiesAlone = 0, both = 0] = bytes;
  return (both - companiesAlone) / contacts;
}

async function byHand(
  build: Build,
  samples: Samples,
  { requests, print }: EngineOptions,
): Promise<EngineReport['byHand']> {
  await using db = new SQL(build.db, { max: 1 });
  const { seconds, bytes } = await indexByHand(db);
  print([`PostgreSQL by hand: indexes of ${(bytes / 2 ** 20).toFixed(1)} MiB in ${seconds.toFixed(1)} s`]);
  const answers = [];
  for (const question of HAND_QUESTIONS) {
    const found = await askByHand(db, question, samples, requests);
    print([handLine(found)]);
    answers.push(found);
  }
  return { seconds, bytes, answers };
}

function besidePocketBase(
  executable: string,
  server: Asked,
  samples: Samples,
  { folder, requests, print }: EngineOptions,
): Promise<PocketBaseReport> {
  print([POCKETBASE_HEADER]);
  const asking = { requests, print: (answer: PocketBaseAnswer) => print([pocketBaseLine(answer)]) };
  return askBesidePocketBase(executable, `${folder}/pocketbase`, { server, samples }, asking);
}
