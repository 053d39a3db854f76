// The house: what may import what, how modules begin, and what stands at the top level.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const FOLDERS = ['cli', 'db', 'server', 'test'] as const;

interface Import {
  /** From the top of the repository where it is of ours, else the package. */
  target: string;
  isDynamic: boolean;
  isTypeOnly: boolean;
}

interface Module {
  path: string;
  text: string;
  imports: Import[];
}

const STATIC = /^\s*(?:import|export)\s+(type\s)?(?:[\w*{][^;'"]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bawait import\(\s*(['"`]?)([^'"`)]*)\1\s*\)/g;

function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, isDynamic: boolean, isTypeOnly: boolean) => {
    const isOurs = specifier.startsWith('.');
    const target = isOurs ? normalize(join(dirname(path), specifier)) : specifier;
    found.push({ target, isDynamic, isTypeOnly });
  };
  for (const [, type, specifier = ''] of text.matchAll(STATIC)) add(specifier, false, type !== undefined);
  for (const [, , specifier = ''] of text.matchAll(DYNAMIC)) add(specifier, true, false);
  return found;
}

const modules: Module[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = relative(ROOT, join(entry.parentPath, entry.name));
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    }),
);
const product = modules.filter(({ path }) => !path.startsWith('test/'));
const within = (folder: string) => product.filter(({ path }) => path.startsWith(`${folder}/`));

/** Every import of a folder's modules that the rule does not allow, as `module → target`. */
function violations(folder: string, allowed: (one: Import, module: Module) => boolean): string[] {
  return within(folder).flatMap((module) =>
    module.imports.filter((one) => !allowed(one, module)).map((one) => `${module.path} → ${one.target}`),
  );
}

test('the scan sees imports of every kind', () => {
  const text = [
    "import { a } from './a.ts';",
    "import type { B } from '../db/b.ts';",
    'import {\n  c,\n  d,\n} from "pkg";',
    "export { e } from './e.ts';",
    "import './f.ts';",
    "const g = await import('../server/g.ts');",
  ].join('\n');
  expect(
    importsOf('cli/x.ts', text).map(({ target, isDynamic, isTypeOnly }) => [target, isDynamic, isTypeOnly]),
  ).toEqual([
    ['cli/a.ts', false, false],
    ['db/b.ts', false, true],
    ['pkg', false, false],
    ['cli/e.ts', false, false],
    ['cli/f.ts', false, false],
    ['server/g.ts', true, false],
  ]);
  expect(product.length).toBeGreaterThan(100);
});

/**
 * The house: every folder with the folders that it imports. Its own root is not named, which holds what all its folders
 * share, nor are a root's own folders. A new folder, and a new arrow between two, is put down here or is not made; what
 * is gone goes here too.
 */
const HOUSE: Record<string, string[]> = {
  cli: ['db/model', 'db/model/query', 'db/model/resources', 'server/readers'],
  'cli/api': ['cli/input', 'cli/settings', 'cli/terminal', 'db/model', 'db/model/resources', 'db/tables'],
  'cli/backup': [
    'cli/database',
    'cli/files',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/copy',
    'db/people',
    'db/tables',
    'db/webhooks',
  ],
  'cli/browse': [
    'cli/api',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'cli/where',
    'db/model',
    'db/model/resources',
  ],
  'cli/browse/screen': ['cli/api', 'cli/terminal', 'db/model', 'db/model/query'],
  'cli/browser': ['cli/api', 'cli/input', 'cli/settings', 'cli/terminal'],
  'cli/bulk': [
    'cli/api',
    'cli/files',
    'cli/import',
    'cli/import/plan',
    'cli/import/session',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db/model',
    'db/model/resources',
  ],
  'cli/commands': [
    'cli/api',
    'cli/backup',
    'cli/browse',
    'cli/browser',
    'cli/bulk',
    'cli/database',
    'cli/doctor',
    'cli/export',
    'cli/follow',
    'cli/import',
    'cli/ingest',
    'cli/keys',
    'cli/manual',
    'cli/mcp',
    'cli/organizations',
    'cli/people',
    'cli/profiles',
    'cli/quickstart',
    'cli/raw',
    'cli/recipes',
    'cli/records',
    'cli/release',
    'cli/report',
    'cli/search',
    'cli/serve',
    'cli/settings',
    'cli/terminal',
    'cli/timeline',
    'cli/top',
    'cli/undelete',
    'cli/webhooks',
    'db/model',
    'server/openapi',
  ],
  'cli/database': [
    'cli/files',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/accounts',
    'db/copy',
    'db/engine',
    'db/model',
    'db/tables',
  ],
  'cli/doctor': [
    'cli/api',
    'cli/database',
    'cli/organizations',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/accounts',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/removal',
    'db/search',
    'db/tables',
    'db/webhooks',
  ],
  'cli/export': [
    'cli/api',
    'cli/files',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'cli/where',
    'db/model',
    'db/model/resources',
  ],
  'cli/files': [],
  'cli/follow': [
    'cli/api',
    'cli/files',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'cli/undelete',
    'db/model',
    'db/model/resources',
    'server/webhooks',
  ],
  'cli/import': ['cli/api', 'cli/files', 'cli/input', 'cli/settings', 'cli/terminal', 'db/model'],
  'cli/import/all': [
    'cli/api',
    'cli/export',
    'cli/files',
    'cli/import/plan',
    'cli/import/rows',
    'cli/import/session',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db/model',
    'db/model/resources',
  ],
  'cli/import/plan': ['cli/input', 'cli/terminal', 'db/model'],
  'cli/import/rows': [
    'cli/api',
    'cli/files',
    'cli/import/plan',
    'cli/input',
    'db/model',
    'db/model/resources',
  ],
  'cli/import/screen': ['cli/import/plan', 'cli/import/session', 'cli/terminal', 'db/model'],
  'cli/import/session': [
    'cli/api',
    'cli/files',
    'cli/import/plan',
    'cli/import/rows',
    'cli/input',
    'cli/terminal',
    'db/model',
    'db/model/resources',
  ],
  'cli/ingest': [
    'cli/database',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/engine',
    'db/ingest',
    'db/model',
  ],
  'cli/ingest/calendar': ['cli/input', 'cli/terminal', 'db/ingest', 'db/model'],
  'cli/ingest/json': ['cli/input', 'db/ingest', 'db/model', 'db/model/resources'],
  'cli/input': ['cli/terminal', 'db/model'],
  'cli/keys': [
    'cli/database',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/accounts',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/tables',
    'db/webhooks',
  ],
  'cli/manual': ['cli/terminal'],
  'cli/mcp': [
    'cli/api',
    'cli/import/plan',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db/model',
    'db/model/query',
    'db/model/resources',
  ],
  'cli/organizations': [
    'cli/database',
    'cli/keys',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/accounts',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/removal',
    'db/tables',
  ],
  'cli/people': [
    'cli/database',
    'cli/files',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/engine',
    'db/people',
    'db/tables',
  ],
  'cli/profiles': [
    'cli/api',
    'cli/files',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/model',
    'db/tables',
  ],
  'cli/quickstart': [
    'cli/api',
    'cli/database',
    'cli/export',
    'cli/import',
    'cli/import/all',
    'cli/import/session',
    'cli/ingest',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/accounts',
    'db/engine',
    'db/model',
    'db/model/resources',
    'server',
  ],
  'cli/quickstart/data': ['cli/input', 'db/model'],
  'cli/raw': ['cli/api', 'cli/input', 'cli/settings', 'cli/terminal', 'db/model', 'db/model/resources'],
  'cli/recipes': [],
  'cli/records': [
    'cli/api',
    'cli/bulk',
    'cli/follow',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'cli/timeline',
    'cli/where',
    'db/model',
    'db/model/query',
    'db/model/resources',
  ],
  'cli/release': ['cli/files'],
  'cli/report': ['cli/api', 'cli/input', 'cli/settings', 'cli/terminal', 'cli/where', 'db/model'],
  'cli/search': ['cli/api', 'cli/input', 'cli/settings', 'cli/terminal', 'db/model'],
  'cli/serve': [
    'cli/api',
    'cli/backup',
    'cli/database',
    'cli/settings',
    'cli/terminal',
    'db',
    'db/tables',
    'server',
    'server/logging',
    'server/metrics',
    'server/pipeline',
  ],
  'cli/settings': ['cli/input', 'cli/terminal', 'db', 'db/model'],
  'cli/terminal': ['db', 'db/model'],
  'cli/timeline': ['cli/api', 'cli/follow', 'cli/settings', 'cli/terminal', 'db/model', 'db/model/resources'],
  'cli/top': ['cli/api', 'cli/settings', 'cli/terminal'],
  'cli/top/screen': ['cli/terminal'],
  'cli/undelete': [
    'cli/api',
    'cli/import/session',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db/model',
    'db/model/resources',
  ],
  'cli/webhooks': ['cli/api', 'cli/input', 'cli/settings', 'cli/terminal', 'db/model'],
  'cli/where': [
    'cli/api',
    'cli/input',
    'cli/settings',
    'cli/terminal',
    'db/model',
    'db/model/query',
    'db/model/resources',
  ],
  db: [],
  'db/accounts': ['db/engine', 'db/model', 'db/model/resources', 'db/records', 'db/tables', 'db/webhooks'],
  'db/changes': ['db/engine', 'db/model', 'db/tables'],
  'db/copy': ['db/engine', 'db/tables'],
  'db/counters': ['db/engine'],
  'db/engine': ['db/migrations', 'db/model'],
  'db/ingest': ['db/accounts', 'db/engine', 'db/model', 'db/model/resources', 'db/records', 'db/tables'],
  'db/migrations': [],
  'db/model': [],
  'db/model/query': ['db/model/resources'],
  'db/model/resources': [],
  'db/people': [
    'db/accounts',
    'db/changes',
    'db/copy',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/records',
    'db/search',
    'db/tables',
    'db/webhooks',
  ],
  'db/postgres': ['db/counters', 'db/engine', 'db/migrations'],
  'db/queries': ['db/engine', 'db/model', 'db/model/query', 'db/model/resources', 'db/tables'],
  'db/records': [
    'db/changes',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/search',
    'db/tables',
    'db/timeline',
  ],
  'db/search': ['db/changes', 'db/engine', 'db/model', 'db/model/resources', 'db/tables'],
  'db/sqlite': ['db/counters', 'db/engine', 'db/migrations'],
  'db/removal': [
    'db/accounts',
    'db/changes',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/records',
    'db/tables',
    'db/timeline',
  ],
  'db/tables': ['db/engine', 'db/model', 'db/model/resources'],
  'db/timeline': ['db/changes', 'db/engine', 'db/model', 'db/model/resources', 'db/tables'],
  'db/webhooks': ['db/engine', 'db/tables'],
  server: [
    'db',
    'db/accounts',
    'db/counters',
    'db/engine',
    'db/model',
    'db/removal',
    'db/search',
    'db/tables',
    'db/webhooks',
  ],
  'server/docs': ['db/model', 'db/tables', 'server/openapi', 'server/pipeline'],
  'server/docs/client': ['db/model'],
  'server/docs/client/languages': [],
  'server/json': ['db/model'],
  'server/lifecycle': ['db', 'db/engine', 'server/docs', 'server/pipeline', 'server/quotas'],
  'server/logging': ['db/model', 'server/pipeline'],
  'server/metrics': [
    'db',
    'db/accounts',
    'db/engine',
    'db/removal',
    'db/search',
    'db/tables',
    'db/webhooks',
    'server/lifecycle',
    'server/pipeline',
    'server/webhooks',
  ],
  'server/openapi': [
    'db/engine',
    'db/model',
    'db/model/query',
    'db/model/resources',
    'db/queries',
    'db/records',
    'db/tables',
    'server/pipeline',
    'server/quotas',
    'server/search',
    'server/v2',
  ],
  'server/pipeline': [
    'db',
    'db/accounts',
    'db/counters',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/tables',
    'server/json',
    'server/quotas',
    'server/signing',
  ],
  'server/quotas': ['db/counters', 'db/engine'],
  'server/readers': [
    'db',
    'db/counters',
    'db/engine',
    'server/lifecycle',
    'server/logging',
    'server/metrics',
    'server/pipeline',
    'server/signing',
  ],
  'server/records': [
    'db',
    'db/accounts',
    'db/changes',
    'db/engine',
    'db/model',
    'db/model/query',
    'db/model/resources',
    'db/queries',
    'db/records',
    'db/tables',
    'db/timeline',
    'server/quotas',
  ],
  'server/search': ['db', 'db/engine', 'db/model', 'db/records', 'db/search', 'db/tables', 'server/records'],
  'server/signing': ['db', 'db/engine', 'db/model', 'db/tables'],
  'server/v1': ['db/accounts', 'db/engine', 'db/model', 'db/model/resources', 'db/records', 'server/records'],
  'server/v2': [
    'db',
    'db/accounts',
    'db/changes',
    'db/engine',
    'db/model',
    'db/model/query',
    'db/model/resources',
    'db/queries',
    'db/records',
    'db/tables',
    'db/timeline',
    'db/webhooks',
    'server/pipeline',
    'server/quotas',
    'server/records',
    'server/search',
    'server/signing',
    'server/webhooks',
  ],
  'server/webhooks': [
    'db',
    'db/accounts',
    'db/changes',
    'db/engine',
    'db/model',
    'db/model/resources',
    'db/tables',
    'db/webhooks',
    'server/pipeline',
    'server/records',
    'server/signing',
  ],
};

const outerFolders = new Set(product.map(({ path }) => dirname(dirname(path))));

/** What a module counts as: its folder, or where that has folders of its own the file itself. */
function roomOf(path: string): string {
  const folder = dirname(path);
  return outerFolders.has(folder) ? path : folder;
}

/** Who imports whom by those names; embedded files and package.json have none. */
function arrows(nameOf: (path: string) => string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const paths = new Set(product.map(({ path }) => path));
  for (const { path, imports } of product) {
    const from = nameOf(path);
    const targets = found.get(from) ?? new Set();
    found.set(from, targets);
    for (const { target } of imports) {
      const to = paths.has(target) ? nameOf(target) : from;
      if (to !== from) targets.add(to);
    }
  }
  return found;
}

/** A way along arrows that ends where it began; undefined if there is none. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const walk = (name: string, way: string[]): string[] | undefined => {
    if (done.has(name)) return undefined;
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    const longer = [...way, name];
    for (const next of graph.get(name) ?? []) {
      const circle = walk(next, longer);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const circle = walk(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('the house', () => {
  test('is as it is put down: the list of folders is the list of import rules', () => {
    const isRootOf = (one: string, other: string) => other.startsWith(`${one}/`);
    const rooms = [...arrows(dirname)].map(([folder, targets]): [string, string[]] => [
      folder,
      [...targets].filter((other) => !isRootOf(other, folder) && !isRootOf(folder, other)).toSorted(),
    ]);
    expect(Object.fromEntries(rooms.toSorted())).toEqual(HOUSE);
  });

  test('has no circle, neither between folders nor between files', () => {
    expect(circleIn(arrows(roomOf))).toBeUndefined();
    expect(circleIn(arrows((path) => path))).toBeUndefined();
    const looped = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c'])],
      ['c', new Set(['b'])],
    ]);
    expect(circleIn(looped)).toEqual(['b', 'c', 'b']);
  });

  // A list that is data: the first schema.
  const LONG = /^db\/migrations\/0001-/;
  test('has no file over 250 lines, save the first migration', () => {
    const lines = product.map(({ path, text }): [string, number] => [path, text.split('\n').length - 1]);
    expect(lines.filter(([path, count]) => count > 250 && !LONG.test(path))).toEqual([]);
  });
});

/** Everything that importing these modules loads: of ours by path, packages by name. */
function loadedBy(paths: readonly string[]): Set<string> {
  const loaded = new Set(paths);
  for (const path of loaded) {
    const { imports = [] } = product.find((one) => one.path === path) ?? {};
    for (const { target, isDynamic, isTypeOnly } of imports)
      if (!isDynamic && !isTypeOnly) loaded.add(target);
  }
  return loaded;
}

describe('what a command loads', () => {
  // Where starting has to be fast, or a terminal shows more than a pipe.
  const LAZY = [
    // Ink is loaded on a terminal only.
    'cli/browse/run.ts',
    'cli/import/screen/review.ts',
    // Color is decided before any other module loads, and a reader thread loads nothing of the command line.
    'cli/main.ts',
    // --debug alone shows the database that a data command does not open.
    'cli/settings/debug.ts',
    // As above: the bar is Ink's.
    'cli/terminal/progress.ts',
    // What reads answers, which are seldom asked for.
    'cli/terminal/questions.ts',
    'cli/top/run.ts',
    // Only a mistaken word can be the name of a resource.
    'cli/usage-errors.ts',
    // Only a server that cannot be reached has its name looked up.
    'db/postgres/errors.ts',
    // A server compresses only what /docs has, once it is asked for.
    'server/docs/content.ts',
    // The plugin of the docs and all that it describes would slow down every start.
    'server/docs/docs.ts',
    // The metrics library is for servers with a metrics port.
    'server/metrics/measurement.ts',
    // Most servers have no webhooks.
    'server/webhooks/sender.ts',
  ];
  const UNLOADED = /^(server\/|db\/(sqlite|postgres|engine|store\.ts)|kysely|elysia|ink$|react)/;
  const DATA = [
    ...['api', 'browse', 'count', 'create', 'delete', 'export', 'get', 'health', 'import', 'link', 'list'],
    ...['mcp', 'open', 'profile', 'report', 'search', 'top', 'update', 'upsert', 'watch'],
  ];
  const commands = product.filter(({ path }) => path.startsWith('cli/commands/'));

  test('is imported dynamically by its file in commands; all below is static', () => {
    const lazy = product.filter(({ imports }) => imports.some(({ isDynamic }) => isDynamic));
    const others = lazy.map(({ path }) => path).filter((path) => !path.startsWith('cli/commands/'));
    expect(others.toSorted()).toEqual(LAZY);
  });

  test('help loads the flags of every command, and nothing of what they do', () => {
    const loaded = [...loadedBy(['cli/main.ts', 'cli/program.ts'])];
    expect(loaded).toContain('cli/commands/serve.ts');
    expect(loaded.filter((path) => UNLOADED.test(path) || path.startsWith('db/model/resources/'))).toEqual(
      [],
    );
  });

  test.each(DATA)('%s loads no database, no server and no Ink', (name) => {
    const { imports = [] } = commands.find(({ path }) => path === `cli/commands/${name}.ts`) ?? {};
    const work = imports.filter(({ isDynamic }) => isDynamic).map(({ target }) => target);
    const loaded = [...loadedBy(work)];
    expect(loaded).toContain('cli/terminal/streams.ts');
    expect(loaded.filter((path) => UNLOADED.test(path))).toEqual([]);
  });
});

// Each takes a millisecond or more, and a command some twenty in all.
const SLOW =
  /^(?:bun|kysely|elysia|ink|react|node:(?:crypto|dns\/promises|https?|net|readline(?:\/promises)?|stream|tls|tty|worker_threads|zlib))$/;
const slowIn = (path: string) => [...loadedBy([path])].filter((one) => SLOW.test(one));

describe('what takes long to load', () => {
  test.each([
    'main.ts',
    'program.ts',
    ...['records/list.ts', 'records/record.ts', 'search/run.ts', 'bulk/run.ts', 'export/run.ts'],
  ])('is not loaded with cli/%s', (path) => {
    expect(slowIn(`cli/${path}`)).toEqual([]);
  });

  test.each(['keys/run.ts', 'organizations/organizations.ts', 'doctor/run.ts'])(
    'is not loaded with cli/%s, except what builds its statements',
    (path) => {
      expect(slowIn(`cli/${path}`)).toEqual(['kysely']);
    },
  );

  test('is loaded with a server if every server needs it', () => {
    expect(slowIn('cli/serve/run.ts')).not.toContainAnyValues(['node:http', 'node:https', 'node:zlib']);
  });
});

describe('direction of imports', () => {
  test('server imports itself and db, and no engine', () => {
    expect(violations('server', ({ target }) => !/^(bun:sqlite|kysely)/.test(target))).toEqual([]);
  });

  test('only commands that start or describe a server reach for it', () => {
    const reaching = within('cli').filter(({ imports }) =>
      imports.some(({ target }) => target.startsWith('server/')),
    );
    expect(reaching.map(({ path }) => path).toSorted()).toEqual([
      'cli/commands/openapi.ts',
      // crm listen sends what the server sends as a webhook.
      'cli/follow/forward-target.ts',
      'cli/follow/forwarder.ts',
      'cli/follow/listen.ts',
      // An executable has one entry for all its threads.
      'cli/main.ts',
      'cli/quickstart/demo.ts',
      // The program for a sync is a text of the description too.
      'cli/recipes/recipes.ts',
      'cli/serve/errors.ts',
      'cli/serve/files.ts',
      'cli/serve/flags.ts',
      'cli/serve/run.ts',
    ]);
  });

  test('dynamic imports are literal, so that they are compiled in', () => {
    for (const { path, text } of product) {
      for (const [whole, quote = ''] of text.matchAll(DYNAMIC))
        expect([path, whole, quote === '' || whole.includes('${')]).toEqual([path, whole, false]);
    }
  });

  test('the engine is known to its own files alone', () => {
    const engine = /^(bun:sqlite|kysely-bun-sqlite\/dist\/index\.js)$/;
    const users = within('db').filter(({ imports }) => imports.some(({ target }) => engine.test(target)));
    expect(users.map(({ path }) => path).toSorted()).toEqual([
      'db/sqlite/connection.ts',
      'db/sqlite/dialect.ts',
      'db/sqlite/lock-file.ts',
      'db/sqlite/lock-holder.ts',
    ]);
    const outside = product.filter(
      ({ path, imports }) =>
        !path.startsWith('db/sqlite/') && imports.some(({ target }) => target.startsWith('db/sqlite/')),
    );
    expect(outside.map(({ path }) => path).toSorted()).toEqual(['db/maintenance.ts', 'db/store.ts']);
  });

  // What requests never do, or rarely: db/README.md has the rule. Everything else is a statement(), compiled once.
  const EXECUTING = [
    'db/accounts/accounts.ts',
    'db/accounts/keys.ts',
    'db/accounts/quotas.ts',
    'db/copy/copy.ts',
    'db/copy/readiness.ts',
    'db/copy/rows.ts',
    'db/engine/applied-migrations.ts',
    'db/engine/setting.ts',
    'db/people/erasure-plan.ts',
    'db/people/logged-changes.ts',
    'db/people/mentions.ts',
    'db/people/names.ts',
    'db/people/person.ts',
    'db/people/stored-responses.ts',
    'db/people/timeline-details.ts',
    'db/people/tombstones.ts',
    'db/postgres/snapshot.ts',
    'db/records/pipelines.ts',
    'db/records/transcripts.ts',
    'db/removal/change-retention.ts',
    'db/removal/organization.ts',
    'db/removal/user.ts',
    'db/search/filler.ts',
    'db/sqlite/migrate.ts',
    'db/sqlite/scrub.ts',
    'db/sqlite/sqlite-store.ts',
    'db/tables/audit.ts',
    'db/tables/backfills.ts',
    'db/tables/content-bytes.ts',
    'db/tables/idempotency.ts',
    'db/timeline/sources.ts',
    'db/webhooks/deliveries.ts',
    'db/webhooks/health.ts',
    'db/webhooks/queue.ts',
    'db/webhooks/webhooks.ts',
  ];
  test("Kysely's own execute() runs only what is rare", () => {
    const executing = within('db').filter(
      ({ path, text }) => !path.startsWith('db/migrations/') && /\.execute(?:Take\w+)?\(/.test(text),
    );
    expect(executing.map(({ path }) => path).toSorted()).toEqual(EXECUTING);
  });

  // Each of them leaves a change in the log for each row of a record or link; a stage belongs to its pipeline's record. What
  // the service works out of interactions, and the rows with their people, leave none, nor do external IDs.
  const WRITING_RECORDS = [
    'db/records/dependents.ts',
    'db/records/deletion.ts',
    'db/tables/involved-records.ts',
    'db/records/link-batches.ts',
    'db/records/pipelines.ts',
    'db/records/record-external-ids.ts',
    'db/records/records.ts',
    'db/records/record-updates.ts',
    'db/records/ties.ts',
  ];
  test('records and links are written where changes are noted, and nowhere else', () => {
    const WRITE =
      /\b(?:insertInto|updateTable|deleteFrom|bulkInsert|updateOf)\(|\b(?:insert into|update|delete from) \$/;
    const writing = product.filter(
      ({ path, text }) =>
        /\b(?:tableOf|linkTable)\(/.test(text) && WRITE.test(text) && !path.startsWith('db/engine/'),
    );
    expect(writing.map(({ path }) => path).toSorted()).toEqual(WRITING_RECORDS.toSorted());
  });

  test('migrations import only Kysely', () => {
    const frozen = within('db').filter(({ path }) => /^db\/migrations\/\d/.test(path));
    expect(frozen.length).toBeGreaterThan(0);
    for (const { path, imports } of frozen)
      expect([path, imports.map(({ target }) => target)]).toEqual([path, ['kysely']]);
  });
});

// Spelled so that this file has none itself.
const UNFINISHED = new RegExp(`\\b(${['TO', 'FIX'].join('DO|')}ME)\\b`);

test('one name stands for one thing', () => {
  // What every migration is called, and the overloads of one function.
  const REPEATED = ['up', 'isObject'];
  const EXPORT = /^export (?:async )?(?:abstract )?(?:function\*?|class|interface|type|const) (\w+)/gm;
  const exported = product.flatMap(({ text }) => [...text.matchAll(EXPORT)].map(([, name = '']) => name));
  expect(exported.length).toBeGreaterThan(500);
  const repeated = exported.filter((name, index) => exported.indexOf(name) !== index);
  expect(repeated.filter((name) => !REPEATED.includes(name))).toEqual([]);
});

describe('modules', () => {
  for (const { path, text } of modules) {
    test(path, () => {
      const [first = '', second = ''] = text.split('\n');
      const opening = first.startsWith('#!') ? second : first;
      expect(opening).toMatch(/^\/\/ \S+ \S+ .{6,}[.:]$/);
      expect(text).not.toMatch(/^export default\b|\bmodule\.exports\b/m);
      expect(text).not.toMatch(UNFINISHED);
      // A component's file has its name; all others are in kebab case.
      const name = path.slice(path.lastIndexOf('/') + 1);
      expect(name).toMatch(/^([a-z0-9-]+(\.test|\.d)?\.tsx?|[A-Z][A-Za-z]+\.tsx)$/);
    });
  }
});

describe('the top level', () => {
  const FIXED = ['README.md', 'bunfig.toml', 'cli', 'db', 'package.json', 'server', 'test', 'tsconfig.json'];
  const TOOLS = ['biome.json', 'bun.lock'];
  const ABOUT = ['CHANGELOG.md', 'LICENSE'];
  const NOT_KEPT = ['dist', 'node_modules'];

  test('is fixed', () => {
    const kept = readdirSync(ROOT).filter((name) => !name.startsWith('.') && !NOT_KEPT.includes(name));
    expect(kept.toSorted()).toEqual([...FIXED, ...TOOLS, ...ABOUT].toSorted());
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
    for (const name of NOT_KEPT) expect(ignored.some((line) => line.replaceAll('/', '') === name)).toBe(true);
  });

  test('pins every dependency', () => {
    const { dependencies, devDependencies, packageManager } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/)]);
    expect(packageManager).toBe(`bun@${Bun.version}`);
  });
});
