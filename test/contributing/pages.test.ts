// README and the contributors' pages name what exists: files, folders, identifiers, packages and versions.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dir, '../..');
const LAYERS = ['db', 'server', 'cli', 'test'];
/** Folders with a page of their own. */
const WITH_PAGE = [...LAYERS, 'server/lifecycle'];
const README_BYTES_MAX = 12_000;
const PICTURE_BYTES_MAX = 60 * 1_024;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const withoutBlocks = (text: string) => text.replaceAll(/^ *```.*?^ *```$/gms, '');
const codeIn = (text: string) =>
  [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

// `deals/{id}/contacts` is a path of the interface, and `manual/TOPIC.md` stands for any page.
const PATH = /^\.?[\w-][\w.-]*(?:\/[\w.-]*)+$|^[\w-][\w.-]*\.(?:tsx?|md|json)$/;
const PLACEHOLDER = /\b[A-Z]{4,}\.md$/;
const isPath = (code: string) => PATH.test(code) && !PLACEHOLDER.test(code) && !code.startsWith('dist/');

const IDENTIFIER = /^(?:[a-z]+(?:[A-Z]\w*)|[A-Z][a-z]+[A-Z]\w*|[A-Z]+(?:_[A-Z]+)+)(?:\(\))?$/;
const source = LAYERS.flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('contributing/'))
    .map((path) => read(join(layer, path))),
).join('\n');

for (const [page, folder] of [
  ['README.md', ''],
  ...WITH_PAGE.map((layer) => [`${layer}/README.md`, layer]),
]) {
  if (page === undefined || folder === undefined) continue;
  describe(page, () => {
    const codes = codeIn(read(page));

    test('names files and folders that exist', () => {
      const exists = (path: string) => existsSync(join(ROOT, folder, path)) || existsSync(join(ROOT, path));
      expect(codes.filter((code) => isPath(code) && !exists(code))).toEqual([]);
    });

    test('names identifiers that the code has', () => {
      const named = codes.filter((code) => IDENTIFIER.test(code)).map((code) => code.replace('()', ''));
      expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
    });
  });
}

for (const layer of LAYERS) {
  test(`${layer}/README.md says what each folder is for`, () => {
    const codes = codeIn(read(`${layer}/README.md`));
    const folders = readdirSync(join(ROOT, layer), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.filter((name) => !codes.includes(`${name}/`))).toEqual([]);
  });
}

describe('README', () => {
  const readme = read('README.md');

  test(`has ${README_BYTES_MAX} bytes at most, and small pictures`, () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(README_BYTES_MAX);
    const pictures = [...readme.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = '']) => path);
    expect(pictures.length).toBe(2);
    for (const path of pictures)
      expect(statSync(join(ROOT, path)).size).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
  });

  test('names the files of this release', () => {
    const versions = [...readme.matchAll(/\bcrm-(\d+\.\d+\.\d+)-/g)].map(([, version]) => version);
    expect(versions).toContain(manifest.version);
    expect(new Set(versions).size).toBe(1);
  });

  test('gives a reason for each package, and for no other', () => {
    const section =
      readme.slice(readme.indexOf('\n## Dependencies\n')).split(/\n## (?!Dependencies)/)[0] ?? '';
    const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
    const named = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const { dependencies, devDependencies } = manifest;
    expect(named.toSorted()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).toSorted());
  });
});

test('the newest version of the changelog is the one of this build', () => {
  const [, version] = /^## (\S+) \(\d{4}-\d\d-\d\d\)$/m.exec(read('CHANGELOG.md')) ?? [];
  expect(version).toBe(manifest.version);
});
