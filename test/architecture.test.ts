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
const isOurs = ({ target }: Import) =>
  FOLDERS.some((folder) => target.startsWith(`${folder}/`)) || target.startsWith('..');

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

describe('direction of imports', () => {
  test('db imports nothing of ours', () => {
    expect(violations('db', (one) => !isOurs(one) || one.target.startsWith('db/'))).toEqual([]);
  });

  test('server imports itself and db, and no engine', () => {
    expect(violations('server', (one) => !isOurs(one) || /^(server|db)\//.test(one.target))).toEqual([]);
    expect(violations('server', ({ target }) => !/^(bun:sqlite|kysely)/.test(target))).toEqual([]);
  });

  test('cli imports itself and what a field is; db and server by await import(), or for their types', () => {
    const isAboutFields = (target: string) => /^db\/(declare|resources)\//.test(target);
    expect(
      violations(
        'cli',
        (one) =>
          !isOurs(one) ||
          one.target.startsWith('cli/') ||
          isAboutFields(one.target) ||
          (/^(db|server)\//.test(one.target) && (one.isDynamic || one.isTypeOnly)),
      ),
    ).toEqual([]);
  });

  test('only commands that start or describe a server reach for it', () => {
    const reaching = within('cli').filter(({ imports }) =>
      imports.some(({ target }) => target.startsWith('server/')),
    );
    expect(reaching.map(({ path }) => path).toSorted()).toEqual([
      'cli/commands/openapi.ts',
      'cli/commands/serve.ts',
      'cli/quickstart/demo.ts',
    ]);
  });

  test('dynamic imports are literal, so that they are compiled in', () => {
    for (const { path, text } of product) {
      for (const [whole, quote = ''] of text.matchAll(DYNAMIC))
        expect([path, whole, quote === '' || whole.includes('${')]).toEqual([path, whole, false]);
    }
  });

  test('the engine is known to its own files alone', () => {
    const users = within('db').filter(({ imports }) => imports.some(({ target }) => /sqlite$/.test(target)));
    expect(users.map(({ path }) => path).toSorted()).toEqual([
      'db/sqlite/connection.ts',
      'db/sqlite/serving-lock.ts',
    ]);
    const outside = product.filter(
      ({ path, imports }) =>
        !path.startsWith('db/sqlite/') && imports.some(({ target }) => target.startsWith('db/sqlite/')),
    );
    expect(outside.map(({ path }) => path)).toEqual(['db/store.ts']);
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
  const NOT_KEPT = ['dist', 'node_modules'];

  test('is fixed', () => {
    const kept = readdirSync(ROOT).filter((name) => !name.startsWith('.') && !NOT_KEPT.includes(name));
    expect(kept.toSorted()).toEqual([...FIXED, ...TOOLS].toSorted());
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
    for (const name of NOT_KEPT) expect(ignored.some((line) => line.replaceAll('/', '') === name)).toBe(true);
  });

  test('pins every dependency', () => {
    const { dependencies, devDependencies, packageManager } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    expect(packageManager).toBe(`bun@${Bun.version}`);
  });
});
