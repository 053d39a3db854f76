// The browser: lists that page while one scrolls, records with their links, filters, sorting and edits, by keys.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { cleanup, render } from 'ink-testing-library';
import { Client } from '../../cli/api/client.ts';
import { BrowseScreen } from '../../cli/browse/screen/BrowseScreen.tsx';
import { BrowserSource } from '../../cli/browse/source.ts';
import { KeyInput } from '../../cli/terminal/keys.tsx';
import { getResource, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

const [UP, DOWN, END, ESCAPE, ENTER] = ['\u001b[A', '\u001b[B', '\u001b[F', '\u001b', '\r'];
const [PAGE_UP, PAGE_DOWN] = ['\u001b[5~', '\u001b[6~'];
const CLEAR = '\u0015';

let sandbox: Sandbox;
let server: RunningServer;
beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  server = await sandbox.serveOrganization();
  const names = Array.from({ length: 70 }, (_, at) => `Loom ${String(at + 1).padStart(2, '0')}`);
  await sandbox.write(
    'deals.csv',
    ['name,company,contact', ...names.map((name) => `${name},Acme,`)].join('\n'),
  );
  await sandbox.write('contacts.csv', 'email,first_name,company\nada@example.com,Ada,Acme');
  await sandbox.ok(['import', 'contacts', 'contacts.csv', '--create-missing', '--quiet']);
  await sandbox.ok(['import', 'deals', 'deals.csv', '--create-missing', '--quiet']);
});
afterAll(async () => {
  await server.stop();
  await sandbox[Symbol.asyncDispose]();
});
afterEach(cleanup);

function browse(size: { columns: number; rows: number }, name: string | null, scopes = V2_SCOPES) {
  const client = new Client({ url: server.url, apiKey: sandbox.env.CRM_API_KEY ?? '' });
  const resource = name === null ? null : getResource(name);
  const left: string[] = [];
  const source = new BrowserSource(client, scopes);
  const { stdin, lastFrame } = render(
    <KeyInput>
      <BrowseScreen
        {...{ source, resource, size, hasColor: false, hear: () => {} }}
        leave={(result) => void left.push(result)}
      />
    </KeyInput>,
  );
  const frame = () => lastFrame() ?? '';
  const type = async (keys: string, shows: string | RegExp) => {
    stdin.write(keys);
    await until(() => (typeof shows === 'string' ? frame().includes(shows) : shows.test(frame())), frame);
  };
  return { frame, type, left, lines: () => frame().split('\n') };
}

