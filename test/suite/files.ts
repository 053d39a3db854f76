// Which test files run on which engine: read from what they import, so that a new file runs where it should.
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

/** The test files that run on an engine, by their paths from the top of the repository. */
export interface EngineFiles {
  /** Any number of them at a time. */
  parallel: string[];
  /** Those that hold something to a time, or measure: when the others have ended, each with a core to itself. */
  alone: string[];
}

// Gives tests their databases, on the engine that CRM_TEST_DB chooses: what does not reach it keeps nothing.
const CHOICE = 'test/support/fresh-databases.ts';
// Starts servers of PostgreSQL for a test.
const SERVERS = 'test/support/postgres.ts';
// Skips where that engine is not PostgreSQL.
const ONLY_POSTGRES = 'test/support/on-postgres.ts';

const named = (folder: string, names: string) => names.split(' ').map((name) => `test/${folder}/${name}.`);

// Once is enough of what is about the file or the threads that read it, of what starts servers of PostgreSQL for itself,
// and of what is before or behind the engine, to which it makes no difference: what a request is refused for before its
// step asks the database, how commands are read, what they print and how they go about it where what they ask of the
// service is tried on both; bodies, lines of the log and descriptions. Of each kind some run on both: keys, limits, quotas,
// boundaries and random requests of `pipeline/`, every operation and field of `v2/`, operator commands, an import that is
// killed and one that is made again.
const OF_ONE_ENGINE = [
  ...['test/sqlite/', 'test/readers/', 'test/postgres/'],
  ...['test/manual/', 'test/openapi/', 'test/quickstart/', 'test/clients/', 'test/hostile/'],
  ...named(
    'cli',
    'accounts api binary bulk changes-days completion components config debug export health include',
  ),
  ...named(
    'cli',
    'interrupted-export key-rules list listen log-file open pager people-tables profile query recipes',
  ),
  ...named(
    'cli',
    'records report screens search serve-log serve-tls signals streams terminal-width timeline undelete',
  ),
  ...named('cli', 'upsert usage watch webhooks'),
  ...named('copy', 'command'),
  ...named(
    'import',
    'address-books all data doubts dry-run exports first-day folders foreign-files journeys',
  ),
  ...named('import', 'links-of-folders missing-names quota rejected rows same-words upsert'),
  ...named('mcp', 'client-config protocol retries tools writing'),
  ...named('metrics', 'recipes serve'),
  ...named('nodes', 'faults promotion recovery'),
  ...named('pipeline', 'body envelope in-flight log query refusals slow-bodies unread validation words'),
  ...named('v1', 'deprecation'),
];

/** The longest first. */
export const ALONE = [
  'test/sqlite/write-lock.test.ts',
  'test/pipeline/line-writer.test.ts',
  'test/ingest/pieces.test.ts',
  'test/sqlite/full-disk.test.ts',
];

// Files, or what kills those who write them, are the matter here: theirs are on a disk.
const ON_DISK = ['test/sqlite/', 'test/soak/'];

/**
 * Those that take longest, the longest first: each is run by itself, before the others. One that does not take ten seconds
 * by itself is better off with others: a process spends a second before its first test, and its compilers start again.
 */
export const LONGEST = [
  'test/openapi/docs-access.test.ts',
  'test/openapi/docs-browser.test.ts',
  'test/soak/soak.test.ts',
  'test/soak/feed.test.ts',
  'test/copy/copy.test.ts',
  'test/bench/bench.test.ts',
  'test/bench/large/large.test.ts',
  'test/webhooks/serve.test.ts',
  'test/webhooks/dispatcher.test.ts',
  'test/model/model.test.ts',
  'test/import/journeys.test.ts',
  'test/postgres/same-bytes.test.ts',
  'test/postgres/moving.test.ts',
  'test/postgres/lost.test.ts',
  'test/postgres/rows-read.test.ts',
  'test/postgres/commands.test.ts',
  'test/postgres/serving.test.ts',
  'test/nodes/faults.test.ts',
  'test/nodes/limits.test.ts',
  'test/sqlite/handover.test.ts',
  'test/sqlite/damaged-files.test.ts',
  'test/hostile/requests.test.ts',
  'test/cli/watch.test.ts',
  'test/cli/binary.test.ts',
  'test/manual/your-data.test.ts',
];

/**
 * Finds the test files of the repository at `root` whose paths have one of these parts, all of them if none is given: for
 * each engine, and for servers of PostgreSQL that they start themselves.
 */
export function findTestFiles(
  root: string,
  parts: readonly string[] = [],
): Record<'sqlite' | 'postgres' | 'servers', EngineFiles> {
  const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync(root)].toSorted();
  const paths = all.filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)));
  const importsOf = importsIn(root);
  const isForPostgres = (path: string) => reaches(path, ONLY_POSTGRES, importsOf);
  const isForBoth = (path: string) =>
    reaches(path, CHOICE, importsOf) && !OF_ONE_ENGINE.some((part) => path.startsWith(part));
  const isForServers = (path: string) => !isForBoth(path) && reaches(path, SERVERS, importsOf);
  return {
    sqlite: inTwo(paths.filter((path) => !isForPostgres(path) && !isForServers(path))),
    postgres: inTwo(paths.filter((path) => isForPostgres(path) || isForBoth(path))),
    servers: inTwo(paths.filter((path) => !isForPostgres(path) && isForServers(path))),
  };
}

/** Takes apart what may have its temporary files in memory, and what is to have them on a disk. */
export function byPlace({ parallel, alone }: EngineFiles): Record<'inMemory' | 'onDisk', EngineFiles> {
  const isOnDisk = (path: string) => ON_DISK.some((part) => path.startsWith(part));
  const isInMemory = (path: string) => !isOnDisk(path);
  return {
    inMemory: { parallel: parallel.filter(isInMemory), alone: alone.filter(isInMemory) },
    onDisk: { parallel: parallel.filter(isOnDisk), alone: alone.filter(isOnDisk) },
  };
}

function inTwo(paths: readonly string[]): EngineFiles {
  const runsAlone = (path: string) => ALONE.includes(path);
  return { parallel: paths.filter((path) => !runsAlone(path)), alone: paths.filter(runsAlone) };
}

type ImportsOf = (path: string) => readonly string[];

/** Whether a module imports another, itself or through others. */
export function reaches(from: string, to: string, importsOf: ImportsOf): boolean {
  const seen = new Set([from]);
  for (const path of seen) for (const imported of importsOf(path)) seen.add(imported);
  return seen.has(to);
}

/** The modules of the repository that one of them imports; types alone do not count. */
function importsIn(root: string): ImportsOf {
  const transpilers = {
    ts: new Bun.Transpiler({ loader: 'ts' }),
    tsx: new Bun.Transpiler({ loader: 'tsx' }),
  };
  const known = new Map<string, string[]>();
  return (path) => {
    const transpiler = transpilers[path.endsWith('.tsx') ? 'tsx' : 'ts'];
    const found =
      known.get(path) ??
      transpiler
        .scanImports(readFileSync(join(root, path)))
        .map(({ path: target }) => normalize(join(path, '..', target)))
        .filter((target) => /^(cli|db|server|test)\/.*\.tsx?$/.test(target));
    known.set(path, found);
    return found;
  };
}
