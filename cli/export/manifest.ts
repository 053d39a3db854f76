// `export.json`: the content of an exported folder, when it was made, and the digests that prove it is complete.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../db/model/json.ts';
import { CliError } from '../errors.ts';
import { hashFile } from '../files/digest.ts';
import { replaceFile, writeAt } from '../files/private-file.ts';

export const MANIFEST_NAME = 'export.json';

export interface ManifestFile {
  name: string;
  /** Records, or links, in the file. */
  records: number;
  /** Hexadecimal. */
  sha256: string;
}

export interface Manifest {
  /** Version of this format. */
  crm_export: 1;
  server: string;
  began_at: string;
  ended_at: string;
  files: ManifestFile[];
}

/** Marks a folder as complete; write it last. */
export function writeManifest(
  folder: string,
  about: Pick<Manifest, 'server' | 'began_at'>,
  files: readonly Pick<ManifestFile, 'name' | 'records'>[],
): Manifest {
  const manifest: Manifest = {
    crm_export: 1,
    ...about,
    ended_at: new Date().toISOString(),
    files: files.map(({ name, records }) => ({
      ...{ name, records, sha256: hashFile(join(folder, name)).digest('hex') },
    })),
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  replaceFile(join(folder, MANIFEST_NAME), (descriptor) => writeAt(descriptor, bytes, 0));
  return manifest;
}

/** The manifest of a folder; throws a CliError if the folder is not complete. */
export function readManifest(folder: string): Manifest {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST_NAME), 'utf8'));
  } catch (cause) {
    throw incompleteExport(`${folder} has no readable ${MANIFEST_NAME}`, cause);
  }
  if (isManifest(manifest)) return manifest;
  throw incompleteExport(`its ${MANIFEST_NAME} has an unknown format`);
}

/** The error for a folder that differs from what `crm export all` wrote. */
export function incompleteExport(why: string, cause?: unknown): CliError {
  return new CliError(`This is not a complete export: ${why}.`, {
    nextSteps: [
      'use a folder that "crm export all --out FOLDER" completed. Add --resume there to complete an interrupted export.',
      'import the files one by one if you changed them on purpose.',
    ],
    cause,
  });
}

function isManifest(value: unknown): value is Manifest {
  return isObject(value) && value.crm_export === 1 && Array.isArray(value.files) && value.files.every(isFile);
}

// Only a plain name: a manifest must not point outside of its folder.
function isFile(value: unknown): boolean {
  return (
    isObject(value) &&
    /^[a-z]+\.(?:ndjson|csv)$/.test(String(value.name)) &&
    Number.isSafeInteger(value.records) &&
    typeof value.sha256 === 'string'
  );
}
