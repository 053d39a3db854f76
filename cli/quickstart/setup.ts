// Makes the throw-away database of quickstart: organization, users and keys.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { Db } from '../../db/engine/schema.ts';
import type { NewKey } from '../../db/tables/keys.ts';
import { withStore } from '../database/database.ts';
import { CliError, errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { note } from '../terminal/streams.ts';
import { DEMO_ORGANIZATION } from './data/demo-data.ts';
import type { DemoUser, Ids } from './data/types.ts';

/** Where the demo database is. */
export interface DemoPlace {
  /** Path of a file, or address of a database that may be in use for something else. */
  db: string;
  /** The same without a password. */
  shown: string;
  /** Whether nobody has it but the demo, to be removed when that is over. */
  isThrowAway: boolean;
  /** Where the export goes. */
  folder: string;
  /** Whether the folder was made for it. */
  isFolderOurs: boolean;
}

export interface DemoDatabase extends DemoPlace {
  organization: { id: string; name: string; number: number };
  keys: { v1: string; v2: string; loader: string };
}

const LOADER_KEY_HOURS = 1;

/** Where the demo database goes: the address or path given, where a file must be new, or a fresh temporary folder. */
export async function chooseDemoPlace(given: string | undefined): Promise<DemoPlace> {
  if (given === undefined) {
    const folder = makeFolder();
    const db = join(folder, 'crm.db');
    return { db, shown: db, isThrowAway: true, folder, isFolderOurs: true };
  }
  if (isDatabaseAddress(given)) {
    const { databaseLabel } = await import('../../db/store.ts');
    const shown = databaseLabel(given);
    return { db: given, shown, isThrowAway: false, folder: makeFolder(), isFolderOurs: true };
  }
  const db = resolve(given);
  const size = statSync(db, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { db, shown: db, isThrowAway: false, folder: dirname(db), isFolderOurs: false };
  throw usageError(
    `${db} exists already, and quickstart fills a database of its own.`,
    'name a new file in --db, or leave --db out for a temporary one.',
  );
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'crm-quickstart-'));
  } catch (cause) {
    throw new CliError(
      `Cannot make a folder in ${tmpdir()}: ${systemFault(cause, { ENOENT: 'there is no such folder' })}.`,
      {
        nextSteps: ['name another place for temporary files in TMPDIR, or a new database file in --db.'],
        cause,
      },
    );
  }
}

// Windows lets go of a file some time after it was closed, with one error or another till then.
const REMOVALS_MAX = 5;
const REMOVAL_PAUSE_MS = 200;

/** Removes the folder that was made for a demo database; one that stays is named, and nothing fails for that. */
export async function removeDemoPlace({ folder, isFolderOurs }: DemoPlace): Promise<void> {
  for (let tries = 1; isFolderOurs; tries += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const why = errorCode(error) || messageOf(error);
      if (tries === REMOVALS_MAX)
        return note(`crm: warning: the folder ${folder} could not be removed (${why}); remove it yourself.`);
    }
    await sleep(REMOVAL_PAUSE_MS);
  }
}

/** Creates the database with the demo organization, its users (whose ids go into `ids`) and three keys. */
export async function createDatabase(
  place: DemoPlace,
  users: readonly DemoUser[],
  ids: Ids,
): Promise<DemoDatabase> {
  const { createOrganization, createUser, findOrganization } = await import('../../db/tables/accounts.ts');
  const now = Date.now();
  const fill = async (trx: Db): Promise<DemoDatabase> => {
    let name = DEMO_ORGANIZATION;
    for (let count = 2; (await findOrganization(trx, name)) !== undefined; count += 1)
      name = `${DEMO_ORGANIZATION} ${count}`;
    const organization = await createOrganization(trx, name, now);
    const { number: orgNumber } = organization;
    for (const { key, email, name } of users) {
      ids.set(key, (await createUser(trx, { orgNumber, email, name, now })).id);
    }
    return { ...place, organization, keys: await issueKeys(trx, orgNumber, now) };
  };
  return withStore(place.db, (store) => store.write('accounts', fill), { create: true });
}

// The import has a key of its own, without the right to delete, that soon expires: so the 200 requests a minute
// of the newcomer's key are left to the newcomer.
async function issueKeys(trx: Db, orgNumber: number, now: number): Promise<DemoDatabase['keys']> {
  const { issueKey } = await import('../../db/tables/keys.ts');
  const { V2_SCOPES } = await import('../../db/model/resources/registry.ts');
  const issue = async (options: Pick<NewKey, 'api' | 'name' | 'scopes' | 'expiresAt'>): Promise<string> => {
    const issued = await issueKey(trx, { ...options, orgNumber, access: 'organization', userId: null, now });
    return issued.key;
  };
  const loaderScopes = V2_SCOPES.filter((scope) => !scope.endsWith(':delete'));
  const loaderExpiresAt = now + LOADER_KEY_HOURS * 3_600_000;
  return {
    v1: await issue({ api: 'v1', name: 'quickstart v1', scopes: ['ALL'], expiresAt: null }),
    v2: await issue({ api: 'v2', name: 'quickstart', scopes: V2_SCOPES, expiresAt: null }),
    loader: await issue({
      api: 'v2',
      name: 'quickstart import',
      scopes: loaderScopes,
      expiresAt: loaderExpiresAt,
    }),
  };
}
