// How this program is called, so that the commands in messages can be typed as they are shown.
import { realpathSync } from 'node:fs';
import { shellWord } from './text.ts';

const NAME = 'crm';

/** `crm` where the shell finds this executable by that name, else the path as it was typed; of the sources, by Bun. */
export function programName(): string {
  if (!isExecutable()) return `bun ${shellWord(Bun.main)}`;
  const typed = process.argv0;
  // Typed without a folder, it was found on the PATH.
  if (!/[\\/]/.test(typed)) return shellWord(typed);
  return isSame(Bun.which(NAME), process.execPath) ? NAME : shellWord(typed);
}

let commands: RegExp | undefined;

/** Says which commands there are: `crm` and one of these in a message is a command, and not the product's name. */
export function knowCommands(names: readonly string[]): void {
  commands = new RegExp(`(?<![\\w./-])${NAME} (?=(?:${names.map(RegExp.escape).join('|')})\\b)`, 'g');
}

/** The text with its commands as they can be typed here. */
export function withProgramName(text: string): string {
  if (commands === undefined || !isExecutable() || !text.includes(`${NAME} `)) return text;
  const name = programName();
  return name === NAME ? text : text.replace(commands, () => `${name} `);
}

function isExecutable(): boolean {
  return Bun.main.startsWith('/$bunfs/');
}

function isSame(found: string | null, path: string): boolean {
  try {
    return found !== null && realpathSync(found) === realpathSync(path);
  } catch {
    return false;
  }
}
