// What the docs tell: of every operation all that a developer needs, and where language models find it.
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Texts, textsOf } from '../../server/docs/texts.ts';
import { anchorOf } from '../../server/heading-anchor.ts';
import { describedOperations } from '../../server/interface.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { tags } from '../../server/openapi/tags.ts';
import type { Json } from '../support/json.ts';
import { resolved } from '../support/openapi.ts';

const OPERATIONS = describedOperations();
const GROUPS = tags().map(({ name }) => anchorOf(String(name)));
const document: Json = await openApiDocument();
const texts: Texts = await textsOf('http://crm.test');
const front = texts.page();
const pages = new Map<string, string>();
/** Each operation as HTML, by its id. */
const operations = new Map<string, string>();

beforeAll(async () => {
  for (const anchor of GROUPS) {
    const page = await texts.group(anchor);
    pages.set(anchor, page);
    for (const part of page.split('<section class="operation">').slice(1))
      operations.set(/ id="([^"]+)"/.exec(part)?.[1] ?? '', part);
  }
});

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

function textOf(html = ''): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

function all(html: string | undefined, pattern: RegExp): string[] {
  return [...(html ?? '').matchAll(pattern)].map(([, found = '']) => textOf(found));
}

/** Names of fields, at any depth. */
function fieldNames(schema: Json): string[] {
  const whole = resolved(document, schema ?? {});
  const inner = [whole.items, ...(whole.anyOf ?? []), ...(whole.oneOf ?? []), ...(whole.allOf ?? [])];
  const own = Object.entries<Json>(whole.properties ?? {});
  return [
    ...own.flatMap(([name, one]) => [name, ...fieldNames(one)]),
    ...inner.filter(Boolean).flatMap(fieldNames),
  ];
}

describe('an operation', () => {
  test('is told with its path, scopes, parameters, fields, answers and errors', () => {
    expect([...operations.keys()].toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted());
    for (const { id, method, path } of OPERATIONS) {
      const text = textOf(operations.get(id));
      const told: Json = document.paths[path][method.toLowerCase()];
      const parameters = (told.parameters ?? []).map((one: Json) => resolved(document, one).name);
      const bodies = [told.requestBody, ...Object.values<Json>(told.responses)].filter(Boolean);
      // Errors show examples instead of fields.
      const fields = bodies
        .filter((one) => one.$ref === undefined)
        .flatMap((one) => fieldNames(one.content?.['application/json']?.schema));
      const parts = [method, path, told.summary, ...told['x-required-scopes'], ...parameters, ...fields];
      const missing = [...parts, ...Object.keys(told.responses)].filter((part) => !text.includes(part));
      expect([id, missing]).toEqual([id, []]);
    }
  });

  test('has limits, defaults and examples', () => {
    const text = (id: string) => textOf(operations.get(id));
    expect(text('createContact')).toContain('at most 1,000 characters');
    expect(text('getContact')).toMatch(/id\s+string \(id\)/);
    expect(text('createContact')).toContain('for example ada@example.com');
    expect(text('listDeals')).toContain('1 to 200');
    expect(text('listDeals')).toContain('default 20');
    expect(text('listDeals')).toContain('one of open, won, lost');
    expect(text('batchCreateDeals')).toContain('at most 100 items');
    expect(text('createContact')).toContain('AUTH_INSUFFICIENT_SCOPE');
  });

  // An id of any length is one that names nothing.
  test('speaks of no length of an id', () => {
    const ids = [...operations.values()].flatMap((html) =>
      all(html, /string \(id\)[^<]*<\/span>(?:(?!<\/dt>).)*<\/dt><dd>((?:(?!<dt>).)*)/gs),
    );
    expect(ids.length).toBeGreaterThan(100);
    expect(ids.filter((text) => text.includes('characters'))).toEqual([]);
  });

  test('heads each sample with its status and its content, in the words of a developer', () => {
    const titles = new Map(
      [...operations].map(([id, html]) => [
        id,
        all(html, /<figure class="sample"><figcaption><span>(.*?)</g),
      ]),
    );
    expect(Object.fromEntries(titles)).toMatchObject({
      getContact: ['Request', '200 Contact'],
      createContact: ['Request', 'Body', '201 Contact'],
      upsertContact: ['Request', 'Body', '200 Contact', '201 Contact'],
      listContacts: ['Request', '200 Contact list'],
      addContactExternalId: ['Request', '200 External ID'],
      batchCreateContacts: ['Request', 'Body', '200 Batch result'],
      deleteContact: ['Request'],
      authenticate: ['Request', '200 Team'],
      getPerson: ['Request', '200 Person'],
    });
    const every = [...titles.values()].flat();
    expect(every.filter((one) => !/^(Request|Body|2\d\d [A-Z][A-Za-z ]+)$/.test(one))).toEqual([]);
    expect(every.filter((one) => /Response|answer|create result|link result/.test(one))).toEqual([]);
  });

  test('speaks of quotas where something is added, and nowhere else', () => {
    for (const { id, method, isWrite, isDelete = method === 'DELETE' } of OPERATIONS)
      expect([id, /X-Quota-Records-Used|quota\.records/.test(operations.get(id) ?? '')]).toEqual([
        id,
        isWrite && !isDelete,
      ]);
    expect(textOf(operations.get('getAuthentication'))).toContain(
      'This request needs the scope contacts:read',
    );
  });
});

