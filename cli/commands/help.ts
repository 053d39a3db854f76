// `crm help`: prints the manual, page by page, and the help of commands.
import type { Command } from 'commander';
import { type GlobalOptions, isColored } from '../settings/config.ts';
import { writePaged } from '../terminal/pager.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { commandAt, unknownTopic } from '../usage-errors.ts';

interface Options extends GlobalOptions {
  pager: boolean;
}

/** Adds `crm help`. */
export function registerHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .summary('Read the manual, or show help for a command')
    .description('Print a page of the manual or the help of a command, or without a topic the list of pages')
    .argument('[topic...]', 'Topic of the manual, or a command')
    .option('--no-pager', 'Do not use a pager for long output [PAGER]')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const options: Options = command.optsWithGlobals();
      const text = await textFor(program, words, isColored(process.stdout, options.color));
      if (text !== undefined) await writePaged(text, { isPagerWanted: options.pager });
    });
}

/** The list, or a page; undefined if it printed the help of a command instead. */
async function textFor(
  program: Command,
  words: readonly string[],
  isInColor: boolean,
): Promise<string | undefined> {
  const columns = terminalWidth(process.stdout);
  const [name] = words;
  if (name === undefined) {
    const { topicList } = await import('../manual/topic-list.ts');
    return topicList(columns, isInColor);
  }
  const { allTopics } = await import('../manual/topics.ts');
  const topics = allTopics();
  const topic = words.length === 1 ? topics.find((one) => one.name === name) : undefined;
  const command = commandAt(program, words);
  if (topic === undefined) {
    if (command === undefined)
      throw await unknownTopic(
        program,
        words,
        topics.map((one) => one.name),
      );
    command.outputHelp();
    return undefined;
  }
  const { optionsSection } = await import('../manual/reference.ts');
  const page = command === undefined ? topic.page : `${topic.page}\n${optionsSection(command)}`;
  if (!process.stdout.isTTY) return page;
  const { terminalPage } = await import('../manual/terminal-page.ts');
  return terminalPage(page, { columns, isColored: isInColor });
}
