// What every Markdown file of the repository names is there: pages, anchors, files, commands and their flags.
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allTopics, GROUP_TITLES, pageTitle, summaryOf } from '../../cli/manual/topics.ts';
import { buildProgram } from '../../cli/program.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { crmLines, faultOf } from './crm-lines.ts';
import {
  allDocuments,
  anchorsOf,
  brokenLinks,
  fencesOf,
  inlineCodeOf,
  MANUAL,
  manualPages,
  ROOT,
  readDocument,
  topicOf,
} from './documents.ts';
import { blocksOf } from './run-page.ts';

const SUMMARY_CHARACTERS_MAX = 72;
// Of code on a terminal.
const CODE_INDENT = 4;

const documents = allDocuments();
const byPath = new Map(documents.map((document) => [document.path, document]));
const program = buildProgram();
const topics = allTopics().map(({ name }) => name);

describe('the index of the manual', () => {
  test('has every page, and no other', () => {
    const indexed = allTopics().map(({ name }) => name);
    expect(indexed.toSorted()).toEqual(manualPages().map(topicOf));
    expect(new Set(indexed).size).toBe(indexed.length);
  });

  test('has a test for each group', () => {
    for (const title of GROUP_TITLES) {
      const name = title.toLowerCase().replaceAll(' ', '-');
      expect(readFileSync(join(import.meta.dir, `${name}.test.ts`), 'utf8')).toContain(
        `testGroup('${title}')`,
      );
    }
  });

  for (const { name, page } of allTopics())
    test(`${name} has a title and a summary that fits a list`, () => {
      expect(page).toMatch(/^# \S.*\n\n\S/);
      expect(pageTitle(page)).not.toMatch(/[.`]$/);
      expect(summaryOf(page)).toMatch(/^[A-Z`].*\.$/);
      // The list leaves its full stop out.
      expect(summaryOf(page).length - 1).toBeLessThanOrEqual(SUMMARY_CHARACTERS_MAX);
    });
});

describe.each(documents.map((document) => [document.path, document] as const))('%s', (path, document) => {
  test('links lead to what is there', () => {
    const isThere = (target: string) => existsSync(join(ROOT, target));
    const known = new Map(byPath);
    expect(brokenLinks(document, known, isThere)).toEqual([]);
  });

  test('commands have names and flags that there are', () => {
    const isExample = path === 'README.md' || path.startsWith(MANUAL);
    const scripts = fencesOf(document).filter(({ language }) => language === 'sh' && isExample);
    const inline = inlineCodeOf(document).filter((code) => code.startsWith('crm '));
    const lines = [
      ...scripts.flatMap(({ text }) => crmLines(text)),
      ...inline.flatMap((code) => crmLines(code.replace(/[[\]()]/g, ''))),
    ];
    const faults = lines.flatMap((words) => {
      const fault = faultOf(program, words, topics);
      return fault === null ? [] : [`crm ${words.join(' ')}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  if (path.startsWith(MANUAL))
    test('commands fit a terminal of 80 columns', () => {
      const scripts = fencesOf(document).filter(({ language }) => language === 'sh');
      const lines = scripts.flatMap(({ text, indent }) => text.split('\n').map((line) => indent + line));
      // JSON that a file is made of cannot be broken.
      const wide = lines.filter((line) => line.length > 80 - CODE_INDENT && !line.startsWith('{"'));
      expect(wide).toEqual([]);
    });

  test('a paragraph after a list does not continue its last item', () => {
    const lines = document.text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').split('\n');
    const isItem = (line = '') => /^\s*(?:[-*]|\d+\.) /.test(line);
    expect(
      lines.filter((line, index) => isItem(lines[index - 1]) && /^\S/.test(line) && !isItem(line)),
    ).toEqual([]);
  });

  test('files and folders that it names exist', () => {
    const named = inlineCodeOf(document).filter((code) => /^(?:db|server|cli|test)\/[\w./-]*$/.test(code));
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  if (path === 'README.md' || path.startsWith(MANUAL))
    test('fences are of a kind that is known', () => {
      expect(() => blocksOf(document)).not.toThrow();
    });
});

describe('the page about the model', () => {
  const { text } = readDocument(`${MANUAL}/model.md`);
  const rows = new Map(
    [...text.matchAll(/^\| `(\w+)` \|[^|]+\|([^|]*)\|/gm)].map(([, name, to]) => [name, to]),
  );

  test('has a row for each resource, and no other', () => {
    expect([...rows.keys()].toSorted()).toEqual(RESOURCES.map(({ name }) => name).toSorted());
  });

  test.each(RESOURCES)('says what $name lead to', ({ name, fields, links }) => {
    const references = Object.values(fields).flatMap(({ references }) => references ?? []);
    const linked = Object.values(links ?? {}).flatMap(({ children }) => Object.values(children));
    const nouns = [...references, ...linked].filter((one) => one !== 'users').map(singularOf);
    const stem = (noun: string) => noun.replace(/y$/, '');
    expect(nouns.filter((noun) => !rows.get(name)?.includes(stem(noun)))).toEqual([]);
  });
});

describe('the checks see', () => {
  const page = (text: string) => ({ path: 'cli/manual/x.md', text });
  const fault = (line: string) => crmLines(line).map((words) => faultOf(program, words, ['backup']));

  test.each([
    ['crm nope', 'crm has no "nope"'],
    ['crm keys isue', 'crm keys has no "isue"'],
    ['crm keys issue|nope', 'crm keys has no "nope"'],
    ['crm serve --ports 1', 'crm serve has no --ports'],
    ['sudo -u crm crm serve --nope', 'crm serve has no --nope'],
    ['KEY=$(crm keys issue --al-scopes) crm health', 'crm keys issue has no --al-scopes'],
    ['crm list contact', 'crm list: there is no "contact"'],
    ['crm list -o xml contacts', '-o: there is no "xml"'],
    ['cat x | crm import contacts - --frmat csv', 'crm import has no --frmat'],
    ['crm help bakup', 'crm help: there is no "bakup"'],
    ['crm recipe sytemd > x', 'crm recipe: there is no "sytemd"'],
    ['crm health ready', 'crm health does not take "ready"'],
    ['crm backup a \\\n  --kep 3', 'crm backup has no --kep'],
  ])('the fault of %p', (line, expected) => {
    expect(fault(line)).toContain(expected);
  });

  test.each([
    ['crm COMMAND --help'],
    ['crm help backup'],
    ['crm help keys issue'],
    ['crm keys issue|list|update'],
    ['crm -o json list deals/$DEAL/contacts --filter "a=b" > out 2>&1'],
    ['crm serve --port 4100 --log off & # crm nope'],
    ["crm create deals name='crm nope; x' estimated_value=1"],
    ['cat > x <<END\ncrm nope\nEND\ncrm health'],
    ['crm recipe systemd | sudo tee /etc/x'],
    ['install -o crm /var/lib/crm'],
  ])('no fault in %p', (line) => {
    expect(fault(line).filter((one) => one !== null)).toEqual([]);
  });

  test('links to a page, an anchor or a file that is not there', () => {
    const all = new Map([
      ['cli/manual/y.md', page('# Y\n\n## Rotate a `key`, *now*\n\n## Rotate a key, now\n')],
    ]);
    const links = '[a](y.md) [b](y.md#rotate-a-key-now) [c](y.md#rotate-a-key-now-1) [d](https://x.example)';
    const broken = '[e](z.md) [f](y.md#nope) [g](#nope) [h](../../README.md)';
    const exists = (path: string) => path === 'cli/manual/y.md' || path === 'cli/manual/x.md';
    expect(brokenLinks(page(`${links} ${broken}`), all, exists)).toEqual([
      ...['z.md', 'y.md#nope', '#nope', '../../README.md'],
    ]);
  });

  test('anchors as GitHub makes them', () => {
    const text = '# `crm help`: what, *why* & how\n\n## 1. Get it\n\n## TLS and proxies\n';
    expect([...anchorsOf(page(text))]).toEqual(['crm-help-what-why--how', '1-get-it', 'tls-and-proxies']);
  });

  test.each([
    ['```output\nx\n```\n', 'follows no block'],
    ['```sh norun\nx\n```\n\n```output\nx\n```\n', 'follows no block'],
    ['```sh tour\nx\n```\n', '"tour" is not known'],
    ['```\nx\n```\n', 'names no language'],
    ['```sh\nx\n', 'not closed'],
  ])('the fault of a fence: %p', (text, expected) => {
    expect(() => blocksOf(page(text))).toThrow(expected);
  });
});
