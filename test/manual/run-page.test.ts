// What the test of a page lets pass and what it does not; nothing is left of a page that was run.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import { difference, renewed } from './masks.ts';
import { runPage } from './run-page.ts';

describe('what differs from run to run', () => {
  test.each([
    [
      'Made Acme (01a1fbab-2a49-71d8-981e-40fb88903b14).',
      'Made Acme (01a204d3-4f35-77fb-9fc3-fa5897324987).',
    ],
    ['key service_live_i1KOnJJDQxPkpsRMvYvO', 'key service_live_hHYavIzWj4iR07laJdO5c'],
    ['Request id: req_2JsAJQGHbeoq9iEO0mzT', 'Request id: req_8_VhgqlUI9U2OAGfhxrY'],
    ['until 2026-11-22T20:01:03.615Z', 'until 2027-01-02T00:00:00.000Z'],
    ['2026-11-22 06:04  key.issued  root@vm     x', '2027-01-02 12:34  key.issued  crm@database-host  x'],
    ['3 of 3 rows (100%), 97 rows/s, 2 ok', '3 of 3 rows (100%), 1,204 rows/s, 2 ok'],
    [
      'Importing deals: 4 of 4 rows (100%), 31 rows/s, 4 ok\nImported 4',
      'Importing deals: 0 of 4 rows (0%)\nImporting deals: 4 of 4 rows (100%), 1.3 rows/s, 4 ok\nImported 4',
    ],
    ['links: 0 lines', 'Exporting links: 0 links\nlinks: 0 lines'],
    ['23:59:59  key …0afe35  created', '2026-11-22 00:00:01  key …12d659  created'],
    ['created (0 s).', 'created (2 min 5 s).'],
    ['after 2 ms', 'after 0.41 s'],
    ['crm 0.1.0 (commit 0123456789ab, Bun 1.4.5)', 'crm 1.12.3 (commit development, Bun 1.5.0)'],
    ['Process 28556 is asked', 'Process 7 is asked'],
    ['debug: url: http://127.0.0.1:4000 (default)', 'debug: url: http://127.0.0.1:21345 (from CRM_URL)'],
    ['crm.db.before-restore-20261122T191220Z', 'crm.db.before-restore-20270102T000000Z'],
    ['backups/crm.db (725 kB) in 2 s; verified.', 'backups/crm.db (1.2 MB) in 0 s; verified.'],
    ['integrity  725 kB, all pages', 'integrity  737 kB, all pages'],
    ['in 1 s; all 34 tables match.', 'in 0 s; all 36 tables match.'],
    ['one\n…\nfour', 'one\ntwo\nthree\nfour'],
    ['one\n…', 'one'],
  ])('%p agrees with %p', (said, printed) => {
    expect(difference(said, printed)).toBeNull();
  });

  test.each([
    ['Made the organization Acme.', 'Made an organization Acme.'],
    ['2 created, 1 rejected', '3 created, 1 rejected'],
    ['EMAIL  TITLE', 'EMAIL  title'],
    ['ada@example.com', 'grace@example.com'],
    ['one\n…\nfour', 'one\ntwo\nthree'],
    ['one', 'one\ntwo'],
    ['one\ntwo', 'one'],
    ['', 'one'],
    ['expires never', 'expires 2026-11-22'],
    ['127.0.0.1', '203.0.113.7'],
    ['310 kB', '320 kB'],
    ['Importing deals: 4 of 4 rows', 'Importing deals: 4 of 4 rows\nImporting deals: 3 of 4 rows'],
    ['Importing deals: 4 of 4 rows', 'Importing notes: 4 of 4 rows\nImporting deals: 4 of 4 rows'],
  ])('%p is distinguished from %p', (said, printed) => {
    expect(difference(said, printed)).toContain('the page says');
  });
});

test('a page that is renewed keeps what differs from run to run', () => {
  const said = 'Made Acme (01a1fbab-2a49-71d8-981e-40fb88903b14).\nMade ada.\n';
  const printed = 'Made Acme (01a204d3-4f35-77fb-9fc3-fa5897324987).\nMade the user ada.\n';
  expect(renewed(said, printed)).toBe(said.replace('Made ada', 'Made the user ada'));
});

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
const before = process.env.TMPDIR;
process.env.TMPDIR = folder;
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true });
});

describe.skipIf(!existsSync(BINARY))('a page (needs dist/crm: bun run build)', () => {
  const page = (...blocks: [kind: string, text: string][]) => ({
    path: 'cli/manual/tried.md',
    text: blocks.map(([kind, text]) => `\`\`\`${kind}\n${text}\n\`\`\`\n`).join('\n'),
  });
  const run = (hasServer: boolean, ...blocks: [kind: string, text: string][]) =>
    runPage(page(...blocks), { hasServer });

  test('runs in order, in one shell and folder, with a server and a key', async () => {
    await run(
      true,
      ['sh', 'NAME=Grace\ncrm create contacts email=grace@example.com first_name=$NAME > created'],
      ['sh norun', 'exit 1'],
      ['sh', 'crm list contacts --fields email,first_name; ls'],
      ['output', 'EMAIL  FIRST_NAME\ngrace@example.com  Grace\ncreated\ncrm.db\n…'],
      ['sh', 'crm list contacts --fields email,first_name | cat'],
      ['output', '{"email":"grace@example.com","first_name":"Grace"}'],
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('starts servers on ports of its own, which end with it', async () => {
    await run(
      false,
      ['sh', 'crm init --org Acme > key 2> /dev/null\ncrm serve --port 4100 --log off 2> said &'],
      ['sh', 'crm health --url http://127.0.0.1:4100; grep ^Docs said'],
      ['output', 'ready\nDocs  http://127.0.0.1:4100/docs'],
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test('fails by another word, by another order and by a command that fails', async () => {
    const health: [string, string] = ['sh', 'crm health'];
    await expect(run(true, health, ['output', 'read'])).rejects.toThrow('the command says ready');
    await expect(run(false, ['sh', 'crm help nope'], health)).rejects.toThrow('this block ended with 2');
    await expect(run(false, ['sh', 'echo a; echo b'], ['output', 'b\na'])).rejects.toThrow(
      'the page says    b',
    );
  });
});
