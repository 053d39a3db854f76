// /docs in a real browser: every operation is there, a request with a key works, and no other host is ever asked.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { openStore } from '../../db/store.ts';
import { createOrganization } from '../../db/tables/accounts.ts';
import { issueKey } from '../../db/tables/keys.ts';
import { describedOperations } from '../../server/interface.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';

const CHROMIUM = '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) console.warn(`/docs is not tested in a browser: there is no ${CHROMIUM}.`);

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Whatever the page might try, nothing leaves this machine.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
const WAIT_MS = 30_000;

let folder: string;
let server: RunningServer;
let key: string;
let browser: BrowserContext;
let page: Page;
const asked: string[] = [];
const complaints: string[] = [];

/** A database with one organization and a key for its contacts. */
async function prepareDatabase(path: string): Promise<string> {
  const store = await openStore(path);
  const now = Date.now();
  const { id: orgId } = await store.write((trx) => createOrganization(trx, 'Acme', now));
  const issued = await store.write((trx) =>
    issueKey(trx, {
      orgId,
      api: 'v2',
      name: null,
      scopes: ['contacts:read', 'contacts:write'],
      access: 'organization',
      userId: null,
      expiresAt: null,
      now,
    }),
  );
  await store.close();
  return issued.key;
}

beforeAll(async () => {
  if (!isThere) return;
  folder = mkdtempSync(join(tmpdir(), 'crm-docs-'));
  const db = join(folder, 'crm.db');
  key = await prepareDatabase(db);
  server = await startServer({
    db,
    host: '127.0.0.1',
    port: 0,
    keyLimit: 200,
    orgLimit: 1_000,
    log: 'off',
  });
  browser = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
  });
  page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(server.docsUrl);
  await page.waitForSelector('.opblock');
}, 60_000);

afterAll(async () => {
  if (!isThere) return;
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isThere)('/docs in a browser', () => {
  test('shows every operation', async () => {
    const shown = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock')].map(({ id }) => id)`,
    );
    const expected = describedOperations().map(
      ({ id, tag }) => `operations-${tag.replaceAll(' ', '_')}-${id}`,
    );
    expect(shown.toSorted()).toEqual(expected.toSorted());
  });

  test('lists what it holds at its side, and leads there', async () => {
    await page.getByRole('navigation').getByRole('button', { name: 'Bookings' }).click();
    await page.waitForFunction(
      `document.querySelector('[data-tag="Bookings"]').getBoundingClientRect().top < 200`,
    );
  });

  test('sends a request with a key and shows the answer', async () => {
    await page.locator('.scheme-container .authorize').click();
    const bearer = page.locator('.auth-container').filter({ hasText: 'BearerToken' });
    await bearer.locator('input').fill(key);
    await bearer.locator('button.authorize').click();
    await page.locator('.btn-done').first().click();

    const list = page.locator('#operations-Contacts-listContacts');
    await list.locator('.opblock-summary-control').click();
    await list.locator('.execute').click();
    const answer = list.locator('.live-responses-table tbody');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').textContent()).toStartWith('200');
    expect(await answer.textContent()).toContain('"has_next_page": false');
  }, 60_000);

  // Opening all of them takes a browser a quarter of a minute; these have every shape of parameters, body and answer.
  for (const id of [
    'Deals-listDeals',
    'Deals-createDeal',
    'Deals-unlinkDealContacts',
    'Interactions-batchCreateInteractions',
    'Meetings-getMeetingDeal',
    'Meetings-setMeetingDeal',
    'Notes-linkNoteRecords',
    'Pipelines-updatePipeline',
    'Recordings-downloadTranscript',
    'Segments-listSegmentMembers',
    'v1_Companies-createCompanyV1',
    'v1_People-queryPeople',
  ]) {
    test(`opens ${id}`, async () => {
      const block = page.locator(`#operations-${id}`);
      await block.locator('.opblock-summary-control').click();
      await block.locator('.responses-table').first().waitFor();
      expect(await block.textContent()).not.toContain('Could not render');
      await block.locator('.opblock-summary-control').click();
    }, 60_000);
  }

  test('has asked its own server only, and complained of nothing', () => {
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
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
