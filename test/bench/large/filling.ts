// Fills databases, and waits until a server has filled in what it derives from their records.
import { join } from 'node:path';
import { cpuMicros } from '../process.ts';
import { type Build, killedWithServers, serveBuild } from '../servers.ts';
import type { Asked } from './answers.ts';
import { Inside } from './inside.ts';
import type { FilledPart } from './report.ts';
import type { Samples } from './samples.ts';
import type { Counts } from './world.ts';

const SEED = join(import.meta.dir, 'seed.ts');
const POLL_MS = 100;
const MICROS_PER_SECOND = 1_000_000;

/** Writes records into the empty database of a build, in a process of its own. @param kinds all of them unless given */
export async function seedBuild(
  { db }: Build,
  scale: number,
  kinds: readonly (keyof Counts)[] = [],
): Promise<Samples> {
  const child = Bun.spawn([process.execPath, SEED, String(scale), ...kinds], {
    env: { ...process.env, CRM_DB: db },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = killedWithServers(child);
  const [said, code] = await Promise.all([child.stdout.text(), child.exited]);
  ended();
  if (code !== 0) throw new Error(`${SEED} ended with ${code}`);
  return JSON.parse(said) as Samples;
}

/** Serves a build with what is needed to ask it. */
export async function serveAsked(
  build: Build,
  { userKey, databaseCpu }: Pick<Asked, 'userKey' | 'databaseCpu'>,
): Promise<Asked> {
  return { ...(await serveBuild(build)), userKey, databaseCpu };
}

/**
 * Waits until a server has filled in everything; tells how long each part took.
 * @param unfilled what was not filled in before the server started, which begins with it at once
 */
export async function waitUntilFilled(
  { pid, databaseCpu }: Asked,
  inside: Inside,
  unfilled: readonly string[],
): Promise<FilledPart[]> {
  const look = () => ({ at: performance.now(), own: cpuMicros(pid), database: databaseCpu?.() });
  const parts: FilledPart[] = [];
  let left = unfilled;
  let before = look();
  while (left.length > 0) {
    await Bun.sleep(POLL_MS);
    const still = await inside.unfilled();
    for (const name of left.filter((one) => !still.includes(one))) {
      const now = look();
      const isTold = now.database !== undefined && before.database !== undefined;
      parts.push({
        name,
        seconds: (now.at - before.at) / 1_000,
        cpuSeconds: (now.own - before.own) / MICROS_PER_SECOND,
        databaseCpuSeconds: isTold
          ? ((now.database ?? 0) - (before.database ?? 0)) / MICROS_PER_SECOND
          : null,
      });
      before = now;
    }
    left = still;
  }
  return parts;
}

/** Bytes of the search index in a new database with these kinds of records alone, and how many contacts those would be. */
export async function searchBytesOf(
  build: Build,
  scale: number,
  kinds: readonly (keyof Counts)[],
): Promise<{ bytes: number; contacts: number }> {
  const { counts } = await seedBuild(build, scale, kinds);
  await using inside = new Inside(build.db);
  const unfilled = await inside.unfilled();
  const server = await serveAsked(build, { userKey: '', databaseCpu: undefined });
  try {
    await waitUntilFilled(server, inside, unfilled);
    const sizes = await inside.sizes();
    const ofSearch = sizes.filter(({ name }) => name.startsWith('search_'));
    return { bytes: ofSearch.reduce((sum, { bytes }) => sum + bytes, 0), contacts: counts.contacts };
  } finally {
    await server.stop();
  }
}
