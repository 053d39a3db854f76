// Carries out `crm help`: prints a page of the manual, or the help of a command.

import type { Command } from 'commander';
import { writePaged } from '../terminal/pager.ts';
import { stdout } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { commandAt, unknownTopic } from '../usage-errors.ts';
import { optionsSection } from './reference.ts';
import { terminalPage } from './terminal-page.ts';
import { topicList } from './topic-list.ts';
import { allTopics, topicsAbout } from './topics.ts';

// Another name of the list, which "crm help" alone prints.
const LIST = 'topics';

/** Prints the page or help that the words name; without words, the list of pages. */
export async function runHelp(
  program: Command,
  words: readonly string[],
  { isPagerWanted, isInColor }: { isPagerWanted: boolean; isInColor: boolean },
): Promise<void> {
  const text = await textFor(program, words, isInColor);
  if (text !== undefined) await writePaged(text, { isPagerWanted });
}

// Undefined if it printed the help of a command instead.
async function textFor(
  program: Command,
  words: readonly string[],
  isColored: boolean,
): Promise<string | undefined> {
  const columns = terminalWidth(stdout);
  const [name] = words;
  if (name === undefined || words.join(' ') === LIST) return topicList(columns, isColored);
  const topics = allTopics();
  const topic = topics.find((one) => one.name === words.join('-'));
  const command = commandAt(program, words);
  if (topic === undefined) {
    if (command === undefined) {
      const names = topics.map((one) => one.name);
      throw await unknownTopic(program, words, { topics: names, mentionedIn: topicsAbout(words) });
    }
    command.outputHelp();
    return undefined;
  }
  const page = command === undefined ? topic.page : `${topic.page}\n${optionsSection(command)}`;
  return stdout.isTTY ? terminalPage(page, { columns, isColored }) : page;
}
