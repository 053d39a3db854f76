// Imports that are killed at any moment, their server too, and run again by the same command until they are done.
import { join } from 'node:path';
import { type Random, randomNumbers } from '../../support/random.ts';
import type { Node } from '../service.ts';
import { COMPANIES, type Kind, writeRows } from './files.ts';
import { faultsOf, type Place } from './outcome.ts';
import { type Ended, startImport } from './run.ts';

const KILLS_MAX = 8;
const SERVER_KILLS = 0.4;
const DOWN_MS_MAX = 1_500;
const TRIES_MAX = 30;
// As an import says that it can be gone on with.
const GOES_ON = /run .*again|run crm import .* to continue/i;

export interface KilledImport {
  node: Node;
  key: string;
  /** An empty folder. */
  folder: string;
  kind: Kind;
  rows: number;
  /** A kill comes within so many milliseconds. */
  killMsMax: number;
  seed: number;
}

export interface Told {
  kills: number;
  serverKills: number;
  faults: string[];
}

/** Runs one import to its end, however often it is killed, and tells what is wrong then. */
export async function killImport(trial: KilledImport): Promise<Told> {
  const { node, key, folder, kind, rows, seed } = trial;
  const random = randomNumbers(seed);
  const place: Place = { url: node.url, key };
  if (kind.resource === 'deals') await createCompanies(place);
  await writeRows(join(folder, kind.name), kind, rows);
  const told: Told = { kills: 0, serverKills: 0, faults: [] };
  const args = ['import', kind.resource, kind.name, ...kind.args];
  const start = () => startImport(args, { ...place, folder });
  const kills = 1 + Math.floor(random() * KILLS_MAX);
  let last: Ended | undefined;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const running = start();
    const isLast = told.kills >= kills;
    const troubles = random() < SERVER_KILLS ? killServer(trial, random, told) : Promise.resolve();
    if (!isLast) await Promise.race([Bun.sleep(random() * trial.killMsMax), running.ended]);
    if (!isLast) running.kill();
    last = await running.ended;
    await troubles;
    if (last.code === null) told.kills += 1;
    else if (last.code !== 1 || !GOES_ON.test(last.said)) break;
  }
  const isAnyRejected = Array.from({ length: rows }, (_, index) => index).some(
    (at) => kind.row(at).stored === null,
  );
  const code = isAnyRejected ? 3 : 0;
  told.faults.push(...ending(last, code, 'the last run'));
  const again = await start().ended;
  told.faults.push(...ending(again, code, 'one run more'));
  if (!kind.again.test(again.said)) told.faults.push(`one run more said: ${again.said}`);
  told.faults.push(...(await faultsOf(place, kind, join(folder, kind.name), rows)));
  return told;
}

function ending(ended: Ended | undefined, code: number, what: string): string[] {
  return ended?.code === code ? [] : [`${what} ended with ${ended?.code}, not ${code}: ${ended?.said}`];
}

async function killServer({ node, killMsMax }: KilledImport, random: Random, told: Told): Promise<void> {
  await Bun.sleep(random() * killMsMax);
  await node.kill();
  await Bun.sleep(random() * DOWN_MS_MAX);
  await node.start();
  told.serverKills += 1;
}

async function createCompanies({ url, key }: Place): Promise<void> {
  const all = Array.from({ length: COMPANIES }, (_, index) => ({ name: `Company ${index}` }));
  for (let at = 0; at < COMPANIES; at += 50) {
    const init = {
      method: 'POST',
      headers: { 'X-Service-Api-Key': key },
      body: JSON.stringify(all.slice(at, at + 50)),
    };
    const response = await fetch(`${url}/api/v2/companies/batch`, init);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
}
