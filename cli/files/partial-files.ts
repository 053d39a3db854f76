// What is not whole yet has a name of its own, by which a later run knows what one that was killed has left.
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../errors.ts';

/** The name, beside a file, of what is to take its place. */
export function partialName(file: string, kind: 'crm-part' | 'crm-new'): string {
  return `${file}.${process.pid}.${kind}`;
}

/**
 * Removes such files of runs that were killed, and SQLite's files beside them; those of runs that are under way stay.
 * @param names the file's own name unless given, as a regular expression
 */
export function removePartialFiles(
  file: string,
  kind: 'crm-part' | 'crm-new',
  names = RegExp.escape(basename(file)),
): void {
  const folder = dirname(resolve(file));
  const parts = new RegExp(`^(?:${names})\\.(\\d+)\\.${kind}(?:-\\w+)?$`);
  for (const there of readdirSync(folder)) {
    const pid = parts.exec(there)?.[1];
    if (pid !== undefined && !isRunningElse(Number(pid))) rmSync(join(folder, there), { force: true });
  }
}

// In a container every run may have the same id as the one that was killed.
function isRunningElse(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
