// Temporary names for unfinished files, by which a later run finds what a killed run left.
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../errors.ts';

/** A temporary name next to a file, for the content that will replace it. */
export function partialName(file: string, kind: 'crm-part' | 'crm-new'): string {
  return `${file}.${process.pid}.${kind}`;
}

/**
 * Removes such files of killed runs, with SQLite's files next to them; keeps those of running commands.
 * @param names a regular expression, by default the file's own name
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

// In a container, every run may have the same process ID as the killed one.
function isRunningElse(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
