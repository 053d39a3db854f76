// What can come next on a command line, for the shells' completion.
import type { Command, Option } from 'commander';
import { findResource, RESOURCES } from '../db/model/resources/registry.ts';
import { allTopics } from './manual/topics.ts';
import { resourceWords } from './resource-words.ts';

/** Completions for the last word of `words`, which begin after `crm`. */
export function completions(program: Command, words: readonly string[]): string[] {
  const current = words.at(-1) ?? '';
  const { command, given } = descend(program, words.slice(0, -1));
  const options = [...command.options, ...program.options].filter((option) => !option.hidden);
  const pending = optionNamed(options, words.at(-2));
  if (pending?.required) return choicesOf(pending, given[0], current);
  if (current.startsWith('-')) {
    return matching([...options.flatMap(flagsOf), '--help'], current);
  }
  if (command.commands.length > 0) {
    return matching(
      shownCommands(command).map((one) => one.name()),
      current,
    );
  }
  if (command.name() === 'help') return matching(helpWords(program, words), current);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[given.length] ?? (last?.variadic ? last : undefined);
  if (argument?.name() === 'resource') {
    const everything = ['export', 'import'].includes(command.name()) ? ['all'] : [];
    return matching([...RESOURCES.map(({ name }) => name), ...everything], current);
  }
  return matching(argument?.argChoices ?? [], current);
}

/** Topics of the manual and commands; behind a group of commands, those in it. */
function helpWords(program: Command, words: readonly string[]): string[] {
  const before = words.slice(words.indexOf('help') + 1, -1).filter((word) => !word.startsWith('-'));
  const { command, given } = descend(program, before);
  const commands = given.length > 0 ? [] : shownCommands(command).map((one) => one.name());
  if (before.length > 0) return commands;
  return [...new Set([...allTopics().map(({ name }) => name), ...commands])];
}

function shownCommands(command: Command): Command[] {
  return command.commands.filter((one) => !one.name().startsWith('__'));
}

/** The command that the words name, and its arguments among them. */
function descend(program: Command, words: readonly string[]): { command: Command; given: string[] } {
  let command = program;
  const given: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) continue;
    if (optionNamed([...command.options, ...program.options], words[index - 1])?.required) continue;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) given.push(word);
    else command = next;
  }
  return { command, given };
}

function optionNamed(options: readonly Option[], word: string | undefined): Option | undefined {
  return word === undefined ? undefined : options.find((option) => flagsOf(option).includes(word));
}

// Of an option that takes several, the words after the last comma.
function choicesOf({ flags, long, argChoices }: Option, what: string | undefined, current: string): string[] {
  const given = flags.endsWith('<a,b>') ? current.slice(0, current.lastIndexOf(',') + 1) : '';
  const resource = findResource(what ?? '');
  const choices = argChoices ?? (resource === undefined ? [] : resourceWords(long, resource));
  const left = choices.filter((choice) => !given.split(',').includes(choice));
  return matching(
    left.map((choice) => `${given}${choice}`),
    current,
  );
}

function flagsOf(option: Option): string[] {
  return [option.short, option.long].filter((flag) => typeof flag === 'string');
}

function matching(candidates: readonly string[], current: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(current));
}
