// Creates the temporary database of quickstart: organization, users and keys.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization, createUser, findOrganization } from '../../db/accounts/accounts.ts';
import { issueKey, type NewKey } from '../../db/accounts/keys.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { Trx } from '../../db/engine/schema.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { databaseLabel } from '../../db/store.ts';
import { withStore } from '../database/database.ts';
import { CliError, errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { note } from '../terminal/streams.ts';
import { DEMO_ORGANIZATION } from './data/demo-data.ts';
import type { DemoUser, Ids } from './data/types.ts';

/** Where the demo database is. */
export interface DemoPlace {
  /** Path of a file, or database URL of a database that may be in use for something else. */
  db: string;
  /** The same without a password. */
  shown: string;
  /** Whether only the demo uses it, so that it is removed at the end. */
  isThrowAway: boolean;
  /** Path of the export. */
  folder: string;
  /** Whether the folder was created for the demo. */
  isFolderOurs: boolean;
}

export interface DemoDatabase extends DemoPlace {
  organization: { id: string; name: string; number: number };
  keys: { v1: string; v2: string; loader: string };
}

const LOADER_KEY_HOURS = 1;

/** Where the demo database is created: at the given URL or new path, or in a temporary folder. */
export function chooseDemoPlace(given: string | undefined): DemoPlace {
  if (given === undefined) {
    const folder = makeFolder();
    const db = join(folder, 'crm.db');
    return { db, shown: db, isThrowAway: true, folder, isFolderOurs: true };
  }
  if (isDatabaseAddress(given)) {
    const shown = databaseLabel(given);
    return { db: given, shown, isThrowAway: false, folder: makeFolder(), isFolderOurs: true };
  }
  const db = resolve(given);
  const size = statSync(db, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { db, shown: db, isThrowAway: false, folder: dirname(db), isFolderOurs: false };
  throw usageError(
    `${db} already exists, and quickstart needs a new database.`,
    'set --db to a new file, or remove --db to use a temporary database.',
  );
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'crm-quickstart-'));
  } catch (cause) {
    throw new CliError(
      `Cannot create a folder in ${tmpdir()}: ${systemFault(cause, { ENOENT: 'no such folder' })}.`,
      {
        nextSteps: ['set TMPDIR to another folder for temporary files, or --db to a new database file.'],
        cause,
      },
    );
  }
}

// Windows releases a closed file after a while, with various errors until then.
const REMOVALS_MAX = 5;
const REMOVAL_PAUSE_MS = 200;

/** Removes the folder of a demo database; prints a warning if that fails. */
export async function removeDemoPlace({ folder, isFolderOurs }: DemoPlace): Promise<void> {
  for (let tries = 1; isFolderOurs; tries += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const why = errorCode(error) || messageOf(error);
      if (tries === REMOVALS_MAX)
        return note(`crm: warning: could not remove the folder ${folder} (${why}). Remove it yourself.`);
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
  const now = Date.now();
  const fill = async (trx: Trx): Promise<DemoDatabase> => {
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

// The import has a separate key that expires soon and cannot delete, so that the newcomer's key keeps its 200 requests per
// minute.
async function issueKeys(trx: Trx, orgNumber: number, now: number): Promise<DemoDatabase['keys']> {
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
