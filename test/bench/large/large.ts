// `bun run bench --large`: a database of a million contacts, what filling it in takes, and how long answers take then.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Databases } from '../databases.ts';
import type { Options } from '../options.ts';
import { thisMachine } from '../report.ts';
import { findBinary } from '../servers.ts';
import { measureEngine } from './engine.ts';
import { QUESTIONS } from './questions.ts';
import type { EngineReport, LargeReport } from './report.ts';
import { countsAt } from './world.ts';

/** What `--only` may name: engines, and questions. */
const ENGINES = ['crm', 'crm-postgres'] as const satisfies readonly EngineReport['engine'][];
const NAMES = QUESTIONS.map(({ name }) => name);

/** Runs it on a file in an empty folder, and in databases of a server if there is one. */
export async function measureLarge(
  { large = 1, seconds, rounds, requests, only, postgres, keep, pocketbase }: Options,
  folder: string,
  databases: Databases | undefined,
): Promise<LargeReport> {
  const known: readonly string[] = [...ENGINES, ...NAMES];
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${known.join(', ')}`);
  const asked = ENGINES.filter((name) => only.includes(name));
  const report: LargeReport = {
    ...{ madeAt: new Date().toISOString(), machine: thisMachine() },
    postgres: (await databases?.describe()) ?? null,
    ...{ scale: large, counts: countsAt(large), engines: [] },
  };
  const databaseCpu = await databases?.clock();
  for (const engine of asked.length === 0 ? ENGINES : asked) {
    if (engine === 'crm-postgres' && (postgres === undefined || pocketbase !== undefined)) continue;
    const isServer = engine === 'crm-postgres';
    const own = join(folder, `large-${engine}`);
    mkdirSync(own);
    const found = await measureEngine({
      ...{ engine, binary: findBinary(), scale: large, seconds, rounds, requests, folder: own },
      keep: keep === undefined ? undefined : join(keep, engine),
      pocketbase,
      only: only.filter((name) => NAMES.includes(name)),
      databases: isServer ? databases : undefined,
      databaseCpu: isServer ? databaseCpu : undefined,
      print: (lines) => console.log(lines.join('\n')),
    });
    report.engines.push(found);
  }
  return report;
}
