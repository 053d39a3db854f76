// Questions to the person at the terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { CliError, usageError } from '../errors.ts';
import { stderr, writeForPeople } from './streams.ts';
import { neutralize } from './text.ts';

/** The next step of a command that cannot ask. */
export const ADD_YES = 'add --yes to delete without a prompt.';

/** Whether a person can answer: stdin and stderr are a terminal. */
export function canAsk(): boolean {
  return isatty(0) && stderr.isTTY;
}

/** @throws CliError with the usage code if nobody can be asked before something is deleted */
export function requireTerminal(): void {
  if (canAsk()) return;
  throw usageError('Cannot ask for confirmation without a terminal.', ADD_YES);
}

/** Asks whether to delete `what`, such as `contact ID`. @throws CliError unless the answer is yes */
export async function confirmDelete(what: string): Promise<void> {
  if (await confirm(`Delete ${what}?`)) return;
  throw new CliError('Nothing was deleted.', { nextSteps: ['answer y, or add --yes.'] });
}

/** Asks for a line that is not shown while it is typed. */
export async function askSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  writeForPeople(neutralize(question));
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    writeForPeople('\n');
  }
}

/** Asks for a yes on the terminal; any other answer means no. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: stderr.stream });
  // Without a listener, readline swallows Ctrl-C.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await terminal.question(`${neutralize(question)} [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
