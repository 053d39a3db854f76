// The page at /docs in a real browser, beside a service with one organization and a key for each version.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { openStore } from '../../db/store.ts';
import { createOrganization } from '../../db/tables/accounts.ts';
import { issueKey } from '../../db/tables/keys.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Whether there is a browser to test with; those tests are skipped where there is none. */
export const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) console.warn(`/docs is not tested in a browser: there is no ${CHROMIUM}.`);

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
// A busy machine takes long to lay the page out.
const WAIT_MS = 90_000;

/** The screens of a desktop computer and of a phone. */
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** A service, a browser, and what its pages asked for and complained of. */
export class DocsBrowser {
  readonly asked: string[] = [];
  readonly complaints: string[] = [];

  private constructor(
    readonly server: RunningServer,
    readonly keys: { v1: string; v2: string },
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async start(baseUrl?: string): Promise<DocsBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'crm-docs-'));
    const db = join(folder, 'crm.db');
    const keys = await prepareDatabase(db);
    const server = await startServer({
      db,
      host: '127.0.0.1',
      port: 0,
      baseUrl,
      keyLimit: 200,
      orgLimit: 1_000,
      log: 'off',
    });
    const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
    return new DocsBrowser(server, keys, browser, folder);
  }

  /** Opens the page, or another address, in a browser window of its own. */
  async open(options: BrowserContextOptions = {}, address = this.server.docsUrl): Promise<Page> {
    const context = await this.browser.newContext({ viewport: DESKTOP, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('request', (request) => this.asked.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    await page.goto(address);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** An operation on the page. */
export function operation(page: Page, id: string): Locator {
  return page.locator(`details.operation:has(> #${id})`);
}

/** Opens an operation's form. */
export async function openForm(page: Page, id: string): Promise<Locator> {
  await page.evaluate(`location.hash = '#${id}'`);
  const form = operation(page, id).locator('.try');
  await form.locator('> summary').click();
  return form;
}

/** Sends what is in a form and waits for the status of the answer, such as `200 OK`. */
export async function send(form: Locator): Promise<string> {
  await form.getByRole('button', { name: 'Send request' }).click();
  return (await form.locator('.status b').textContent()) ?? '';
}

async function prepareDatabase(path: string): Promise<{ v1: string; v2: string }> {
  const store = await openStore(path);
  const now = Date.now();
  const { number: orgNumber } = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
  const owner = {
    orgNumber,
    name: null,
    access: 'organization',
    userId: null,
    expiresAt: null,
    now,
  } as const;
  const scopes = ['contacts:read', 'contacts:write'];
  const v2 = await store.write('accounts', (trx) => issueKey(trx, { ...owner, api: 'v2', scopes }));
  const v1 = await store.write('accounts', (trx) => issueKey(trx, { ...owner, api: 'v1', scopes: ['ALL'] }));
  await store.close();
  return { v1: v1.key, v2: v2.key };
}
