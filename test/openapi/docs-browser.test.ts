// /docs in a real browser: all of it is there and can be found, requests are sent with their key, no other host is asked.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describedOperations } from '../../server/interface.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { DocsBrowser, hasBrowser, openForm, operation, send } from '../support/docs-page.ts';
import type { Json } from '../support/json.ts';
import { resolved } from '../support/openapi.ts';

const SLOW_MS = 120_000;
// A browser on a busy machine takes its time.
setDefaultTimeout(SLOW_MS);
const document: Json = hasBrowser ? await openApiDocument() : {};

let sandbox: DocsBrowser;
let page: Page;
beforeAll(async () => {
  if (!hasBrowser) return;
  sandbox = await DocsBrowser.start();
  page = await sandbox.open();
}, SLOW_MS);
afterAll(() => sandbox?.close(), SLOW_MS);

/** What the page says of each operation, by its id. */
function textsById(): Promise<Record<string, string>> {
  return page.evaluate(`Object.fromEntries([...document.querySelectorAll('.operation > .opened')]
    .map((opened) => [opened.id, opened.parentElement.textContent]))`);
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

describe.skipIf(!hasBrowser)('/docs in a browser', () => {
  test('tells of every operation its path, scopes, parameters, fields, answers and errors', async () => {
    const texts = await textsById();
    const operations = describedOperations();
    expect(Object.keys(texts).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
    for (const { id, method, path } of operations) {
      const text = texts[id] ?? '';
      const told: Json = document.paths[path][method.toLowerCase()];
      const parameters = (told.parameters ?? []).map((one: Json) => resolved(document, one).name);
      const bodies = [told.requestBody, ...Object.values<Json>(told.responses)].filter(Boolean);
      const successes = bodies.slice(0, bodies.length).filter((one) => one.$ref === undefined);
      const fields = successes.flatMap((one) => fieldNames(one.content?.['application/json']?.schema));
      const parts = [method, path, told.summary, ...told['x-required-scopes'], ...parameters, ...fields];
      const missing = [...parts, ...Object.keys(told.responses)].filter((part) => !text.includes(part));
      expect([id, missing]).toEqual([id, []]);
    }
  });

  test('tells limits, defaults and examples', async () => {
    const texts = await textsById();
    expect(texts.createContact).toContain('at most 1,000 characters');
    expect(texts.getContact).toMatch(/id\s+string \(id\)/);
    expect(texts.createContact).toContain('for example ada@example.com');
    expect(texts.listDeals).toContain('1 to 200');
    expect(texts.listDeals).toContain('default 20');
    expect(texts.listDeals).toContain('one of open, won, lost');
    expect(texts.batchCreateDeals).toContain('at most 100 items');
    expect(texts.createContact).toContain('AUTH_INSUFFICIENT_SCOPE');
  });

  // An id of any length is one that names nothing.
  test('speaks of no length of an id', async () => {
    const told = await page.evaluate<string[]>(`[...document.querySelectorAll('dl.fields > div')]
      .filter((one) => one.querySelector('dt .type')?.textContent.startsWith('string (id)'))
      .map((one) => one.querySelector(':scope > dd > .traits')?.textContent ?? '')`);
    expect(told.length).toBeGreaterThan(100);
    expect(told.filter((text) => text.includes('characters'))).toEqual([]);
  });

  test('heads each response with its status and its content', async () => {
    const headings = await page.evaluate<Record<string, string[]>>(`Object.fromEntries(
      [...document.querySelectorAll('.operation > .opened')].map((opened) => [opened.id,
        [...opened.querySelectorAll('.shown > figure > figcaption')].map((one) => one.firstChild.textContent)]))`);
    expect(headings).toMatchObject({
      getContact: ['Request', '200 Contact'],
      createContact: ['Request', '201 Contact'],
      listContacts: ['Request', '200 Contact list'],
      batchCreateContacts: ['Request', '200 Contact batch result'],
      deleteContact: ['Request'],
      authenticate: ['Request', '200 Team'],
      getPerson: ['Request', '200 Person'],
    });
    const all = Object.values(headings).flat();
    expect(all.filter((one) => !/^(Request|2\d\d [A-Z][a-z ]+)$/.test(one))).toEqual([]);
    expect(all.filter((one) => /Response/.test(one))).toEqual([]);
  });

  test('speaks of quotas where something is added, and nowhere else', async () => {
    const texts = await textsById();
    for (const { id, method, isWrite, isDelete = method === 'DELETE' } of describedOperations())
      expect([id, /X-Quota-Records-Used|quota\.records/.test(texts[id] ?? '')]).toEqual([
        id,
        isWrite && !isDelete,
      ]);
    expect(texts.getAuthentication).toContain('This request needs the scope contacts:read');
    expect(texts.listContacts).toMatch(/403 .*\n?As in Get the organization/);
  });

  test('opens what an address names: an operation, or a chapter of the guide', async () => {
    await page.goto(`${sandbox.server.docsUrl}#createContact`);
    await page.locator('#createContact').waitFor({ state: 'visible' });
    for (const id of ['from-version-1-to-version-2', 'listDeals']) {
      await page.evaluate(`location.hash = '#${id}'`);
      await page.locator(`#${id}`).waitFor({ state: 'visible' });
      const top = await page.evaluate<number>(`document.getElementById('${id}').getBoundingClientRect().top`);
      expect(top).toBeWithin(0, 300);
    }
    expect(await page.locator('#from-version-1-to-version-2').textContent()).toContain('snake_case');
    await operation(page, 'getContact').locator('> summary').click();
    await page.waitForURL('**/docs#getContact');
  });

  test('lists what it holds at its side, and leads there', async () => {
    const contents = page.locator('nav[aria-label=Contents]');
    await contents.getByRole('link', { name: 'Bookings' }).click();
    await page.waitForFunction(`document.getElementById('bookings').getBoundingClientRect().top < 200`);
    await contents.getByRole('link', { name: 'GET List bookings' }).click();
    await page.locator('#listBookings').waitFor({ state: 'visible' });
  });

  test('finds operations by title and path, chapters and fields by their text', async () => {
    const field = page.locator('#contents').getByRole('searchbox', { name: 'Search operations' });
    const found = (words: string) =>
      field
        .fill(words)
        .then(() => page.locator('#results a .title, #results a:not(:has(.title))').allTextContents());
    await page.keyboard.press('/');
    expect((await found('create contact')).slice(0, 2)).toEqual([
      'Create a contact',
      'Create or update a contact',
    ]);
    expect((await found('/people/query'))[0]).toBe('List people');
    // A field, a parameter, an error, a header, a word of the guide, a plural.
    for (const [words, first, all] of [
      ['email', 'List contacts', 'Create a contact'],
      ['pagination', 'Lists', 'Lists'],
      ['rate limit', 'Limits', 'Limits'],
      ['AUTH_INSUFFICIENT_SCOPE', 'Errors', 'Errors'],
      ['custom fields', 'Values', 'Values'],
      ['emails', 'List contacts', 'Create a contact'],
      ['estimated_value', 'List deals', 'Create a deal'],
    ] as const) {
      const names = await found(words);
      expect([words, names]).toEqual([words, expect.arrayContaining([first, all])]);
      expect([words, await page.locator('#results li').first().locator('.old').count()]).toEqual([words, 0]);
    }
    await found('email');
    const isOld = await page.evaluate<boolean[]>(
      `[...document.querySelectorAll('#results li')].map((one) => one.querySelector('.old') !== null)`,
    );
    expect(isOld).toContain(true);
    expect(isOld.indexOf(true)).toBeGreaterThan(isOld.lastIndexOf(false));
    expect(await found('idempotent-replayed')).toContain('Idempotency');
    expect(await found('probability')).toContain('Create a pipeline');
    expect(await found('xylophone')).toEqual([]);
    expect(await page.locator('#found').textContent()).toBe('No results');
    await found('delete deal');
    await field.press('Enter');
    await page.locator('#deleteDeal').waitFor({ state: 'visible' });
    await field.fill('');
    await page.locator('.contents').waitFor({ state: 'visible' });
  });

  test('has asked its own server only, and complained of nothing', () => {
    expect(sandbox.asked.length).toBeGreaterThan(2);
    const elsewhere = sandbox.asked.filter(
      (url) => !url.startsWith(`${sandbox.server.url}/`) && !url.startsWith('data:'),
    );
    expect(elsewhere).toEqual([]);
    expect(sandbox.complaints).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('trying an operation', () => {
  const sent: Record<string, string>[] = [];
  beforeAll(() => {
    page?.on('request', async (request) => {
      if (request.url().includes('/api/')) sent.push(await request.allHeaders());
    });
  });

  test('without a key asks for one, and sends nothing without', async () => {
    const form = await openForm(page, 'listContacts');
    await form.getByRole('button', { name: 'Send request' }).click();
    const field = page.locator('#keys').getByLabel('Version 2 key');
    await field.waitFor({ state: 'visible' });
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('key-v2');
    await page.keyboard.press('Escape');
    await form.locator('.status b').waitFor();
    expect(await form.locator('.status').textContent()).toContain(
      'Request not sent: it needs a version 2 key',
    );
    expect(sent).toEqual([]);
  });

  test('sends the request once a key is entered, and shows an error with its status and headers', async () => {
    const form = operation(page, 'listContacts').locator('.try');
    await form.getByRole('button', { name: 'Send request' }).click();
    await page.locator('#keys').getByLabel('Version 2 key').fill('service_live_mistyped');
    await page.locator('#keys').getByRole('button', { name: 'Done' }).click();
    await form.locator('.status b', { hasText: '401 Unauthorized' }).waitFor();
    expect(await form.locator('.answered').textContent()).toContain('AUTH_INVALID_API_KEY');
    expect(await form.locator('.answered details').textContent()).toContain('www-authenticate: Bearer');
    expect(sent).toHaveLength(1);
  });

  test('sends the key of its version, in one header, the one that is chosen', async () => {
    const opener = page.locator('header .keys');
    const dialog = page.locator('#keys');
    await opener.click();
    expect(await dialog.locator('input[type=password]').count()).toBe(2);
    expect(await dialog.locator('input:not([type=password], [type=radio])').count()).toBe(0);
    await dialog.getByLabel('Version 2 key').fill(sandbox.keys.v2);
    await dialog.getByLabel('Version 1 key').fill(sandbox.keys.v1);
    await dialog.getByRole('button', { name: 'Done' }).click();

    const v2 = operation(page, 'listContacts').locator('.try');
    expect(await send(v2)).toBe('200 OK');
    expect(sent.at(-1)).toMatchObject({ authorization: `Bearer ${sandbox.keys.v2}` });
    expect(sent.at(-1)).not.toHaveProperty('x-service-api-key');
    const v1 = await openForm(page, 'authenticate');
    expect(await send(v1)).toBe('200 OK');
    expect(sent.at(-1)).toMatchObject({ authorization: `Bearer ${sandbox.keys.v1}` });

    expect(await opener.textContent()).toBe('API keys: v2, v1');
    await opener.click();
    await dialog.getByLabel('X-Service-Api-Key').check();
    await page.keyboard.press('Escape');
    expect(await send(v2)).toBe('200 OK');
    expect(sent.at(-1)).toMatchObject({ 'x-service-api-key': sandbox.keys.v2 });
    expect(sent.at(-1)).not.toHaveProperty('authorization');
  });

  test(
    'fills in path, query, headers and body, and says the same to curl',
    async () => {
      const create = await openForm(page, 'createContact');
      await create.getByLabel('Idempotency-Key').fill('first');
      await create.locator('textarea').fill(`{"first_name": "O'Brien"}`);
      expect(await send(create)).toBe('201 Created');
      expect(sent.at(-1)).toMatchObject({ 'idempotency-key': 'first', 'content-type': 'application/json' });
      const created = JSON.parse((await create.locator('.answered pre.json').textContent()) ?? '');
      expect(created.data.first_name).toBe("O'Brien");
      expect(await send(create)).toBe('201 Created');
      expect(await create.locator('.answered details').textContent()).toContain('idempotent-replayed: true');
      expect(await replay('createContact')).toEqual(created);

      const get = await openForm(page, 'getContact');
      await get.getByLabel('id required').fill(created.data.id);
      expect(await send(get)).toBe('200 OK');
      expect((await replay('getContact')).data).toEqual(created.data);

      const list = operation(page, 'listContacts').locator('.try');
      await list.getByLabel('limit').fill('1');
      await list.getByLabel('sort_direction').selectOption('asc');
      expect(await send(list)).toBe('200 OK');
      expect((await replay('listContacts')).data).toEqual([created.data]);
    },
    SLOW_MS,
  );

  /** Runs the line for curl of an operation, as it would be copied. */
  async function replay(id: string): Promise<Json> {
    const line = (await operation(page, id).locator('pre.curl').textContent()) ?? '';
    expect(line).not.toContain(sandbox.keys.v2);
    const run = Bun.spawn(['bash', '-c', line.replace('curl', 'curl -s')], {
      env: { ...process.env, CRM_API_KEY: sandbox.keys.v2 },
    });
    return JSON.parse(await new Response(run.stdout).text());
  }

  test('lets a sample be copied', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const request = operation(page, 'getContact').locator('.shown > figure').first();
    await request.getByRole('button', { name: 'Copy' }).click();
    await request.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe((await request.locator('pre').textContent()) ?? '');
  });

  test('shows the faults of a body', async () => {
    const form = operation(page, 'createContact').locator('.try');
    await form.getByLabel('Idempotency-Key').fill('');
    await form.locator('textarea').fill('{"email": "nobody@", "phone": 7}');
    expect(await send(form)).toBe('422 Unprocessable Entity');
    expect(await form.locator('.answered pre.json').textContent()).toContain('must be an email address');
  });

  test('keeps the keys in memory only', async () => {
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).toBe(JSON.stringify([{}, {}, '', page.url()]));
    expect(page.url()).not.toContain('service_');
    await page.reload();
    const values = await page.evaluate<string[]>(
      `[...document.querySelectorAll('input[type=password]')].map((one) => one.value)`,
    );
    expect(values).toEqual(['', '']);
  });

  test('could not ask another host if it tried', async () => {
    const outcome = await page.evaluate(`
      new Promise((resolve) => {
        addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
        fetch('https://elsewhere.example/').then(() => resolve('sent'), () => undefined);
      })
    `);
    expect(outcome).toBe('connect-src');
  });
});
