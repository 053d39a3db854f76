// Who can use /docs, and where: with a keyboard, on a phone, in the dark, without scripts, below a path; axe finds nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { anchorOf } from '../../server/heading-anchor.ts';
import { describedOperations } from '../../server/interface.ts';
import { tags } from '../../server/openapi/tags.ts';
import { DESKTOP, DocsBrowser, hasBrowser, openForm, operation, PHONE, send } from '../support/docs-page.ts';

const SLOW_MS = 300_000;
const OPERATIONS = describedOperations().length;
const GROUPS = tags().map(({ name }) => anchorOf(String(name)));

let sandbox: DocsBrowser;
beforeAll(async () => {
  if (hasBrowser) sandbox = await DocsBrowser.start();
}, SLOW_MS);
afterAll(() => sandbox?.close(), SLOW_MS);

// Every kind of operation, of field and of answer is among these.
const SHOWN = [
  'createContact',
  'listDeals',
  'unlinkDealContacts',
  'setMeetingDeal',
  'batchCreatePipelines',
  'downloadTranscript',
  'createCompanyV1',
];

/** What axe finds, as `rule (impact): elements`. */
async function findings(page: Page): Promise<string[]> {
  const found = await page.evaluate<axe.Result[]>(
    `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
  );
  return found.map(
    ({ id, impact, nodes }) => `${id} (${impact}): ${nodes.map((node) => node.html).join(' ')}`,
  );
}

/** Opens operations, and everything in them and in the guide. */
async function openAll(page: Page, ids: readonly string[]): Promise<void> {
  const open = `document.querySelectorAll('details:not(.operation), ' +
    ${JSON.stringify(ids)}.map((id) => '.operation:has(> #' + id + ')').join()).forEach((details) => { details.open = true })`;
  await page.evaluate(open);
  for (const id of ids) await page.locator(`#${id} .told`).waitFor();
  await page.evaluate(open);
}

describe.skipIf(!hasBrowser)('axe finds nothing', () => {
  // To load the page takes longer than anything that is done with it.
  let page: Page;
  beforeAll(async () => {
    page = await sandbox.open({ viewport: PHONE });
    await page.evaluate(axe.source);
  }, SLOW_MS);

  const STATES: [string, (page: Page) => Promise<void>][] = [
    ['as it is first seen', async (page) => expect(await page.locator('main').count()).toBe(1)],
    [
      'with a request that cannot be sent without a key',
      async (page) => {
        const form = await openForm(page, 'createContact');
        await form.getByRole('button', { name: 'Send request' }).click();
      },
    ],
    [
      'with everything opened, and an error that was answered',
      async (page) => {
        await page.locator('#key-v2').fill('service_live_mistyped');
        await page.keyboard.press('Enter');
        await operation(page, 'createContact').locator('.status b').waitFor();
        await openAll(page, SHOWN);
      },
    ],
    [
      'with the keys on top',
      async (page) => {
        await page.evaluate(
          `document.querySelectorAll('details').forEach((details) => { details.open = false })`,
        );
        await page.locator('header .keys').click();
      },
    ],
  ];

  for (const [state, reach] of STATES)
    test(
      state,
      async () => {
        await reach(page);
        for (const [place, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP }))
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize(viewport);
            await page.emulateMedia({ colorScheme });
            expect([place, colorScheme, await findings(page)]).toEqual([place, colorScheme, []]);
          }
        await page.setViewportSize(PHONE);
      },
      SLOW_MS,
    );
});

describe.skipIf(!hasBrowser)('on a phone', () => {
  test(
    'the contents are behind a button, the first operation is near, and samples come before fields',
    async () => {
      const page = await sandbox.open({ viewport: PHONE });
      const contents = page.locator('#contents');
      expect(await contents.isVisible()).toBe(false);
      await page.locator('.menu').click();
      expect(await contents.isVisible()).toBe(true);
      await contents.getByRole('searchbox').fill('list deals');
      await contents.locator('#results a').first().click();
      expect(await contents.isVisible()).toBe(false);
      await page.locator('#listDeals .told').waitFor();
      await page.evaluate('scrollTo(0, 0)');
      const top = await page.evaluate<number>(
        `document.querySelector('.operation').getBoundingClientRect().top`,
      );
      expect(top).toBeLessThan(1_500);
      const [shown, told] = await page.evaluate<number[]>(`['.shown', '.told'].map((part) =>
        document.querySelector('#listDeals ' + part).getBoundingClientRect().top)`);
      expect(Number(shown)).toBeLessThan(Number(told));
      await openAll(page, SHOWN);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(PHONE.width);
      await page.context().close();
    },
    SLOW_MS,
  );
});

