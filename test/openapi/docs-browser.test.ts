// /docs in a real browser: all of it is there and can be found, requests are sent with their key, no other host is asked.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { DocsBrowser, hasBrowser, openForm, operation, send } from '../support/docs-page.ts';
import type { Json } from '../support/json.ts';

const SLOW_MS = 300_000;
// A browser on a busy machine takes its time.
setDefaultTimeout(SLOW_MS);
const NODES_MAX = 4_000;

let sandbox: DocsBrowser;
let page: Page;
beforeAll(async () => {
  if (!hasBrowser) return;
  sandbox = await DocsBrowser.start();
  page = await sandbox.open();
}, SLOW_MS);
afterAll(() => sandbox?.close(), SLOW_MS);

describe.skipIf(!hasBrowser)('/docs in a browser', () => {
  test('is light, and loads an operation when it is opened', async () => {
    const count = () => page.evaluate<number>(`document.getElementsByTagName('*').length`);
    expect(await count()).toBeLessThan(NODES_MAX);
    const loaded = () => sandbox.asked.filter((url) => url.endsWith('/docs/contacts')).length;
    expect(loaded()).toBe(0);
    await operation(page, 'deleteContact').locator('> summary').click();
    await page.locator('#deleteContact .told').waitFor();
    await operation(page, 'undeleteContact').locator('> summary').click();
    await page.locator('#undeleteContact .told').waitFor();
    // Those of a group come together.
    expect(loaded()).toBe(1);
    expect(await page.locator('.told').count()).toBe(2);
  });

  test('says why an operation could not be loaded, and loads it when it is opened again', async () => {
    await page.route('**/docs/bookings', (route) => route.abort());
    const summary = operation(page, 'getBooking').locator('> summary');
    await summary.click();
    await page.locator('#getBooking', { hasText: 'Close and open it to try again' }).waitFor();
    sandbox.complaints.length = 0;
    await page.unroute('**/docs/bookings');
    await summary.click();
    await summary.click();
    await page.locator('#getBooking .told').waitFor();
  });

  test('keeps samples beside the fields', async () => {
    await page.evaluate(`location.hash = '#createDeal'`);
    const shown = page.locator('#createDeal .shown');
    await shown.waitFor();
    await page.evaluate('scrollBy(0, 1500)');
    const { top, field } = await page.evaluate<Record<string, number>>(`({
      top: document.querySelector('#createDeal .shown').getBoundingClientRect().top,
      field: document.querySelector('#createDeal .told').getBoundingClientRect().top,
    })`);
    expect(field).toBeLessThan(0);
    expect(top).toBeWithin(0, 200);
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
    const field = page.locator('#contents').getByRole('searchbox', { name: 'Search' });
    const found = async (words: string) => {
      await page.evaluate(`document.getElementById('found').textContent = ''`);
      await field.fill(words);
      await page.locator('#found', { hasText: /result/i }).waitFor();
      return page.locator('#results a .title, #results a:not(:has(.title))').allTextContents();
    };
    const words = page.waitForResponse('**/docs/words.json');
    await page.keyboard.press('/');
    await (await words).finished();
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
    // Typing errors, in a name, a field and a word of the guide.
    expect((await found('craete contcat'))[0]).toBe('Create a contact');
    expect(await page.locator('#found').textContent()).toContain('results for “create contact”');
    expect(await found('estimated_valeu')).toContain('Create a deal');
    expect((await found('paginaton'))[0]).toBe('Lists');
    await found('delete deal');
    await field.press('Enter');
    await page.locator('#deleteDeal').waitFor({ state: 'visible' });
    const focused = () => page.evaluate<string>('document.activeElement.hash ?? document.activeElement.id');
    await found('get a deal');
    const [first, second] = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#results a')].map((one) => one.hash)`,
    );
    await field.press('ArrowDown');
    expect(await focused()).toBe(String(first));
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe(String(second));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('search-field');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator(`${first} .told`).waitFor();
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

  test('shows the request in each language, as the form is filled in', async () => {
    const shown = page.locator('#getContact .shown');
    const sample = shown.locator('pre').first();
    const get = operation(page, 'getContact').locator('.try');
    await get.getByLabel('id required').fill('019b-my-id');
    for (const [language, line] of [
      ['crm', /^crm --url http:\S+ get contacts 019b-my-id$/],
      ['TypeScript', /^const response = await fetch\('http:\S+019b-my-id'/],
      ['Python', /^import os, urllib\.error, urllib\.request\n/],
    ] as const) {
      await shown.getByRole('tab', { name: language }).click();
      expect(await sample.textContent()).toMatch(line);
    }
    // The choice holds for all.
    const other = page.locator('#createContact .shown');
    expect(await other.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe('true');
    expect(await other.locator('pre').first().textContent()).toContain(
      'import json, os, urllib.error, urllib.request',
    );
    await shown.getByRole('tab', { name: 'Python' }).press('ArrowRight');
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('curl');
    expect(await sample.textContent()).toContain("curl 'http");
  });

  test('lets a sample be copied', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const request = operation(page, 'getContact').locator('.shown > figure').first();
    // Watched from within the page, since it says so for a moment only.
    const said = page.evaluate<string>(`new Promise((resolve) => {
      const button = document.querySelector('#getContact .shown > figure [data-copy]');
      new MutationObserver(() => resolve(button.textContent)).observe(button, { childList: true });
    })`);
    await request.getByRole('button', { name: 'Copy' }).click();
    expect(await said).toBe('Copied');
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
