// What can come next on a command line, for the shells' completion.
import type { Command, Option } from 'commander';

/** Words that can stand in the last place of `words`, what stands before `crm` left out. */
export async function completions(program: Command, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const { command, given } = descend(program, words.slice(0, -1));
  const options = [...command.options, ...program.options].filter((option) => !option.hidden);
  const pending = optionNamed(options, words.at(-2));
  if (pending?.required) return matching(pending.argChoices ?? [], current);
  if (current.startsWith('-')) {
    return matching([...options.flatMap(flagsOf), '--help'], current);
  }
  if (command.commands.length > 0) {
    const shown = command.commands.filter((one) => !one.name().startsWith('__'));
    return matching(
      shown.map((one) => one.name()),
      current,
    );
  }
  const argument = command.registeredArguments[given];
  if (argument?.name() === 'resource') {
    const everything = ['export', 'import'].includes(command.name()) ? ['all'] : [];
    return matching([...(await resourceNames()), ...everything], current);
  }
  return matching(argument?.argChoices ?? [], current);
}

function descend(program: Command, words: readonly string[]): { command: Command; given: number } {
  let command = program;
  let given = 0;
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) continue;
    if (optionNamed([...command.options, ...program.options], words[index - 1])?.required) continue;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) given += 1;
    else command = next;
  }
  return { command, given };
}

function optionNamed(options: readonly Option[], word: string | undefined): Option | undefined {
  return word === undefined ? undefined : options.find((option) => flagsOf(option).includes(word));
}

function flagsOf(option: Option): string[] {
  return [option.short, option.long].filter((flag) => typeof flag === 'string');
}

async function resourceNames(): Promise<string[]> {
  const { RESOURCES } = await import('../../db/resources/index.ts');
  return RESOURCES.map((resource) => resource.name);
}

function matching(candidates: readonly string[], current: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(current));
}
