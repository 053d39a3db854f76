// The tour's two pictures of the terminal are what crm shows now; `bun run pictures` takes them again.
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { framed, PICTURES, tourFrames, tourScreens } from '../pictures/screens.ts';
import { svgOf } from '../pictures/terminal-svg.ts';
import { BINARY, Sandbox } from '../support/command.ts';
import { readDocument } from './documents.ts';

const TEST_MS_MAX = 300_000;

test.skipIf(!existsSync(BINARY))(
  'the screens on the page and in its pictures are those of the executable (needs dist/crm: bun run build)',
  async () => {
    await using sandbox = new Sandbox([BINARY]);
    const server = await sandbox.serveOrganization('Acme Inc');
    const screens = await tourScreens(sandbox);
    await server.stop();
    expect(screens.map(framed)).toEqual(tourFrames());
    expect(screens.map(svgOf)).toEqual(PICTURES.map((path) => readDocument(path).text));
  },
  TEST_MS_MAX,
);
