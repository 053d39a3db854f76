// A large database in a file, with all that asking it needs: kept in a folder from one run to the next.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../servers.ts';
import type { EngineReport } from './report.ts';
import type { Samples } from './samples.ts';
import { countsAt } from './world.ts';

/** A database, and how it was filled in; `sizes` are empty until a server has done its part. */
export interface Filled extends Pick<EngineReport, 'seedSeconds' | 'filled' | 'sizesBefore' | 'sizes'> {
  build: Build;
  /** A key of one user. */
  userKey: string;
  samples: Samples;
}

const FILE = 'kept.json';

/** The database that was kept in a folder, for a binary to serve; null if there is none. */
export async function readKept(
  folder: string,
  { binary, scale }: { binary: string; scale: number },
): Promise<Filled | null> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return null;
  const kept = (await Bun.file(path).json()) as Filled;
  const { contacts } = kept.samples.counts;
  if (contacts !== countsAt(scale).contacts)
    throw new Error(`${folder} has ${contacts.toLocaleString('en')} contacts, which is another --large`);
  return { ...kept, build: placed({ ...kept.build, binary }, join(folder, kept.build.name)) };
}

/** Notes what asking the database of a folder needs. */
export async function writeKept(folder: string, filled: Filled): Promise<void> {
  await Bun.write(join(folder, FILE), JSON.stringify(filled));
}

/** A copy of a database that nobody serves. */
export function copyOf(build: Build, folder: string): Build {
  const copy = placed(build, folder);
  cpSync(build.db, copy.db);
  return copy;
}

function placed(build: Build, folder: string): Build {
  return { ...build, folder, db: join(folder, 'crm.db') };
}
