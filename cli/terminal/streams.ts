// The process's streams: data on stdout, everything else on stderr, questions on a terminal only.
import { CliError, EXIT, errorCode } from '../errors.ts';
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

/** What messages call an input: its path, or `standard input` for `-`. */
export function inputName(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** All bytes of a file, or of standard input for `-`; the error for none ends in that exit code. */
export async function readBytes(path: string, exitCode: number = EXIT.failed): Promise<Uint8Array> {
  try {
    return await (path === '-' ? Bun.stdin : Bun.file(path)).bytes();
  } catch (error) {
    throw unreadable(path, error, exitCode);
  }
}

/** The whole text of a file, or of standard input for `-`; it must be UTF-8. */
export async function readText(path: string): Promise<string> {
  const bytes = await readBytes(path, EXIT.usage);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError(`${inputName(path)} is not UTF-8 text.`, { nextSteps: ['save it as UTF-8.'], cause });
  }
}

/** The error for an input that cannot be read. */
export function unreadable(path: string, cause: unknown, exitCode: number = EXIT.failed): CliError {
  const code = errorCode(cause);
  const reason = code === 'ENOENT' ? 'there is no such file' : code || String(cause);
  const nextSteps = ['check the path.'];
  return new CliError(`Cannot read ${inputName(path)}: ${reason}.`, { exitCode, nextSteps, cause });
}
