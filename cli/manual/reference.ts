// The reference of a command as Markdown, generated from commander, so that no page repeats it.
import type { Command, Help } from 'commander';
import type { TopicName } from './topics.ts';

/** The arguments and options of a command, with their meaning. */
export interface CommandReference {
  /** `crm keys issue [options]`. */
  usage: string;
  description: string;
  /** Terms and what they mean: arguments first, then options. */
  rows: [term: string, meaning: string][];
}

/** A command and its subcommands, without mere groups. */
export function referencesOf(command: Command): CommandReference[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  if (subcommands.length > 0) return subcommands.flatMap(referencesOf);
  return [
    {
      usage: help.commandUsage(command),
      description: help.commandDescription(command),
      rows: [...argumentRows(command, help), ...optionRows(command, help)],
    },
  ];
}

/** The options of all commands together. */
export function globalRows(program: Command): CommandReference['rows'] {
  return optionRows(program, program.createHelp());
}

function argumentRows(command: Command, help: Help): CommandReference['rows'] {
  return help
    .visibleArguments(command)
    .map((argument) => [help.argumentTerm(argument), help.argumentDescription(argument)]);
}

function optionRows(command: Command, help: Help): CommandReference['rows'] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => [help.optionTerm(option), help.optionDescription(option)]);
}

const GLOBAL_OPTIONS: TopicName = 'settings';
const ELSEWHERE = `For the options that every command takes, see [Settings](${GLOBAL_OPTIONS}.md).`;

/** The end of a page whose topic has a command's name. */
export function optionsSection(command: Command): string {
  const references = referencesOf(command);
  const parts = references.map(({ usage, description, rows }) => {
    const isOwn = references.length === 1;
    const heading = isOwn ? [] : [`### \`${usage}\``, escaped(description)];
    return [...heading, ...(rows.length === 0 ? [] : [tableOf(rows)])].join('\n\n');
  });
  const usage = references.length === 1 ? [`\`${references[0]?.usage ?? ''}\``] : [];
  return ['## Options', ...usage, ...parts, ELSEWHERE].join('\n\n').concat('\n');
}

function tableOf(rows: CommandReference['rows']): string {
  const lines = rows.map(([term, meaning]) => `| ${cell(`\`${term}\``)} | ${cell(escaped(meaning))} |`);
  return ['| Option | Meaning |', '|---|---|', ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Plain text as Markdown that shows it. */
function escaped(text: string): string {
  return text.replace(/[\\`*_<>[\]~]/g, '\\$&');
}