describe('the guide', () => {
  const chapters = front.split('<details class="chapter"').slice(1);

  test('is open, and each chapter has an example', () => {
    expect(chapters.length).toBeGreaterThan(15);
    for (const chapter of chapters) {
      const [title] = all(chapter, /<h3>(.*?)<\/h3>/g);
      expect([title, chapter.startsWith(' open>'), chapter.includes('<pre>')]).toEqual([title, true, true]);
    }
  });

  test('has examples in JSON that are JSON', () => {
    const samples = all(front, /<pre><code class="language-json">(.*?)<\/code>/gs);
    expect(samples.length).toBeGreaterThan(3);
    for (const sample of samples) expect(() => JSON.parse(sample)).not.toThrow();
  });

  test('folds programs, and shows short samples', () => {
    const programs = all(front, /<details class="program"><summary>(.*?)<\/summary>/g);
    expect(programs.filter((one) => /^The program, \d+ lines of (TypeScript|Python)$/.test(one))).toEqual(
      programs,
    );
    expect(programs.length).toBe(5);
  });
});

test('the page has each place once, all links lead to a place, and it names only files beside it', () => {
  for (const [anchor, page] of [['', front] as const, ...pages]) {
    const ids = all(page, /\bid="([^"]+)"/g);
    expect([anchor, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([anchor, []]);
    const links = all(page, /\b(?:src|href)="([^"]+)"/g);
    const missing = links.filter((link) => link.startsWith('#') && !ids.includes(link.slice(1)));
    expect([anchor, missing]).toEqual([anchor, []]);
    const files = links.filter((link) => !link.startsWith('#')).map((link) => link.replace(/#.*/, ''));
    const beside =
      anchor === ''
        ? ['docs/page.css', 'docs/page.js', './favicon.ico', './openapi.json', 'openapi.json']
        : ['./page.css', './page.js', '../favicon.ico', '../openapi.json', '../docs'];
    const known = anchor === '' ? [...beside, ...GROUPS.map((group) => `docs/${group}`)] : beside;
    expect([anchor, files.filter((file) => !known.includes(file))]).toEqual([anchor, []]);
  }
  expect(front).toContain('id="from-version-1-to-version-2"');
});

test('language models find every operation, the guide and the document', () => {
  const summary = texts.summary();
  expect(summary).toStartWith('# CRM Records Service\n\n> Stores the customer records');
  for (const { id, method, path } of OPERATIONS) {
    const [, anchor = ''] =
      new RegExp(String.raw`\(http://crm\.test/docs/([\w-]+)#${id}\): \`${method} `).exec(summary) ?? [];
    expect([id, pages.get(anchor)?.includes(` id="${id}"`)]).toEqual([id, true]);
    expect(summary).toContain(`\`${method} ${path}\``);
  }
  expect(summary).toContain('http://crm.test/openapi.json');
  expect(summary).toContain('http://crm.test/docs/guide.md');
  expect(texts.guide()).toContain('\n## Authentication\n');
});

test('samples of the guide have the address of the service', () => {
  expect(texts.guide()).toContain(`curl 'http://crm.test/api/v2/authenticate'`);
  expect([texts.guide(), front, texts.json()].filter((text) => text.includes('127.0.0.1:4000'))).toEqual([]);
});
