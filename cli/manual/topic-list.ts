// What `crm help` prints: every topic of the manual with what its page is about.
import { allTopics, GROUP_TITLES, summaryOf, type Topic, topicsIn } from './topics.ts';

const INDENT = '  ';
const COLUMNS_MAX = 100;

/** The topics in their groups, and where the options of commands are. */
export function topicList(columns: number, isColored: boolean): string {
  const nameWidth = Math.max(0, ...allTopics().map(({ name }) => name.length));
  const bold = (text: string) => (isColored ? `\u001b[1m${text}\u001b[22m` : text);
  const lineOf = ({ name, page }: Topic): string => {
    const before = `${INDENT}${name.padEnd(nameWidth)}${INDENT}`;
    return hanging(before, summaryOf(page).replace(/\.$/, ''), columns);
  };
  const lists = GROUP_TITLES.map((title) => [bold(`${title}:`), ...topicsIn(title).map(lineOf)].join('\n'));
  const ending = '"crm COMMAND --help" lists the options of a command, "crm --help" all commands.';
  return `${['Usage: crm help TOPIC', ...lists, hanging('', ending, columns)].join('\n\n')}\n`;
}

function hanging(before: string, text: string, columns: number): string {
  const room = Math.max(1, Math.min(columns, COLUMNS_MAX) - before.length);
  const lines = columns === Number.POSITIVE_INFINITY ? text : Bun.wrapAnsi(text, room, { hard: false });
  return before + lines.replaceAll('\n', `\n${' '.repeat(before.length)}`);
}
