// A picture of the page at /docs, as Chromium shows it, in few enough colours to be small.
import { DocsBrowser, operation } from '../support/docs-page.ts';
import { withFewColors } from './small-png.ts';

const SHOWN = { width: 1_240, height: 780 };
const OPERATION = 'createContact';
const ADDRESS = 'http://127.0.0.1:4000';
const COLORS = 64;

/** Opens an operation on the page and takes its picture. */
export async function docsPicture(): Promise<Uint8Array> {
  const sandbox = await DocsBrowser.start(ADDRESS);
  try {
    const { listensOn } = sandbox.server;
    const page = await sandbox.open({ viewport: SHOWN, colorScheme: 'light' }, `${listensOn}/docs`);
    // The page shows the address that it comes from, which is to be the usual one.
    await page.route(`${ADDRESS}/**`, async (route) => {
      const url = route.request().url().replace(ADDRESS, listensOn);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    await page.goto(`${ADDRESS}/docs#${OPERATION}`);
    await page.locator(`#${OPERATION} .told`).waitFor();
    await operation(page, OPERATION).scrollIntoViewIfNeeded();
    return withFewColors(await page.screenshot({ type: 'png' }), COLORS);
  } finally {
    await sandbox.close();
  }
}
