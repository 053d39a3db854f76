// The temporary folder in which `crm export all` collects its files until they are complete.
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/private-file.ts';
import { MANIFEST_NAME, type Manifest } from './manifest.ts';
import { writeError } from './spool.ts';

/** The real path of the folder; throws a usage error if an export cannot replace it. */
export function targetFolder(out: string): string {
  if (kindAt(out) === 'nothing') return resolve(out);
  const target = realpathSync(out);
  const stats = statSync(target);
  if (!stats.isDirectory()) throw usageError(`${out} is not a folder.`, 'set --out to a new folder.');
  if (readdirSync(target).length > 0) {
    throw usageError(`${out} is not empty.`, 'set --out to a new folder. This one is not changed.');
  }
  // Neither can be replaced by another folder.
  if (target === process.cwd() || stats.dev !== statSync(dirname(target)).dev) {
    throw usageError(
      `${out} itself cannot be replaced.`,
      `use a folder inside it: --out ${join(out, 'export')}`,
    );
  }
  return target;
}

/** Creates the folder for the parts, or finds the one that an interrupted export left. */
export function openPartialFolder(target: string, isResumed: boolean): string {
  const part = `${target}.crm-part`;
  try {
    const names = kindAt(part) === 'folder' ? readdirSync(part) : [];
    if (!isResumed && names.length > 0) {
      const strange = names.find((name) => !/^[a-z]+\.(?:ndjson|csv|json)\b/.test(name));
      if (strange !== undefined) {
        throw usageError(
          `${part} contains ${strange}, which is not part of an export.`,
          'move this folder away.',
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

/** Gives the folder its final name, after removing everything that its manifest does not list. */
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
