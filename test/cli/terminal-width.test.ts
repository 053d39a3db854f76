// Terminals of any width: no time is cut, no word is broken, and a command can still be copied; pipes are left alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { PeopleTable } from '../../cli/terminal/people-table.ts';
import { Table } from '../../cli/terminal/table.ts';
import { wrapLines, wrapParagraphs } from '../../cli/terminal/wrap.ts';
import { BINARY, Sandbox } from '../support/command.ts';

const WIDTHS = [60, 80, 200];
const sandbox = new Sandbox();
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('a table', () => {
  const ENTRY = {
    created_at: '2026-11-22T14:04:52.827Z',
    action: 'people.exported',
    actor: 'root@database.example',
    origin: 'command line',
    target_type: 'organizations',
    target_id: '019b76da-a800-7000-8000-000000000001',
  };

  test.each([...Array(60).keys()].map((more) => 40 + more * 2))(
    'of %d columns cuts no time and no word',
    (width) => {
      const table = new Table({ columns: Object.keys(ENTRY), width, isColored: false });
      const [header = '', row = ''] = table.render([ENTRY]).split('\n');
      expect(Math.max(Bun.stringWidth(header), Bun.stringWidth(row))).toBeLessThanOrEqual(width);
      expect(row).toStartWith('2026-11-22 14:04  people.exported');
      expect(header).not.toContain('…');
      // The id, which is no word, may be.
      expect(row.replace(/[\da-f-]+…$/, '')).not.toContain('…');
    },
  );

  test('cuts a text between its words', () => {
    const table = new Table({ columns: ['name'], width: 24, isColored: false });
    expect(table.render([{ name: 'Difference engine, second unit' }])).toBe('NAME\nDifference engine,…\n');
  });

  test('shows sizes as everything else does', () => {
    const table = new Table({ columns: ['bytes'], sizes: new Set(['bytes']), width: 80, isColored: false });
    expect(table.render([{ bytes: 64 * 2 ** 20 }, { bytes: null }])).toBe('BYTES\n67.1 MB\n\n');
  });
});

test('a table for people leaves out its last columns one by one, and breaks no word', () => {
  const row = { name: 'Difference engine', company: 'Byron Mills', stage: 'Prospecting', id: 'd23ysa0zr6' };
  const names = Object.keys(row) as (keyof typeof row)[];
  const columns = names.map((name) => ({ heading: name, text: (one: typeof row) => one[name] }));
  const words = new Set([...names, ...Object.values(row)].flatMap((text) => text.split(' ')));
  const counts: number[] = [];
  for (let width = 60; width >= 18; width -= 1) {
    const text = new PeopleTable(columns, { width, isColored: false }).render([row]);
    const headings = text.slice(0, text.indexOf('\n')).split(/ +/);
    expect([width, headings]).toEqual([width, names.slice(0, headings.length)]);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
    for (const word of text.trim().split(/\s+/)) expect(words).toContain(word);
    counts.push(headings.length);
  }
  expect([...new Set(counts)]).toEqual([4, 3, 2, 1]);
});

describe('lines', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  // One that begins with the name of a command is not prose.
  const COMMANDS = ['crm', 'bun', 'export', 'curl', 'psql', 'rm', 'sudo', 'chmod'];
  const prose = fc
    .array(word, { minLength: 1, maxLength: 60 })
    .filter(([first = '']) => !COMMANDS.includes(first))
    .map((words) => words.join(' '));

  test('are broken between words, and say the same', () => {
    fc.assert(
      fc.property(
        prose,
        fc.integer({ min: 20, max: 120 }),
        fc.constantFrom('', '  ', 'Next: '),
        (text, columns, head) => {
          const wrapped = wrapLines(head + text, columns);
          for (const line of wrapped.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
          expect(wrapped.replace(/\s+/g, ' ').trim()).toBe((head + text).trim());
          expect(wrapLines(head + text, Number.POSITIVE_INFINITY)).toBe(head + text);
        },
      ),
    );
  });

  test('that are commands go on as a shell reads them', async () => {
    const command = `echo "two words" 'and more of them' $(echo --org NAME --all-scopes) --db ./a.db end`;
    for (const columns of [30, 40, 60]) {
      const wrapped = wrapLines(`Next: ${command.replace('echo', 'crm echo')}`, columns).replace(
        'Next: crm ',
        '',
      );
      expect(wrapped.split('\n').length).toBeGreaterThan(1);
      const [whole, broken] = [command, wrapped].map((text) =>
        Bun.spawnSync(['sh', '-c', text]).stdout.toString(),
      );
      expect(broken).toBe(whole ?? '');
    }
  });

  test('keep a flag and its value together', () => {
    expect(wrapLines("crm import deals x.csv --map-value 'Stage:New=Open' --external-id ID", 40)).toBe(
      "crm import deals x.csv \\\n  --map-value 'Stage:New=Open' \\\n  --external-id ID",
    );
    expect(wrapLines('crm api PATCH deals/ID -F estimated_value=48000', 30)).toBe(
      'crm api PATCH deals/ID \\\n  -F estimated_value=48000',
    );
  });

  test('set a command at their end apart, and no sentence that only mentions one', () => {
    expect(wrapLines('crm: Issue one and keep it: crm keys issue --org NAME', 40)).toBe(
      'crm: Issue one and keep it:\ncrm keys issue --org NAME',
    );
    expect(wrapLines('Next: Run: crm backup FILE, or serve with --backup-every 1h', 40)).toBe(
      'Next: Run: crm backup FILE, or serve\n      with --backup-every 1h',
    );
  });

  test('set what is said of a command apart from it', () => {
    expect(wrapLines('Next: crm webhooks ping ID   (sends a test message and reports the result)', 60)).toBe(
      'Next: crm webhooks ping ID\n      (sends a test message and reports the result)',
    );
    expect(wrapLines('Next: crm list deals   (with a key; "crm keys issue" creates one)', 40)).toBe(
      'Next: crm list deals\n      (with a key; "crm keys issue"\n      creates one)',
    );
  });

  test('of a paragraph are put together before they are wrapped again', () => {
    const text = 'One two three four five six\nseven eight.\n\n  crm list deals\n  crm get';
    expect(wrapParagraphs(text, 20)).toBe(
      'One two three four\nfive six seven\neight.\n\n  crm list deals\n  crm get',
    );
    expect(wrapParagraphs(text, 40)).toBe(text);
  });
});

