// Writes the profile file and the keys beside it, readable only by their owner.
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, systemFault } from '../errors.ts';
import { kindAt, replaceFile, writeAt } from '../files/private-file.ts';
import { type ProfileFile, settingsFolder } from '../settings/profile.ts';
import { jsonText } from '../terminal/output.ts';

/** Where the key of a profile is stored, and how the profile names that file. */
export function keyFileOf(name: string): { path: string; named: string } {
  const named = `${name}.key`;
  return { path: join(settingsFolder(), named), named };
}

/** Stores a key in a file that only the user can read. */
export function writeKey(path: string, key: string): void {
  writePrivately(path, `${key}\n`);
}

/** Removes a stored key, if it is there. */
export function removeKey(path: string): boolean {
  if (kindAt(path) !== 'file') return false;
  rmSync(path);
  return true;
}

/** Replaces the profile file. */
export function writeProfileFile({ path, current, profiles }: ProfileFile): void {
  const content = { ...(current !== undefined && { current }), profiles };
  // Some people keep the file elsewhere and link to it.
  const place = kindAt(path) === 'link' ? realpathSync(path) : path;
  writePrivately(place, `${jsonText(content, 2)}\n`);
}

function writePrivately(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replaceFile(path, (descriptor) => writeAt(descriptor, Buffer.from(text), 0));
  } catch (cause) {
    throw new CliError(`Cannot write ${path}: ${systemFault(cause)}.`, {
      nextSteps: ['make the folder writable, or set XDG_CONFIG_HOME to another one.'],
      cause,
    });
  }
}