describe('lists', () => {
  test('show names instead of IDs, and page while one scrolls', async () => {
    const { type, lines, frame } = browse({ columns: 80, rows: 24 }, 'deals');
    await type('', '1/50+');
    expect(lines().slice(0, 3)).toEqual([
      'crm › deals',
      '  NAME     COMPANY  STAGE        STATUS  CREATED_AT',
      expect.stringMatching(/^› Loom 70 {2}Acme {5}Prospecting {2}open {4}\d{4}-\d\d-\d\d \d\d:\d\d$/),
    ]);
    await type(END, '/70 ');
    await type(END, '70/70');
    expect(frame()).toContain('› Loom 01');
    await type(UP, '69/70');
    // The list has 20 lines, and a page keeps one of them.
    await type(PAGE_UP, '50/70');
    await type(PAGE_DOWN + PAGE_DOWN, '70/70');
    await type(ESCAPE, /^crm *\n.*companies/);
  });

  test.each([
    [60, 15],
    [80, 24],
    [200, 60],
  ])('fit into %d × %d', async (columns, rows) => {
    const { type, lines } = browse({ columns, rows }, 'deals');
    await type('', '1/50+');
    expect(lines().length).toBe(rows);
    expect(lines().filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
  });

  test('are filtered by a condition or by words, and sorted by what queries sort by', async () => {
    const { type, frame } = browse({ columns: 80, rows: 24 }, 'deals');
    await type('', '1/50+');
    await type('/', 'Filter (status = open, or words):');
    await type(`name = 'Loom 07'${ENTER}`, '1/1 ');
    expect(frame()).toContain("crm › deals (name = 'Loom 07')");
    await type('/', 'Filter');
    // What does not work is said, and the list stays.
    await type(`${CLEAR}statu = open${ENTER}`, 'Did you mean status?');
    expect(frame()).toContain('Loom 07');
    await type('/', 'Filter');
    await type(`${CLEAR}loom 11${ENTER}`, 'crm › deals (loom 11)');
    await type('', '› Loom 11');
    await type('/', 'Filter');
    await type(CLEAR + ENTER, '1/50+');
    // KeyInput that arrive together count one by one.
    await type('s', 'Sort by');
    await type(DOWN + UP + ENTER, 'by created_at ↑');
    await type('', '› Loom 01');
  });

  test('say that there is nothing, and offer what the key can read', async () => {
    const empty = browse({ columns: 80, rows: 24 }, 'tasks');
    await empty.type('', 'No tasks.');
    const limited = browse({ columns: 80, rows: 24 }, null, ['deals:read', 'deals:write']);
    await limited.type('', '› deals');
    expect(limited.frame()).not.toContain('companies');
    // References that the key cannot read have no name.
    await limited.type(ENTER, 'Loom 70');
    expect(limited.frame()).not.toContain('Acme');
    await limited.type('q', /./);
    await until(() => limited.left.length > 0);
  });
});

describe('a record', () => {
  test('shows its links, opens them, and goes back to where one was', async () => {
    const { type, frame } = browse({ columns: 80, rows: 30 }, 'deals');
    await type('', '1/50+');
    await type(DOWN, '2/50+');
    await type(ENTER, /company_id +Acme →/);
    expect(frame()).toContain('crm › deals › deal\nLoom 69');
    await type(DOWN.repeat(7), '› company_id');
    await type(ENTER, 'crm › deals › deal › company');
    await type('', /contacts +Ada →/);
    expect(frame()).toMatch(/deals +Loom 70 →/);
    await type(ESCAPE, 'crm › deals › deal\n');
    await type(ESCAPE, '› Loom 69');
  });

  test('is edited field by field, and a fault is said', async () => {
    const { type, frame } = browse({ columns: 80, rows: 30 }, 'deals');
    await type('', '1/50+');
    await type(ENTER, 'e edit name');
    await type(DOWN.repeat(4), 'e edit estimated_value');
    await type('e', /^estimated_value:/m);
    await type(`lots${ENTER}`, 'must be a number');
    await type('e', /^estimated_value:/m);
    await type(`1054.5${ENTER}`, /estimated_value +1054\.5/);
    const stored = [
      'list',
      'deals',
      '--where',
      "name = 'Loom 70'",
      '--fields',
      'estimated_value',
      '-o',
      'csv',
    ];
    expect(await sandbox.ok(stored)).toBe('estimated_value\n1054.5');
    expect(frame()).not.toContain('must be a number');
    // What refers to something takes its name.
    await type(UP.repeat(2), '› stage_id');
    await type('e', 'stage_id: Prospecting');
    await type(`${CLEAR}Proposal${ENTER}`, /stage_id +Proposal/);
  });

  test('that someone else has changed meanwhile is not overwritten', async () => {
    const { type } = browse({ columns: 80, rows: 30 }, 'contacts');
    await type('', '1/1');
    await type(ENTER, 'e edit email');
    const id = JSON.parse(await sandbox.ok(['list', 'contacts', '--fields', 'id', '-o', 'json']))[0].id;
    await sandbox.ok(['update', 'contacts', id, 'title=Analyst']);
    await type('e', 'email: ada@');
    await type(`${CLEAR}b@example.com${ENTER}`, 'must name the current version');
    await type('r', /title +Analyst/);
  });

  test('of a key that cannot write is not edited', async () => {
    const { type, frame } = browse({ columns: 80, rows: 30 }, 'deals', ['deals:read']);
    await type('', '1/50+');
    await type(ENTER, 'r reload · Esc back');
    expect(frame()).not.toContain('e edit');
  });
});

test('a terminal gets it, and is left as it was; a pipe is told what to run', async () => {
  const { code, output } = await sandbox.onTerminal(['browse', 'deals'], { when: '1/50+', answer: 'q' });
  expect(code).toBe(0);
  expect(output).toContain('\u001b[?1049l');
  const piped = await sandbox.crm(['browse', 'deals']);
  expect([piped.code, piped.stdout]).toEqual([2, '']);
  expect(piped.stderr).toMatch(/^crm: crm browse needs a terminal\.\nNext: .*list deals\n$/);
}, 300_000);
