// A large database, with all that asking it needs: kept from one run to the next.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Databases } from '../databases.ts';
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
/** The name of a kept database on a server. */
export const KEPT_NAME = 'crm_bench_kept';

/** The database that was kept in a folder, or on a server with its facts in the folder; null if there is none. */
export async function readKept(
  folder: string,
  { binary, scale, databases }: { binary: string; scale: number; databases: Databases | undefined },
): Promise<Filled | null> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return null;
  const kept = (await Bun.file(path).json()) as Filled;
  const { contacts } = kept.samples.counts;
  if (contacts !== countsAt(scale).contacts)
    throw new Error(`${folder} has ${contacts.toLocaleString('en')} contacts, which is another --large`);
  const build = { ...kept.build, binary };
  if (databases !== undefined) return { ...kept, build: { ...build, db: databases.addressOf(KEPT_NAME) } };
  return { ...kept, build: placed(build, join(folder, build.name)) };
}

/** Notes what asking the database of a folder needs; not the address of a server, which may have a password. */
export async function writeKept(folder: string, filled: Filled): Promise<void> {
  await Bun.write(join(folder, FILE), JSON.stringify({ ...filled, build: { ...filled.build, db: '' } }));
}

/** A copy of a database that nobody serves. */
export async function copyOf(build: Build, folder: string, databases: Databases | undefined): Promise<Build> {
  if (databases !== undefined) return { ...build, db: await databases.copy(build.db) };
  const copy = placed(build, folder);
  cpSync(build.db, copy.db);
  return copy;
}

function placed(build: Build, folder: string): Build {
  return { ...build, folder, db: join(folder, 'crm.db') };
}
