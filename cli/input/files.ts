// The files of commands: inputs by path, or standard input for `-`, and temporary folders.
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError, EXIT, systemFault } from '../errors.ts';

/** What messages call an input: its path, or `standard input` for `-`. */
export function inputName(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The bytes of a file, or of standard input for `-`, piece by piece. */
export async function* inputChunks(path: string): AsyncGenerator<Uint8Array> {
  if (path === '-') yield* process.stdin as AsyncIterable<Uint8Array>;
  else yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

/** The whole text of a file, or of standard input for `-`; it must be UTF-8. */
export async function readInputText(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await (path === '-' ? Bun.stdin : Bun.file(path)).bytes();
  } catch (cause) {
    throw unreadable(path, cause, EXIT.usage);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError(`${inputName(path)} is not UTF-8 text.`, { nextSteps: ['save it as UTF-8.'], cause });
  }
}

/** The error for an input that cannot be read. */
export function unreadable(path: string, cause: unknown, exitCode: number = EXIT.failed): CliError {
  const nextSteps = ['check the path.'];
  return new CliError(`Cannot read ${inputName(path)}: ${systemFault(cause)}.`, {
    exitCode,
    nextSteps,
    cause,
  });
}

/** Runs work with a temporary folder, which is removed afterwards, even after Ctrl-C. */
export async function withTemporaryFolder<T>(
  prefix: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  // Registered at once, before the process can end.
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Ctrl-C ends the process without coming back here.
  process.once('exit', remove);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
