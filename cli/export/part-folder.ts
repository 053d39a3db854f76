// The folder beside the one to be, in which `crm export all` gathers its files until they are all there.
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/private-file.ts';
import { MANIFEST_NAME, type Manifest } from './manifest.ts';
import { writeError } from './spool.ts';

/** The folder itself, its links followed; a usage error where an export cannot take its place. */
export function targetFolder(out: string): string {
  if (kindAt(out) === 'nothing') return resolve(out);
  const target = realpathSync(out);
  const stats = statSync(target);
  if (!stats.isDirectory()) throw usageError(`${out} is no folder.`, 'name a new one in --out.');
  if (readdirSync(target).length > 0) {
    throw usageError(
      `${out} is not empty.`,
      'name a new folder in --out; what is in this one stays as it is.',
    );
  }
  // Neither can be replaced by another folder.
  if (target === process.cwd() || stats.dev !== statSync(dirname(target)).dev) {
    throw usageError(
      `${out} itself cannot be replaced.`,
      `name a folder in it: --out ${join(out, 'export')}`,
    );
  }
  return target;
}

/** Makes the folder for the parts, or finds the one that an interrupted export has left. */
export function openPartialFolder(target: string, isResumed: boolean): string {
  const part = `${target}.crm-part`;
  try {
    const names = kindAt(part) === 'folder' ? readdirSync(part) : [];
    if (!isResumed && names.length > 0) {
      const strange = names.find((name) => !/^[a-z]+\.(?:ndjson|csv|json)\b/.test(name));
      if (strange !== undefined) {
        throw usageError(
          `${part} holds ${strange}, which is no part of an export.`,
          'move that folder away.',
        );
      }
      rmSync(part, { recursive: true });
    }
    mkdirSync(dirname(part), { recursive: true });
    if (kindAt(part) !== 'folder') mkdirSync(part, { mode: 0o700 });
    return part;
  } catch (error) {
    throw writeError(part, error);
  }
}

/** Gives the folder its name, once nothing is in it but what its manifest names. */
export function finishPartialFolder(part: string, target: string, { files }: Manifest): void {
  const kept = new Set([MANIFEST_NAME, ...files.map(({ name }) => name)]);
  try {
    for (const name of readdirSync(part)) if (!kept.has(name)) rmSync(join(part, name));
    syncFolderOf(join(part, MANIFEST_NAME));
    renameSync(part, target);
    syncFolderOf(target);
  } catch (error) {
    throw writeError(target, error);
  }
}
