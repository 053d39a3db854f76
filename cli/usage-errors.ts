// Command lines that cannot be meant: commander's complaints as errors for people, with what was most likely meant.
import type { Command, CommanderError } from 'commander';
import { type CliError, usageError } from './errors.ts';
import { didYouMean } from './nearest.ts';
import { redact } from './terminal/redact.ts';
import { shellWord } from './terminal/text.ts';

/** The words with `--help` for a `help` behind `crm keys` and its like; commander's own help command knows no mistakes. */
export function withHelpFlag(program: Command, words: readonly string[]): readonly string[] {
  const at = words.indexOf('help');
  const group = commandAt(program, words.slice(0, Math.max(0, at)));
  if (at < 0 || group === undefined || group === program || group.commands.length === 0) return words;
  return [...words.filter((word) => word !== 'help'), '--help'];
}

/** Rejects where help is asked for on a command that there is not: commander would give that of all. */
export async function refuseUnknownHelp(program: Command, words: readonly string[]): Promise<void> {
  const path = words.slice(
    0,
    words.findIndex((word) => word.startsWith('-')),
  );
  if (!['--help', '-h'].includes(words[path.length] ?? '') || commandAt(program, path) !== undefined) return;
  const { command, name, rest } = commandNamed(program, path);
  throw await unknownCommand(`There is no command "crm ${path.join(' ')}".`, {
    ...{ command, name, word: rest[0] ?? '' },
    seeAll: `run "${name} --help" to see which there are.`,
  });
}

/** What to say of words behind `crm help` that name neither a topic nor a command. */
export async function unknownTopic(
  program: Command,
  words: readonly string[],
  topics: readonly string[],
): Promise<CliError> {
  const { command, name, rest } = commandNamed(program, words);
  const [word = ''] = rest;
  if (command !== program)
    return unknownCommand(`There is no command "crm ${words.join(' ')}".`, {
      ...{ command, name, word },
      seeAll: `run "${name} --help" to see which there are.`,
    });
  return unknownCommand(`There is no topic or command "${words.join(' ')}".`, {
    ...{ command, name, word, topics },
    seeAll: 'run "crm help" to see the topics, "crm --help" to see the commands.',
  });
}

/** commander's complaint as a usage error of ours; null where it only ended after help or version. */
export async function usageErrorOf(
  program: Command,
  words: readonly string[],
  error: CommanderError,
): Promise<CliError | null> {
  if (error.exitCode === 0) return null;
  const { command, name } = commandNamed(program, words);
  if (error.code === 'commander.help') {
    return usageError(`"${name}" needs a command of its own.`, `run "${name} --help" to see which.`);
  }
  const message = error.message.replace(/^error: /, '');
  const [, word = ''] = /'([^']*)'/.exec(message) ?? [];
  if (error.code === 'commander.unknownCommand') {
    const before = commandNamed(program, words.slice(0, words.indexOf(word)));
    const seeAll = `run "${before.name} --help" to see what it takes.`;
    return unknownCommand(`${message}.`, { ...before, word, words, seeAll });
  }
  const hint = error.code === 'commander.unknownOption' ? didYouMean(word, flagsOf(program, command)) : '';
  return usageError(
    hint === '' ? message : `${message}.${hint}`,
    `run "${name} --help" to see what it takes.`,
  );
}

interface Unknown {
  /** Whose command it should have been, and how that is called. */
  command: Command;
  name: string;
  word: string;
  /** The whole command line, where it was meant to be run. */
  words?: readonly string[];
  /** Topics of the manual that it may have been, too. */
  topics?: readonly string[];
  seeAll: string;
}

async function unknownCommand(message: string, unknown: Unknown): Promise<CliError> {
  const { command, word, words = [], topics = [], seeAll } = unknown;
  const commands = command.commands.map((one) => one.name()).filter((name) => !name.startsWith('__'));
  const names = [...commands, ...topics];
  const resource = command.parent === null ? await resourceMeant(word) : undefined;
  if (resource === undefined) return usageError(message + didYouMean(word, names), seeAll);
  const at = words.indexOf(word);
  const verb = words[at + 1] ?? '';
  const isVerb = commands.includes(verb);
  const rest = isVerb ? words.slice(at + 2) : [];
  const line = [...words.slice(0, Math.max(0, at)), isVerb ? verb : 'list', resource, ...rest];
  return usageError(
    `${message} What is to be done comes first, then ${resource}.`,
    `crm ${line.map((one) => shellWord(redact(one))).join(' ')}`,
    seeAll,
  );
}

async function resourceMeant(word: string): Promise<string | undefined> {
  const { RESOURCES } = await import('../db/model/resources/registry.ts');
  const wanted = word.toLowerCase();
  return RESOURCES.find(({ name, singular }) => name === wanted || singular === wanted)?.name;
}

function flagsOf(program: Command, command: Command): string[] {
  return [...command.options, ...program.options].flatMap(({ hidden, long }) =>
    hidden || !long ? [] : [long],
  );
}

/** The command that the words name; words behind one that has no commands of its own are its arguments. */
export function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) {
    if (command === undefined || command.commands.length === 0) break;
    command = command.commands.find((one) => one.name() === word);
  }
  return command;
}

/** The last command among the words, whatever stands between, how it is called, and the words that name none. */
function commandNamed(
  program: Command,
  words: readonly string[],
): { command: Command; name: string; rest: string[] } {
  const path = ['crm'];
  const rest: string[] = [];
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) rest.push(word);
    else {
      command = next;
      path.push(word);
    }
  }
  return { command, name: path.join(' '), rest };
}
