// Turns commander's errors into errors for people, with the command that was probably meant.
import type { Command, CommanderError } from 'commander';
import { joinWithOr } from '../db/model/text.ts';
import { type CliError, usageError } from './errors.ts';
import { commandExamples } from './help-layout.ts';
import { didYouMean, nearest } from './nearest.ts';
import { redact } from './terminal/redact.ts';
import { shellWord } from './terminal/text.ts';

/** The words with `--help` instead of a `help` after a group; commander's help command reports no mistakes. */
export function withHelpFlag(program: Command, words: readonly string[]): readonly string[] {
  const at = words.indexOf('help');
  const group = commandAt(program, words.slice(0, Math.max(0, at)));
  if (at < 0 || group === undefined || group === program || group.commands.length === 0) return words;
  return [...words.filter((word) => word !== 'help'), '--help'];
}

/** Rejects if help is asked for an unknown command: commander would print the help of the program. */
export async function refuseUnknownHelp(program: Command, words: readonly string[]): Promise<void> {
  const path = words.slice(
    0,
    words.findIndex((word) => word.startsWith('-')),
  );
  if (!['--help', '-h'].includes(words[path.length] ?? '') || commandAt(program, path) !== undefined) return;
  const { command, name, rest } = commandNamed(program, path);
  throw await unknownCommand(`Unknown command "crm ${path.join(' ')}".`, {
    ...{ command, name, word: rest[0] ?? '' },
    seeAll: `run "${name} --help" to list the commands.`,
  });
}

/**
 * The error for words after `crm help` that are neither a topic nor a command.
 * @param topics the topics, and those whose pages say the most about the words
 */
export async function unknownTopic(
  program: Command,
  words: readonly string[],
  { topics, mentionedIn }: { topics: readonly string[]; mentionedIn: readonly string[] },
): Promise<CliError> {
  // Options do not come before a topic, as they do before a command: the first unknown word is what is wrong.
  const known = words.findIndex(
    (_word, index) => commandAt(program, words.slice(0, index + 1)) === undefined,
  );
  const { command, name, rest } = commandNamed(program, words.slice(0, known + 1));
  const [word = ''] = rest;
  if (command !== program)
    return unknownCommand(`Unknown command "crm ${words.join(' ')}".`, {
      ...{ command, name, word },
      seeAll: `run "${name} --help" to list the commands.`,
    });
  const message = `Unknown topic or command "${words.join(' ')}".`;
  const seeAll = 'run "crm help" to list the topics, or "crm --help" to list the commands.';
  if (mentionedIn.length > 0 && (await resourceMeant(word)) === undefined) {
    const pages = mentionedIn.map((topic) => `"crm help ${topic}"`);
    return usageError(
      message,
      `read ${joinWithOr(pages)}, which mention${pages.length > 1 ? '' : 's'} it.`,
      seeAll,
    );
  }
  return unknownCommand(message, { command, name, word, topics, seeAll });
}

/** commander's complaint as a usage error of ours. */
export async function usageErrorOf(
  program: Command,
  words: readonly string[],
  error: CommanderError,
): Promise<CliError> {
  const { command, name } = commandNamed(program, words);
  if (error.code === 'commander.help') {
    const names = joinWithOr(namesIn(command));
    return usageError(`"${name}" needs a subcommand: ${names}.`, `run "${name} --help" for examples.`);
  }
  const message = messageFor(error);
  const [, word = ''] = /'([^']*)'/.exec(message) ?? [];
  if (error.code === 'commander.unknownCommand') {
    const before = commandNamed(program, words.slice(0, words.indexOf(word)));
    const seeAll = `run "${before.name} --help" to list the commands.`;
    return unknownCommand(`Unknown command "${before.name} ${word}".`, { ...before, word, words, seeAll });
  }
  const hint =
    error.code === 'commander.unknownOption'
      ? didYouMean(word, flagsOf(program, command))
      : hintAtChoice(message);
  return usageError(
    `${/[.?]$/.test(message) ? message : `${message}.`}${hint}`,
    ...(error.code === 'commander.missingArgument' ? exampleOf(command) : []),
    `run "${name} --help" to list arguments and options.`,
  );
}

function exampleOf(command: Command): string[] {
  return commandExamples(command)
    .slice(0, 1)
    .map((example) => `for example: ${example}`);
}

/** What commander says, without its label and its name for an argument. */
function messageFor(error: CommanderError): string {
  return error.message
    .replace(/^error: ./, (start) => start.slice(-1).toUpperCase())
    .replace(
      /^Command-argument value ('.*') is invalid for argument '(.*?)'/s,
      'Argument <$2> $1 is invalid',
    );
}

function hintAtChoice(message: string): string {
  const [, given = '', choices = ''] =
    /'([^']*)' is invalid\. Allowed choices are (.*)\.$/s.exec(message) ?? [];
  return didYouMean(given, choices.split(', '));
}

interface Unknown {
  /** The command before the unknown word, and its full name. */
  command: Command;
  name: string;
  word: string;
  /** The whole command line, if it was meant to run. */
  words?: readonly string[];
  /** Topics of the manual, if the word may also be one. */
  topics?: readonly string[];
  seeAll: string;
}

async function unknownCommand(message: string, unknown: Unknown): Promise<CliError> {
  const { command, word, words = [], topics = [], seeAll } = unknown;
  const commands = namesIn(command);
  const hint = didYouMean(word, [...commands, ...topics]);
  const resource = command.parent === null ? await resourceMeant(word, hint !== '') : undefined;
  if (resource === undefined) return usageError(message + hint, seeAll);
  const at = words.indexOf(word);
  const verb = words[at + 1] ?? '';
  const isVerb = commands.includes(verb);
  const rest = isVerb ? words.slice(at + 2) : [];
  const line = [...words.slice(0, Math.max(0, at)), isVerb ? verb : 'list', resource, ...rest];
  return usageError(
    `${message} The verb comes first, then ${resource}.`,
    `crm ${line.map((one) => shellWord(redact(one))).join(' ')}`,
    seeAll,
  );
}

/** The resource with that name, or with one that is near if no other word was meant. */
async function resourceMeant(word: string, isOtherMeant = true): Promise<string | undefined> {
  const { RESOURCES } = await import('../db/model/resources/registry.ts');
  const wanted = word.toLowerCase();
  const named = RESOURCES.find(({ name, singular }) => name === wanted || singular === wanted)?.name;
  if (named !== undefined || isOtherMeant) return named;
  return nearest(
    word,
    RESOURCES.map(({ name }) => name),
  );
}

function namesIn(command: Command): string[] {
  return command.commands.map((one) => one.name()).filter((name) => !name.startsWith('__'));
}

function flagsOf(program: Command, command: Command): string[] {
  return [...command.options, ...program.options].flatMap(({ hidden, long }) =>
    hidden || !long ? [] : [long],
  );
}

/** The command that the words name; words after a command without subcommands are its arguments. */
export function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) {
    if (command === undefined || command.commands.length === 0) break;
    command = command.commands.find((one) => one.name() === word);
  }
  return command;
}

/** The last command among the words, its full name, and the words that do not name a command. */
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
