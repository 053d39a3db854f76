// `crm help`: the manual, page by page, and what a command takes.
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
    .summary('read the manual, or what a command takes')
    .description('Print a page of the manual, or what a command takes; without a topic, a list of all pages.')
    .argument('[topic...]', 'topic of the manual, or a command')
    .option('--no-pager', 'no pager for what is longer than the screen [PAGER]')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const options: Options = command.optsWithGlobals();
      const text = await textFor(program, words, isColored(process.stdout, options.color));
      if (text !== undefined) await writePaged(text, { isPagerWanted: options.pager });
    });
}

/** The list, or a page; undefined where the help of a command was printed instead. */
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
