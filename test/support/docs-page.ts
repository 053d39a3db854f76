// The page at /docs in a real browser, beside a service with one organization and a key for each version.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import type { RunningServer } from '../../server/serve.ts';
import { type DocsService, startDocsService } from './docs-service.ts';

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
    private readonly service: DocsService,
    private readonly browser: Browser,
  ) {}

  get server(): RunningServer {
    return this.service.server;
  }

  get keys(): DocsService['keys'] {
    return this.service.keys;
  }

  static async start(baseUrl?: string): Promise<DocsBrowser> {
    const service = await startDocsService(baseUrl);
    const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
    return new DocsBrowser(service, browser);
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
    await this.service.stop();
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
