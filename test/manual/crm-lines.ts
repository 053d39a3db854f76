// Whether commands that a document names, and does not run, have names and flags that there are.
import type { Command, Option } from 'commander';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';

const RESOURCE_NAMES = [...RESOURCES.map(({ name }) => name), 'people', 'all'];
// What may stand before a command and belongs to the shell.
const BEFORE_COMMAND = /^(?:\w+=.*|sudo|-u|exec|env|nohup|time|if|until|while|then|do|!)$/;

/** The commands of a shell text that begin with `crm`, as words; what is quoted stays one word. */
export function crmLines(text: string): string[][] {
  const script = withoutHereDocuments(text.replace(/\\\n\s*/g, ' '));
  const inner = [...script.matchAll(/\$\(([^()]*)\)/g)].map(([, command = '']) => command);
  return [script, ...inner].flatMap(simpleCommands).flatMap((words) => {
    let start = words.findIndex((word) => !BEFORE_COMMAND.test(word));
    // `sudo -u USER` has one word more.
    if (start > 0 && words[start - 1] === '-u') start += 1;
    return words[start] === 'crm' ? [words.slice(start + 1)] : [];
  });
}

function withoutHereDocuments(text: string): string {
  return text.replace(/<<-?\s*(['"]?)(\w+)\1(.*)\n[\s\S]*?\n\s*\2$/gm, '$3');
}

const PIECE =
  /#(?<=(?:^|\s)#)[^\n]*|[\n;|&()]|\d?>>?&?\s*\S+|<\s*\S+|(?:'[^']*'|"[^"]*"|\$\([^)]*\)|\\.|(?<=\w)\|(?=\w)|[^\s;|&()<>'"\\])+/g;

/** The simple commands of a script; a comment or redirection is no word, and `a|b` is a choice. */
function simpleCommands(script: string): string[][] {
  const commands: string[][] = [[]];
  for (const [piece] of script.matchAll(PIECE)) {
    if (/^[\n;|&()]$/.test(piece)) commands.push([]);
    else if (!/^(?:#|\d?>|<)/.test(piece)) commands.at(-1)?.push(piece.replace(/^(['"])(.*)\1$/s, '$2'));
  }
  return commands.filter((words) => words.length > 0);
}

/** What is wrong with the words behind `crm`; null if they may be meant. `COMMAND`, `$NAME` and `…` stand for anything. */
export function faultOf(
  program: Command,
  words: readonly string[],
  topics: readonly string[],
): string | null {
  let command = program;
  let given = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '…' || word === '...') return null;
    if (word.startsWith('-') && word !== '-') {
      const [flag = '', value] = word.split('=', 2);
      const option = optionsOf(command).find(({ short, long }) => short === flag || long === flag);
      if (option === undefined && !['--help', '-h'].includes(flag))
        return `${nameOf(command)} has no ${flag}`;
      if (option?.required) {
        const said = value ?? words[at + 1] ?? '';
        if (value === undefined) at += 1;
        const fault = choiceFault(said, option.argChoices);
        if (fault !== null) return `${flag}: ${fault}`;
      }
    } else if (command.commands.length > 0) {
      if (isAnything(word)) return null;
      for (const name of word.split('|'))
        if (!command.commands.some((one) => one.name() === name))
          return `${nameOf(command)} has no "${name}"`;
      command = command.commands.find((one) => one.name() === word.split('|')[0]) ?? command;
    } else {
      const argument = command.registeredArguments[given];
      if (argument === undefined) return `${nameOf(command)} does not take "${word}"`;
      const fault = choiceFault(
        word,
        argument.argChoices ?? namesOf(program, command, argument.name(), topics),
      );
      if (fault !== null) return `${nameOf(command)}: ${fault}`;
      if (!argument.variadic) given += 1;
    }
  }
  return null;
}

/** The names that an argument may have, where it has names but no declared choices. */
function namesOf(
  program: Command,
  command: Command,
  argument: string,
  topics: readonly string[],
): readonly string[] | undefined {
  if (argument === 'resource' || argument === 'target') return RESOURCE_NAMES;
  if (argument === 'topic')
    return [
      ...topics,
      ...[program, ...program.commands].flatMap((one) => one.commands.map((sub) => sub.name())),
    ];
  return command.name() === 'recipe' ? Object.keys(RECIPES) : undefined;
}

function choiceFault(word: string, choices: readonly string[] | undefined): string | null {
  if (choices === undefined || isAnything(word)) return null;
  const unknown = word
    .split(/[|,]/)
    .find((one) => !isAnything(one) && !choices.includes(one.split('/')[0] ?? one));
  return unknown === undefined ? null : `there is no "${unknown}"`;
}

function isAnything(word: string): boolean {
  return /^[$"'<{]|^[A-Z][A-Z\d_/|-]*$|…/.test(word);
}

function optionsOf(command: Command): Option[] {
  return [...command.options, ...(command.parent === null ? [] : optionsOf(command.parent))];
}

function nameOf(command: Command): string {
  return command.parent === null ? 'crm' : `${nameOf(command.parent)} ${command.name()}`;
}
