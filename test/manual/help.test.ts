// `crm help`: the list of the manual, its pages, and what commands take.
import { afterAll, describe, expect, test } from 'bun:test';
import { allTopics, GROUP_TITLES, summaryOf } from '../../cli/manual/topics.ts';
import { buildProgram } from '../../cli/program.ts';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

const topics = allTopics();
const commands = buildProgram().commands.map((command) => command.name());

describe('the list', () => {
  test('has each topic with its summary, in groups, and says where options are', async () => {
    const list = await sandbox.ok(['help']);
    for (const { name, page } of topics)
      expect(list).toMatch(
        new RegExp(`^ {2}${name} +${RegExp.escape(summaryOf(page).replace(/\.$/, ''))}$`, 'm'),
      );
    expect([...(list.match(/^\S.*:$/gm) ?? [])]).toEqual(GROUP_TITLES.map((title) => `${title}:`));
    expect(list).toContain('"crm COMMAND --help"');
  });

  test.each([60, 80, 200])('fits a terminal of %d columns', async (columns) => {
    const { output } = await sandbox.onTerminal(['help', '--no-pager'], { columns });
    for (const line of output.split('\n'))
      expect([line, Bun.stringWidth(line) <= Math.min(columns, 100)]).toEqual([line, true]);
  });
});

describe.each(topics.map(({ name, page }) => [name, page] as const))('the page %s', (name, page) => {
  const hasCommand = commands.includes(name);

  test('is printed as it is written, with the options of its command', async () => {
    const { code, stdout, stderr } = await sandbox.crm(['help', name]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.slice(0, page.length)).toBe(page);
    expect(stdout.slice(page.length).startsWith('\n## Options\n')).toBe(hasCommand);
  });

  test.each([60, 80, 120])('fits a terminal of %d columns, save its code', async (columns) => {
    const { output } = await sandbox.onTerminal(['help', name], { columns, env: { PAGER: 'cat' } });
    const wide = output.split('\n').filter((line) => Bun.stringWidth(line) > Math.min(columns, 100));
    const code = new Set(page.split('\n').map((line) => line.trim()));
    expect(wide.filter((line) => line.includes(' ') && !code.has(line.trim()))).toEqual([]);
  });
});

describe('colour', () => {
  const shown = async (args: string[] = [], env: Record<string, string> = {}) =>
    (await sandbox.onTerminal(['help', '--no-pager', topics[0]?.name ?? '', ...args], { env })).output;

  test('is there on a terminal', async () => {
    expect(await shown()).toContain('\u001b[1m');
  });

  test.each<[string, string[], Record<string, string>]>([
    ['--no-color', ['--no-color'], {}],
    ['NO_COLOR', [], { NO_COLOR: '1' }],
    ['TERM=dumb', [], { TERM: 'dumb' }],
  ])('is not with %s', async (_what, args, env) => {
    const output = await shown(args, env);
    expect(output).not.toContain('\u001b');
    expect(output).toContain('\n====');
  });
});

test('a topic can be named with spaces', async () => {
  expect(await sandbox.ok(['help', 'exit', 'codes'])).toBe(await sandbox.ok(['help', 'exit-codes']));
});

test('topics: the list', async () => {
  expect(await sandbox.ok(['help', 'topics'])).toBe(await sandbox.ok(['help']));
});

describe('a command without a topic of its name', () => {
  test.each(['list', 'create', 'keys issue', 'version', 'help'])('%s: what it takes', async (words) => {
    const command = words.split(' ');
    expect(await sandbox.ok(['help', ...command])).toBe(await sandbox.ok([...command, '--help']));
  });

  test('of a command that has none there is no page behind --help', async () => {
    expect(await sandbox.ok(['import', '--help'])).toStartWith('Usage: crm import ');
  });
});

test.each([
  [['nope'], 'Unknown topic or command "nope".', '"crm help"'],
  [['imprt'], 'Did you mean import?', '"crm help"'],
  [['nginx'], 'Unknown topic or command "nginx".', 'Read "crm help tls-and-proxies", which mentions it.'],
  [['HubSpot'], 'Unknown topic or command "HubSpot".', 'Read "crm help import" or "crm help start"'],
  [['429'], 'Unknown topic or command "429".', 'Read "crm help limits", '],
  [['batches'], 'Unknown topic or command "batches".', 'Read "crm help records", '],
  [['external-ids'], 'Unknown topic or command "external-ids".', 'Read "crm help records", '],
  [['rate', 'limit'], 'Unknown topic or command "rate limit".', 'Read "crm help limits", '],
  [['move', 'to', 'postgresql'], 'Unknown topic or command', 'Read "crm help postgres"'],
  [['deals'], 'then deals', 'crm list deals'],
  [['keys', 'isue'], 'Unknown command "crm keys isue". Did you mean issue?', '"crm keys --help"'],
])('crm help %p is a usage error that says what to do', async (words, problem, nextStep) => {
  const { code, stdout, stderr } = await sandbox.crm(['help', ...words]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(problem);
  expect(stderr.slice(stderr.indexOf('Next: '))).toContain(nextStep);
});

describe('completion', () => {
  const complete = async (...words: string[]) =>
    (await sandbox.ok(['__complete', '--', 'help', ...words])).split('\n');

  test('has topics and commands', async () => {
    const found = await complete('');
    expect(found).toEqual([...new Set(found)]);
    expect(found).toEqual(expect.arrayContaining([...topics.map(({ name }) => name), 'list', 'keys']));
  });

  test('goes on into a group of commands', async () => {
    expect(await complete('keys', 'i')).toEqual(['issue']);
    expect(await complete('list', 'c')).toEqual(['']);
  });
});