describe.skipIf(!hasBrowser)('with a keyboard', () => {
  const focused = (page: Page) =>
    page.evaluate<string>(`document.activeElement.id || document.activeElement.textContent.trim()`);

  test(
    'one skips to the content, searches, opens, sends and copies, and sees where one is',
    async () => {
      const page = await sandbox.open();
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Skip to content');
      await page.keyboard.press('Enter');
      expect(await focused(page)).toBe('content');
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Authentication');
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect(outline).toBe('solid');
      expect(await page.locator('#authentication').isVisible()).toBe(true);
      await page.keyboard.press('Enter');
      expect(await page.locator('#authentication').isVisible()).toBe(false);
      await page.keyboard.press('/');
      expect(await focused(page)).toBe('search-field');
      await page.keyboard.type('list contacts');
      await page.keyboard.press('Enter');
      await page.locator('#listContacts .told').waitFor();
      await page.locator('header .keys').focus();
      await page.keyboard.press('Enter');
      expect(await focused(page)).toBe('key-v2');
      await page.keyboard.type(sandbox.keys.v2);
      await page.keyboard.press('Escape');
      await operation(page, 'listContacts').locator('.try > summary').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('listContacts.query.limit');
      await page.keyboard.press('Enter');
      expect(await operation(page, 'listContacts').locator('.status b').textContent()).toBe('200 OK');
      await page.context().close();
    },
    SLOW_MS,
  );
});

describe.skipIf(!hasBrowser)('elsewhere', () => {
  test(
    'no operation is wider than a phone',
    async () => {
      const page = await sandbox.open({ viewport: PHONE, javaScriptEnabled: false });
      let operations = 0;
      for (const group of GROUPS) {
        await page.goto(`${sandbox.server.docsUrl}/${group}`);
        await page.evaluate(
          `document.querySelectorAll('details').forEach((details) => { details.open = true })`,
        );
        operations += await page.locator('.operation').count();
        expect([group, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
          group,
          PHONE.width,
        ]);
      }
      expect(operations).toBe(OPERATIONS);
      await page.context().close();
    },
    SLOW_MS,
  );

  test('without scripts all is there to be read, and it says where the description is', async () => {
    const page = await sandbox.open({ javaScriptEnabled: false });
    expect(await page.locator('.operation').count()).toBe(OPERATIONS);
    expect(await page.locator('noscript').textContent()).toContain('/openapi.json');
    await operation(page, 'createContact').locator('> summary').click();
    await page.locator('#createContact a').click();
    await page.waitForURL('**/docs/contacts#createContact');
    expect(await page.locator('#createContact .told').isVisible()).toBe(true);
    expect(await page.locator('.try').first().isVisible()).toBe(false);
    await page.context().close();
  });

  test('with scripts the page of a group leads to the one that has everything', async () => {
    const page = await sandbox.open({}, `${sandbox.server.docsUrl}/deals#getDeal`);
    await page.waitForURL('**/docs#getDeal');
    await page.locator('#getDeal .told').waitFor();
    await page.context().close();
  });

  test(
    'below a path, behind a proxy that takes the path away, everything works',
    async () => {
      const proxy = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: (request) => {
          const { pathname, search } = new URL(request.url);
          if (!pathname.startsWith('/crm/')) return new Response('not below /crm', { status: 404 });
          const address = `${behind.server.listensOn}${pathname.slice('/crm'.length)}${search}`;
          return fetch(new Request(address, request), { decompress: false });
        },
      });
      const behind = await DocsBrowser.start(`http://127.0.0.1:${proxy.port}/crm`);
      try {
        expect(behind.server.docsUrl).toBe(`http://127.0.0.1:${proxy.port}/crm/docs`);
        const page = await behind.open();
        expect(await page.locator('.operation').count()).toBe(OPERATIONS);
        await page.locator('header .keys').click();
        await page.locator('#key-v2').fill(behind.keys.v2);
        await page.keyboard.press('Escape');
        expect(await send(await openForm(page, 'listContacts'))).toBe('200 OK');
        const line = await operation(page, 'listContacts').locator('pre.curl').textContent();
        expect(line).toContain(`'${behind.server.url}/api/v2/contacts'`);
        expect(behind.asked.filter((url) => !/^(data:|.*\/crm\/)/.test(url))).toEqual([]);
        expect(behind.complaints).toEqual([]);
      } finally {
        await behind.close();
        await proxy.stop(true);
      }
    },
    SLOW_MS,
  );
});
