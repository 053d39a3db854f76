// The process's streams: data on stdout, everything else on stderr, questions on a terminal only.
import { CliError, errorCode, usageError } from './errors.ts';
import { neutralize } from './text.ts';

/** Writes data to stdout and resolves once it is taken, so that a slow reader slows the writer. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes lines for people to stderr. */
export function note(text: string): void {
  process.stderr.write(`${neutralize(text)}\n`);
}

/** Resolves once everything written to stderr so far has left the process. */
export function flushErrors(): Promise<void> {
  return new Promise((resolve) => process.stderr.write('', () => resolve()));
}

/** Whether there is a person to ask: the input and the stream of questions are a terminal. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/** Asks for a yes on the terminal; anything else is a no. */
export async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without a listener, readline swallows Ctrl-C.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await terminal.question(`${neutralize(question)} [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** The whole text of a file, or of stdin for `-`; it must be UTF-8. */
export async function readText(path: string): Promise<string> {
  const name = path === '-' ? 'The input' : path;
  const bytes = await (path === '-' ? Bun.stdin : Bun.file(path)).bytes().catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError(`${name} is not UTF-8 text.`, { nextSteps: ['save it as UTF-8.'], cause });
  }
}

function unreadable(path: string, error: unknown): CliError {
  const reason = errorCode(error) === 'ENOENT' ? 'there is no such file' : errorCode(error) || String(error);
  return usageError(`Cannot read ${path}: ${reason}.`, 'check the path.');
}
