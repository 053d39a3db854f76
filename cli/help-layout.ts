// What the help of a command looks like: examples first, its own options, and one line for the options of all commands.
import type { EventEmitter } from 'node:events';
import type { Argument, Command, Help, Option } from 'commander';
import { stdout } from './terminal/streams.ts';
import { terminalWidth, wrapParagraphs } from './terminal/wrap.ts';

// Longer lines are hard to read; a terminal may be wider.
const COLUMNS_MAX = 120;
const COLUMNS_DEFAULT = 80;
// A longer term stands on a line of its own, above its description.
const TERM_CHARACTERS_MAX = 30;
const TERM_CHARACTERS_MAX_NARROW = 24;
const NARROW_COLUMNS = 70;
// A description is broken into lines as long as it has this much room.
const DESCRIPTION_CHARACTERS_MIN = 20;
const INDENT = '  ';

/** Columns that the help has. */
export function helpColumns(): number {
  return Math.min(stdout.columns ?? COLUMNS_DEFAULT, COLUMNS_MAX);
}

/** How commander lays out help, for a program and all its commands. */
export const HELP_LAYOUT: Partial<Help> = {
  minWidthToWrap: DESCRIPTION_CHARACTERS_MIN,
  commandUsage: (command) => usageOf(command),
  visibleCommands: (command) => command.commands.filter((one) => !one.name().startsWith('__')),
  // The program's own are on the last line.
  visibleOptions: (command) =>
    command.parent === null ? [] : command.options.filter(({ hidden }) => !hidden),
  subcommandTerm: (command) => command.name(),
  optionDescription: (option) => described(option, option.required || option.optional),
  argumentDescription: (argument) => described(argument, true),
  padWidth(command, help) {
    const terms = [
      ...help.visibleOptions(command).map((option) => help.optionTerm(option)),
      ...help.visibleArguments(command).map((argument) => help.argumentTerm(argument)),
      ...help.visibleCommands(command).map((one) => help.subcommandTerm(one)),
    ];
    const widest = termWidthMax(help);
    return Math.max(0, ...terms.map((term) => term.length).filter((length) => length <= widest));
  },
  formatItem(term, termWidth, description, help) {
    const margin = INDENT + ' '.repeat(termWidth) + INDENT;
    const room = (help.helpWidth ?? COLUMNS_DEFAULT) - margin.length;
    const lines = help.boxWrap(description, room).replaceAll('\n', `\n${margin}`);
    if (description === '') return INDENT + term;
    return term.length > termWidth
      ? `${INDENT}${term}\n${margin}${lines}`
      : `${INDENT}${term.padEnd(termWidth)}${INDENT}${lines}`;
  },
};

function usageOf(command: Command): string {
  return `${pathOf(command)} ${command.commands.length > 0 ? 'COMMAND [options]' : command.usage()}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function termWidthMax({ helpWidth = COLUMNS_DEFAULT }: Pick<Help, 'helpWidth'>): number {
  return helpWidth < NARROW_COLUMNS ? TERM_CHARACTERS_MAX_NARROW : TERM_CHARACTERS_MAX;
}

/** The description, with what can be chosen and what is chosen by default. */
function described(
  { description, argChoices, defaultValue }: Option | Argument,
  isDefaultShown: boolean,
): string {
  // A default that is not a value is described in words, in parentheses at the end.
  const [, text = '', byDefault, variable = ''] =
    /^(.*?)(?: \((default: [^()]*)\))?( \[[^\]]*\])?$/s.exec(description) ?? [];
  const facts = [
    ...(argChoices === undefined ? [] : [alternatives(argChoices)]),
    ...(byDefault === undefined ? [] : [byDefault]),
    ...(isDefaultShown && defaultValue !== undefined ? [`default: ${[defaultValue].flat().join(', ')}`] : []),
  ];
  return `${text}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}${variable}`;
}

function alternatives(choices: readonly string[]): string {
  return choices.length < 2
    ? choices.join()
    : `${choices.slice(0, -1).join(', ')} or ${choices[choices.length - 1]}`;
}

/** The end of a command's help: which other options it takes, and where to read about them. */
export function helpEnding(program: Command, command: Command): string {
  const flags = program.options.flatMap(({ hidden, long, short }) => (hidden ? [] : [short ?? long]));
  const globals = `Global options: ${flags.filter((flag) => flag !== '-V').join(', ')} (see "crm help settings")`;
  if (command === program) return `\n${globals}\n\n${MORE}`;
  const isWithoutExamples = command.commands.length > 0 && ownExamplesOf(command).length === 0;
  const examples = isWithoutExamples ? `\nExamples:\n  ${commandExamples(command).join('\n  ')}\n` : '';
  return `${examples}\n${globals}`;
}

const MORE = '"crm COMMAND --help" shows examples and options of a command, and "crm help" lists the manual.';
const EXAMPLES = /\n\nExamples?:\n((?: +.*\n)+)/;
const USAGE_AND_DESCRIPTION = /^Usage: .*\n\n(?:.+\n)+\n/;

/** The examples of a command, one per line; of a group of commands without its own, the first of each command. */
export function commandExamples(command: Command): string[] {
  const own = ownExamplesOf(command);
  return own.length > 0 ? own : command.commands.flatMap((one) => commandExamples(one).slice(0, 1));
}

function ownExamplesOf(command: Command): string[] {
  const [, lines = ''] = EXAMPLES.exec(`\n${helpTextAfter(command)}`) ?? [];
  return lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

// What a command has commander print after its help.
function helpTextAfter(command: Command): string {
  const texts: string[] = [];
  // Its types do not tell that it is one.
  (command as Command & EventEmitter).emit('afterHelp', {
    error: false,
    command,
    write: (text: string) => texts.push(text),
  });
  return texts.join('');
}

/** The whole help as it is printed: the examples moved before arguments and options, and lines wrapped to the terminal. */
export function shownHelp(printed: string): string {
  const [block, lines = ''] = EXAMPLES.exec(printed) ?? [];
  const without = block === undefined ? printed : printed.replace(block, () => '\n');
  const [start = ''] = USAGE_AND_DESCRIPTION.exec(`${without}\n`) ?? [];
  const text = block === undefined ? printed : `${start}Examples:\n${lines}\n${without.slice(start.length)}`;
  return wrapParagraphs(text, terminalWidth(stdout));
}
