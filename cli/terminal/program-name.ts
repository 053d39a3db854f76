// The name by which the user can run this program, for the commands in messages.
import { realpathSync } from 'node:fs';
import { shellWord } from './text.ts';

const NAME = 'crm';

/** `crm` if the shell finds this executable by that name, else the path as typed; with Bun when run from source. */
export function programName(): string {
  if (!isExecutable()) return `bun ${shellWord(Bun.main)}`;
  const typed = process.argv0;
  // Without a folder, the shell found it on the PATH.
  if (!/[\\/]/.test(typed)) return shellWord(typed);
  return isSame(Bun.which(NAME), process.execPath) ? NAME : shellWord(typed);
}

let commands: RegExp | undefined;

/** Sets the known commands: only `crm` followed by one of these, or by an option, is a command in a message. */
export function knowCommands(names: readonly string[]): void {
  commands = new RegExp(`(?<![\\w./-])${NAME} (?=(?:${names.map(RegExp.escape).join('|')})\\b|--[a-z])`, 'g');
}

/** The text, with the name of the program in its commands as the user can type it. */
export function withProgramName(text: string): string {
  if (commands === undefined || !isExecutable() || !text.includes(`${NAME} `)) return text;
  const name = programName();
  return name === NAME ? text : text.replace(commands, () => `${name} `);
}

/** The words that run this program again: the executable, or Bun and the entry. */
export function programCommand(): string[] {
  return isExecutable() ? [process.execPath] : [process.execPath, Bun.main];
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
