// Questions to the person at the terminal. What reads the answers is loaded when something is asked.
import type { Interface } from 'node:readline';
import { CliError, describeError, usageError } from '../errors.ts';
import { note, stderr, writeForPeople } from './streams.ts';
import { neutralize } from './text.ts';

/** The next step of a command that cannot ask. */
export const ADD_YES = 'add --yes to delete without a prompt.';

/** Whether a person can answer: stdin and stderr are a terminal. */
export function canAsk(): boolean {
  return stderr.isTTY && process.getBuiltinModule('node:tty').isatty(0);
}

/** Whether a person can use a screen with keys. */
export function canShowScreen(): boolean {
  return canAsk() && process.env.TERM !== 'dumb';
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
  const { createInterface } = await import('node:readline/promises');
  const { Writable } = await import('node:stream');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  endOnCtrlC(terminal);
  writeForPeople(neutralize(question));
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    writeForPeople('\n');
  }
}

/** Asks until the answer can be read; a CliError of `read` says why it cannot. */
export type Ask = <T>(question: string, read: (answer: string) => T) => Promise<T>;

/** Asks for a yes on the terminal; any other answer means no. */
export function confirm(question: string): Promise<boolean> {
  return withQuestions((ask) => ask(`${question} [y/N] `, (answer) => /^y(?:es)?$/i.test(answer.trim())));
}

/** Does work that asks questions on the terminal; what is typed ahead answers the next ones. */
export async function withQuestions<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const { createInterface } = await import('node:readline');
  const terminal = createInterface({ input: process.stdin, output: stderr.stream });
  const lines = new Lines(terminal);
  endOnCtrlC(terminal);
  const ask: Ask = async (question, read) => {
    for (;;) {
      terminal.setPrompt(neutralize(question));
      terminal.prompt();
      const answer = await lines.next();
      try {
        return read(answer);
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        note(describeError(error));
      }
    }
  };
  try {
    return await work(ask);
  } finally {
    terminal.close();
  }
}

/** Lets Ctrl-C end the command, as readline would not, with the shell's prompt on a line of its own. */
function endOnCtrlC(terminal: Pick<Interface, 'on'>): void {
  terminal.on('SIGINT', () => {
    writeForPeople('\n');
    process.kill(process.pid, 'SIGINT');
  });
}

/** The lines that a person types, in order. */
class Lines {
  readonly #typed: string[] = [];
  #isClosed = false;
  #wake = (): void => {};

  constructor(terminal: Interface) {
    terminal.on('line', (line) => {
      this.#typed.push(line);
      this.#wake();
    });
    terminal.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** The next line, once it is typed; throws a CliError if none can come. */
  async next(): Promise<string> {
    while (this.#typed.length === 0) {
      if (this.#isClosed)
        throw new CliError('There was no answer.', { nextSteps: ['run the same command again.'] });
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#typed.shift() ?? '';
  }
}
