// `bun run pictures`: takes the pictures of README and the tour from the executable itself: two screens, and the page at /docs.
import { join } from 'node:path';
import { BINARY, Sandbox } from '../support/command.ts';
import { docsPicture } from './docs-picture.ts';
import { PICTURES, renewTour, tourScreens } from './screens.ts';
import { svgOf } from './terminal-svg.ts';

const ROOT = join(import.meta.dir, '../..');

using sandbox = new Sandbox([BINARY]);
const server = await sandbox.serveOrganization('Acme Inc');
const screens = await tourScreens(sandbox);
await server.stop();

await renewTour(screens);
for (const [at, screen] of screens.entries()) await write(PICTURES[at] ?? '', svgOf(screen));
await write('server/docs/docs-page.png', await docsPicture());

async function write(path: string, picture: string | Uint8Array): Promise<void> {
  const size = await Bun.write(join(ROOT, path), picture);
  console.log(`${path}: ${(size / 1_024).toFixed(1)} KiB`);
}
