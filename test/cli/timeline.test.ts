// `crm timeline`: a card with a time axis for people, and the entries as they came for everything else.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

let sandbox: Sandbox;
let ada: string;
let firm: string;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  firm = await create('companies', 'name=Engines');
  ada = await create('contacts', 'first_name=Ada', 'title=Countess', `company_id=${firm}`);
  const mail = ['type=EMAIL', 'direction=INBOUND', 'title=Hello', `main_contact=${ada}`];
  await create('interactions', ...mail, `interaction_date=${Date.UTC(2026, 0, 2, 9, 30)}`);
  await create('interactions', ...mail.with(2, 'title=Again'), `interaction_date=${Date.UTC(2099, 0, 1)}`);
  await sandbox.ok(['update', 'contacts', ada, 'title=CTO']);
  await create('tasks', 'name=Call', `person_id=${ada}`, 'done=true');
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs, '-o', 'json'])).id;
}

const timeline = (...args: string[]) => sandbox.ok(['timeline', ...args]);
const titles = (text: string) => ndjson(text).map(({ kind, title }) => `${kind} ${title}`);
const WHOLE = ['interaction Again', 'task Call', 'task Call', 'change Ada', 'interaction Hello'];

test('prints entries as they came in a pipe, in part if asked', async () => {
  expect(titles(await timeline('contacts', ada))).toEqual(WHOLE);
  expect(titles(await timeline('contacts', ada, '--kinds', 'interaction,change', '--since', '1d'))).toEqual([
    'interaction Again',
    'change Ada',
  ]);
  expect(titles(await timeline('contacts', ada, '--until', '2026-01-03'))).toEqual(['interaction Hello']);
  expect(titles(await timeline('companies', firm, '--scope', 'own', '--all'))).toEqual([
    'interaction Again',
    'interaction Hello',
  ]);
  expect(JSON.parse(await timeline('contacts', ada, '-o', 'json'))).toHaveLength(WHOLE.length);
  const cut = await sandbox.crm(['timeline', 'contacts', ada, '--limit', '2']);
  expect([titles(cut.stdout), cut.stderr]).toEqual([WHOLE.slice(0, 2), expect.stringContaining('--all')]);
});

test('prints a card with a time axis on a terminal, which fits it', async () => {
  const lines = (await sandbox.ok(['timeline', 'contacts', ada, '-o', 'table'])).trimEnd().split('\n');
  const [, called] = ndjson(await timeline('contacts', ada));
  const day = String(called?.at).slice(0, 10);
  const expected = [
    /^Ada {2}contact · CTO$/,
    /^2099-01-01$/,
    /^│ ○ 00:00 {2}interaction {2}Again$/,
    /^┼ now$/,
    new RegExp(`^${day}$`),
    /^│ • \d\d:\d\d {2}task {9}Call \(done\)$/,
    /^│ • \d\d:\d\d {2}task {9}Call$/,
    /^│ • \d\d:\d\d {2}change {7}Ada: title Countess → CTO$/,
    /^2026-01-02$/,
    /^│ • 09:30 {2}interaction {2}Hello$/,
  ];
  expect(lines).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(lines[index]).toMatch(pattern);
  const { output } = await sandbox.onTerminal(['timeline', 'contacts', ada], { columns: 30 });
  const plain = Bun.stripANSI(output).split(/\r?\n/);
  expect(Math.max(...plain.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(30);
  expect(plain).toContain('2099-01-01');
});

test('says if there are no entries, under the heading', async () => {
  const id = await create('companies', 'name=Quiet');
  const none = await sandbox.crm(['timeline', 'companies', id, '-o', 'table']);
  expect(none).toMatchObject({ code: 0, stdout: 'Quiet  company\n', stderr: 'No entries.\n' });
  const piped = await sandbox.crm(['timeline', 'companies', id]);
  expect(piped).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('refuses what is wrong before it asks, and says what to do', async () => {
  for (const [args, said] of [
    [['tasks', ada], 'Use one of: contacts, companies, deals'],
    [['contact', ada], 'Did you mean contacts?'],
    [['contacts', ada, '--kinds', 'notes'], 'Did you mean note?'],
    [['contacts', ada, '--scope', 'own'], '--scope is for companies'],
    [['contacts', ada, '--since', 'soon'], '"soon" is not a valid time'],
  ] as const) {
    const run = await sandbox.crm(['timeline', ...args]);
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(said)]);
  }
  const run = await sandbox.crm(['timeline', 'contacts', ABSENT]);
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('Next: ')]);
});
