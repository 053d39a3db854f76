// `bun run pictures`: draws README's pictures from the executable itself: a terminal, and the page at /docs.
import { join } from 'node:path';
import { docsPicture } from './docs-picture.ts';
import { terminalPicture } from './terminal-picture.ts';

const ROOT = join(import.meta.dir, '../..');
const PICTURES = {
  'cli/manual/terminal.svg': terminalPicture,
  'server/docs/docs-page.png': docsPicture,
};

for (const [path, draw] of Object.entries(PICTURES)) {
  const size = await Bun.write(join(ROOT, path), await draw());
  console.log(`${path}: ${(size / 1_024).toFixed(1)} KiB`);
}
