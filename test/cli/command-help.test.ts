// The help of each command: examples that can be run, what is chosen by default in words, and which options all commands share.
import { describe, expect, test } from 'bun:test';
import type { Command } from 'commander';
import { commandExamples, shownHelp } from '../../cli/help-layout.ts';
import { allTopics } from '../../cli/manual/topics.ts';
import { buildProgram } from '../../cli/program.ts';
import { crmLines, faultOf } from '../manual/crm-lines.ts';

const topics = allTopics().map(({ name }) => name);

/** A program whose commands only say that they would have run. */
function idleProgram(ran: (command: Command) => void): Command {
  const program = buildProgram();
  for (const { command } of commandsIn(program))
    if (command.commands.length === 0) command.action(() => ran(command));
  return program;
}

function commandsIn(program: Command, before = 'crm'): { name: string; command: Command }[] {
  return program.commands
    .filter((command) => !command.name().startsWith('__'))
    .flatMap((command) => {
      const name = `${before} ${command.name()}`;
      return [{ name, command }, ...commandsIn(command, name)];
    });
}

function helpOf(name: string): string {
  const printed: string[] = [];
  const program = buildProgram((text) => printed.push(text));
  const found = [{ name: 'crm', command: program }, ...commandsIn(program)].find((one) => one.name === name);
  found?.command.outputHelp();
  return shownHelp(printed.join(''));
}

const all = commandsIn(buildProgram());

test.each(all)('$name has examples, and each of them is read as it should be', async ({ name, command }) => {
  const examples = commandExamples(command);
  expect(examples.length).toBeGreaterThan(0);
  const lines = examples.flatMap((example) => crmLines(example.replace('<(', '$(')));
  expect(lines.length).toBeGreaterThanOrEqual(examples.length);
  for (const words of lines) {
    expect([words, faultOf(buildProgram(), words, topics)]).toEqual([words, null]);
    const ran: string[] = [];
    const program = idleProgram((one) => ran.push(one.name()));
    await program.parseAsync(words, { from: 'user' });
    expect([words, ran.length]).toEqual([words, 1]);
  }
  // At least one of them is of the command itself.
  expect(examples.join('\n')).toContain(name);
});

test.each(buildProgram().commands.map((command) => command.name()))(
  '%s is the same where it is the only command that is added',
  (name) => {
    const alone = buildProgram(undefined, name);
    const helpIn = (program: Command) =>
      commandsIn(program).flatMap((one) => {
        const isAsked = `${one.name} `.startsWith(`crm ${name} `);
        return isAsked ? [one.name, one.command.helpInformation(), commandExamples(one.command)] : [];
      });
    expect(helpIn(alone)).toEqual(helpIn(buildProgram()));
    // Most of them are added without the others.
    if (!['help', 'man', '__complete'].includes(name))
      expect(commandsIn(alone).every((one) => `${one.name} `.startsWith(`crm ${name} `))).toBe(true);
  },
);

test.each(['help', 'man', '__complete', 'nothing', 'toString', ''])('%j is added with all others', (name) => {
  const names = (program: Command) => program.commands.map((command) => command.name());
  expect(names(buildProgram(undefined, name))).toEqual(names(buildProgram()));
});

describe.each(['crm', ...all.map(({ name }) => name)])('the help of %s', (name) => {
  const help = helpOf(name);
  const titles = [...help.matchAll(/^(Usage|Examples|Arguments|Options|Commands|Global options)\b/gm)].map(
    ([, title]) => title,
  );

  test('has its parts in one order, each once, and tells where the options of all commands are', () => {
    const order = ['Usage', 'Examples', 'Arguments', 'Options', 'Commands', 'Global options'];
    expect(titles).toEqual(order.filter((title) => titles.includes(title)));
    expect(titles.slice(0, 2)).toEqual(['Usage', 'Examples']);
    expect(help).toContain(
      '\nGlobal options: --db, --url, --api-key-file, -o, --profile, --no-color, --no-pager, --debug (see "crm help settings")\n',
    );
    expect(help).not.toMatch(/^ +--profile <name> {2}/m);
  });

  test('shows choices and defaults as words', () => {
    expect(help).not.toMatch(/choices:|default:\s+["[{]/);
    expect(help).not.toMatch(/\n{3}/);
  });
});

test('choices and a default stand together, before the variable', () => {
  expect(helpOf('crm keys issue')).toContain('API version (v1 or v2; default: v2)');
  expect(helpOf('crm export').replace(/\s+/g, ' ')).toContain(
    'Format (csv, ndjson or json; default: from the extension of --out, otherwise ndjson)',
  );
});

test('of the program tells the kinds of commands apart, each with its commands', () => {
  const groups = [...helpOf('crm').matchAll(/^(\w[^\n]*):\n((?: {2}\w.*\n)+)/gm)].map(
    ([, title, lines = '']) => [
      title?.replace(/ \(.*/, ''),
      [...lines.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name).join(' '),
    ],
  );
  expect(groups.filter(([title]) => title !== 'Examples')).toEqual([
    [
      'Operator commands',
      'serve init orgs users keys secrets audit ingest migrate people backup restore doctor',
    ],
    [
      'Data commands',
      'import list search count get create update upsert delete undelete link unlink export browse history timeline watch top webhooks listen report api mcp',
    ],
    ['Try it out', 'quickstart'],
    ['About crm', 'profile open openapi completion recipe health version help man'],
  ]);
});

// By hand from the contract: what is not said is this.
test.each([
  ['serve', { host: '127.0.0.1', port: 4000, keyLimit: 200, orgLimit: 1000, bodyMib: 256, orgBodyMib: 64 }],
  ['import', { batchSize: 100, concurrency: 4 }],
])('what crm %s takes if it is not said', (name, expected) => {
  const command = buildProgram().commands.find((one) => one.name() === name);
  expect(command?.opts()).toMatchObject(expected);
});

test('of the program has a line for each command, and no options', () => {
  const help = helpOf('crm');
  for (const command of buildProgram().commands)
    if (!command.name().startsWith('__'))
      expect(help).toMatch(new RegExp(`^ {2}${command.name()} +${RegExp.escape(command.summary())}$`, 'm'));
  expect(help).not.toMatch(/^ +-/m);
  expect(help.split('\n').length).toBeLessThan(70);
});
