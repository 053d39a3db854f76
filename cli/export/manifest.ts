// `export.json`: what an exported folder holds, when it was made, and the digests by which it is known to be whole.
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
  /** Version of this form. */
  crm_export: 1;
  server: string;
  began_at: string;
  ended_at: string;
  files: ManifestFile[];
}

/** Says of a folder that it is whole; to be written last. */
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

/** What a folder says that it holds; a CliError where it does not say that it is whole. */
export function readManifest(folder: string): Manifest {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST_NAME), 'utf8'));
  } catch (cause) {
    throw incompleteExport(`${folder} has no ${MANIFEST_NAME} that says so`, cause);
  }
  if (isManifest(manifest)) return manifest;
  throw incompleteExport(`its ${MANIFEST_NAME} is of another form`);
}

/** The error for a folder that is not as `crm export all` left it. */
export function incompleteExport(why: string, cause?: unknown): CliError {
  return new CliError(`This is no whole export: ${why}.`, {
    nextSteps: [
      'name the folder that "crm export all --out FOLDER" has finished; an interrupted one goes on with --resume.',
      'files that were changed on purpose can be imported one by one.',
    ],
    cause,
  });
}

function isManifest(value: unknown): value is Manifest {
  return isObject(value) && value.crm_export === 1 && Array.isArray(value.files) && value.files.every(isFile);
}

// Nothing but a plain name: a folder from elsewhere must not lead out of itself.
function isFile(value: unknown): boolean {
  return (
    isObject(value) &&
    /^[a-z]+\.(?:ndjson|csv)$/.test(String(value.name)) &&
    Number.isSafeInteger(value.records) &&
    typeof value.sha256 === 'string'
  );
}