describe('on a terminal', () => {
  test.each(WIDTHS)('of %d columns the audit log, an error and the help are whole', async (columns) => {
    const audit = await sandbox.onTerminal(['audit', 'list'], { columns });
    expect(audit.output).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}key\.issued/m);
    const error = await sandbox.onTerminal(['list', 'contcts'], { columns });
    const names = 'companies, contacts, pipelines, deals, tasks, notes, segments, interactions';
    expect(error.output.replace(/\s+/g, ' ')).toContain(names);
    const help = await sandbox.onTerminal(['import', '--help'], { columns });
    const piped = await sandbox.ok(['import', '--help']);
    const wordsOf = (text: string) => text.split(/\s+/).filter((one) => one !== '\\');
    expect(wordsOf(help.output).join(' ').trim()).toBe(wordsOf(piped).join(' ').trim());
    const short = await sandbox.onTerminal(['--help'], { columns });
    for (const { output } of [audit, error, help, short])
      for (const line of output.split('\n'))
        expect([line, Bun.stringWidth(line) <= columns]).toEqual([line, true]);
  });

  test('without colour the lines are the same', async () => {
    const plain = await sandbox.onTerminal(['doctor', '--help'], { columns: 60, env: { NO_COLOR: '1' } });
    expect(plain.output).toBe((await sandbox.onTerminal(['doctor', '--help'], { columns: 60 })).output);
  });
});

test('no help shows a default as data', async () => {
  const commands = [
    'serve',
    'keys issue',
    'keys rotate',
    'import',
    'list',
    'export',
    'backup',
    'ingest meetings',
  ];
  for (const command of commands)
    expect([command, await sandbox.ok([...command.split(' '), '--help'])]).toEqual([
      command,
      expect.not.stringMatching(/default:\s+[[{]/),
    ]);
});

describe('commands in messages', () => {
  const folder = sandbox.path('bin');
  const said = (command: string, path = ''): string => {
    const env = { HOME: sandbox.folder, PATH: `${path}:/usr/bin:/bin` };
    return Bun.spawnSync(['sh', '-c', `${command} list deals`], {
      cwd: sandbox.folder,
      env,
    }).stderr.toString();
  };
  beforeAll(() => {
    mkdirSync(folder);
    cpSync(BINARY, join(folder, 'crm'));
    mkdirSync(join(folder, 'linked'));
    symlinkSync(join(folder, 'crm'), join(folder, 'linked', 'crm'));
    mkdirSync(join(folder, 'other'));
    symlinkSync('/bin/true', join(folder, 'other', 'crm'));
  });

  test.each([
    ['found on the PATH', 'crm', folder, 'crm keys issue'],
    ['found on the PATH by a link', 'crm', join(folder, 'linked'), 'crm keys issue'],
    ['typed by its path, and on the PATH', './bin/crm', folder, 'crm keys issue'],
    ['typed by its path', './bin/crm', '', './bin/crm keys issue'],
    [
      'typed by its path, with another of its name on the PATH',
      './bin/crm',
      join(folder, 'other'),
      './bin/crm keys issue',
    ],
  ])('are as they can be typed: %s', (_what, command, path, shown) => {
    expect(said(command, path)).toBe(
      `crm: No API key given.\nNext: Issue one and set it: export CRM_API_KEY=$(${shown} --org NAME --all-scopes)\n` +
        '      Or set --api-key-file to a file that contains it.\n',
    );
  });
});
