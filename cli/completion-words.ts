// What can come next on a command line, for the shells' completion.
import type { Command, Option } from 'commander';
import { findResource, RESOURCES, V1_SCOPES, V2_SCOPES } from '../db/model/resources/registry.ts';
import { allTopics } from './manual/topics.ts';
import { fieldPairs, resourceWords } from './resource-words.ts';

/** Words that are not in the program itself. */
export interface WordSources {
  /** Names of the organizations in the database that these words are about. */
  organizations(words: readonly string[]): Promise<string[]>;
  profiles(): Promise<string[]>;
  recipes(): Promise<string[]>;
  /** Short IDs of records of a resource, a tab, and what each is called. */
  records(resource: string): Promise<string[]>;
  /** Names of the pipelines, or of their stages. */
  pipelines(kind: 'pipeline' | 'stage'): Promise<string[]>;
}

/** What stands before the word that is being completed. */
interface Place {
  command: Command;
  /** The arguments of the command. */
  given: readonly string[];
  words: readonly string[];
  sources: WordSources;
}

/** Completions for the last word of `words`, which begin after `crm`. */
export async function completions(
  program: Command,
  words: readonly string[],
  sources: WordSources,
): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const place = { ...descend(program, words.slice(0, -1)), words, sources };
  const { command } = place;
  const options = [...command.options, ...program.options].filter((option) => !option.hidden);
  const pending = optionNamed(options, words.at(-2));
  if (pending?.required) return valuesOf(pending, current, place);
  const [, flag = '', value = ''] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const joined = optionNamed(options, flag);
  if (joined?.required) return (await valuesOf(joined, value, place)).map((word) => `${flag}=${word}`);
  if (current.startsWith('-')) return matching([...options.flatMap(flagsOf), '--help'], current);
  if (command.commands.length > 0) return matching(namesIn(command), current);
  if (command.name() === 'help') return matching(helpWords(program, words), current);
  return matching(await argumentWords(place, current), current);
}

async function argumentWords({ command, given, words, sources }: Place, current: string): Promise<string[]> {
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[given.length] ?? (last?.variadic ? last : undefined);
  const resource = findResource(given[0] ?? '');
  switch (argument?.name()) {
    case 'resource':
      return [
        ...RESOURCES.map(({ name }) => name),
        ...(['export', 'import'].includes(command.name()) ? ['all'] : []),
      ];
    case 'field=value':
      return resource === undefined ? [] : pairWords(fieldPairs(resource, command.name()), current, sources);
    case 'id':
      return resource === undefined || command.name() === 'undelete' ? [] : sources.records(resource.name);
    case 'org':
      return sources.organizations(words);
    case 'profile':
      return sources.profiles();
    case 'name':
      return command.name() === 'recipe' ? sources.recipes() : [];
    default:
      return [...(argument?.argChoices ?? [])];
  }
}

/** What an option takes; of one that takes several, what comes after the last comma. */
async function valuesOf(option: Option, current: string, place: Place): Promise<string[]> {
  const isList = /<[^<>]*,[^<>]*>$/.test(option.flags);
  const before = isList ? current.slice(0, current.lastIndexOf(',') + 1) : '';
  const values = await choicesOf(option, current, place);
  const left = isList ? values.filter((value) => !before.split(',').includes(value)) : values;
  return matching(
    left.map((value) => before + value),
    current,
  );
}

async function choicesOf(
  { long, argChoices }: Option,
  current: string,
  { command, given, words, sources }: Place,
): Promise<readonly string[]> {
  if (argChoices !== undefined) return argChoices;
  if (long === '--org' && command.name() !== 'init') return sources.organizations(words);
  if (long === '--profile') return sources.profiles();
  if (long === '--scopes') return words[words.indexOf('--api') + 1] === 'v1' ? V1_SCOPES : V2_SCOPES;
  const resource = findResource(given[0] ?? '');
  if (resource === undefined) return [];
  const found = resourceWords(long, resource);
  return Array.isArray(found) ? found : pairWords(found, current, sources);
}

/** `key=` for each key; once there is one, its values. */
async function pairWords(
  pairs: Readonly<Record<string, readonly string[]>>,
  current: string,
  sources: WordSources,
): Promise<string[]> {
  const at = current.indexOf('=');
  if (at < 0) return Object.keys(pairs).map((key) => `${key}=`);
  const key = current.slice(0, at);
  const isServers = (key === 'pipeline' || key === 'stage') && Object.hasOwn(pairs, key);
  const values = isServers ? await sources.pipelines(key) : (pairs[key] ?? []);
  return values.map((value) => `${key}=${value}`);
}

/** Topics of the manual and commands; behind a group of commands, those in it. */
function helpWords(program: Command, words: readonly string[]): string[] {
  const before = words.slice(words.indexOf('help') + 1, -1).filter((word) => !word.startsWith('-'));
  const { command, given } = descend(program, before);
  const commands = given.length > 0 ? [] : namesIn(command);
  if (before.length > 0) return commands;
  return [...new Set([...allTopics().map(({ name }) => name), ...commands])];
}

function namesIn(command: Command): string[] {
  return command.commands.map((one) => one.name()).filter((name) => !name.startsWith('__'));
}

/** The command that the words name, and its arguments among them. */
function descend(program: Command, words: readonly string[]): Pick<Place, 'command' | 'given'> {
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

function flagsOf(option: Option): string[] {
  return [option.short, option.long].filter((flag) => typeof flag === 'string');
}

function matching(candidates: readonly string[], current: string): string[] {
  const wanted = current.toLowerCase();
  return candidates.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
}
