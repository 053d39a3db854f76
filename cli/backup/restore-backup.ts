// Carries out `crm restore`: a verified backup replaces the database, which is kept.

import { createReadStream, createWriteStream, existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { checkBackup, removeBackupNote } from '../../db/copy/backup.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import {
  assertRestorable,
  damaged,
  hasLockFile,
  lockPlace,
  removeLockFile,
  replaceDatabase,
} from '../../db/maintenance.ts';
import {
  copyTombstones,
  findTombstones,
  type ReturnedPerson,
  type Tombstones,
} from '../../db/people/tombstones.ts';
import { openStore } from '../../db/store.ts';
import { recordBackup } from '../../db/tables/last-backup.ts';
import { beginChangesEpoch } from '../../db/tables/settings.ts';
import { listAllWebhooks } from '../../db/webhooks/webhooks.ts';
import { recordAction } from '../database/audit.ts';
import { databaseError, databaseFlag, lockDatabase, withSnapshot } from '../database/database.ts';
import {
  isSameFile,
  newPartialFile,
  postgresToolsError,
  rowsOf,
  writePartialFile,
} from '../database/partial-backup.ts';
import { CliError, errorCode, messageOf, usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/private-file.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

export interface RestoreFlags {
  confirm?: boolean;
  quiet?: boolean;
}

// The result, as it is printed.
interface RestoreSummary {
  db: string;
  /** Null if the file does not say when it was made. */
  taken_at: string | null;
  rows: number | null;
  /** Where the previous database is now. */
  kept_as: string | null;
  /** People whom the previous database had erased since the backup. */
  returned: ReturnedPerson[];
  /** How many webhooks are enabled. */
  webhooks: number;
  seconds: number;
}

/** Replaces a database that is not served with a backup, after verifying it. */
export async function runRestore(
  file: string,
  { confirm = false, quiet = false }: RestoreFlags,
  config: Config,
): Promise<void> {
  const summary = await restore(config.db, file, { confirm, quiet });
  await printSummaryJson(config, summary);
  if (quiet) return;
  const { rows, taken_at: takenAt, kept_as: keptAs, returned, webhooks, seconds } = summary;
  const what = rows === null ? 'what it holds' : `${counted(rows, 'row')}, as of ${takenAt}`;
  note(`Restored ${config.db} from ${file} in ${formatDuration(seconds)}: ${what}.`);
  if (keptAs !== null) note(`The previous database is kept as ${keptAs}.`);
  if (rows === null)
    note('The file is intact, but "crm backup" did not write it, so its content cannot be verified.');
  note('API keys that were revoked or rotated since the backup work again. Review them: crm keys list');
  const flag = databaseFlag(config.db);
  if (webhooks > 0) {
    const are = `${counted(webhooks, 'webhook')} ${webhooks === 1 ? 'is' : 'are'} enabled`;
    note(
      `${are}: "crm serve" sends changes to ${webhooks === 1 ? 'it' : 'them'}, even if this database is a copy.`,
    );
  }
  for (const { address, organization } of returned) {
    const words = `${shellWord(address)} --org ${shellWord(organization)}${flag}`;
    note(
      `This person was erased after the backup and is back. To erase again: crm people erase ${words} --confirm`,
    );
  }
  note(`Next: crm serve${flag}`);
}

async function restore(
  db: string,
  file: string,
  { confirm, quiet }: { confirm: boolean; quiet: boolean },
): Promise<RestoreSummary> {
  if (isDatabaseAddress(db)) throw postgresToolsError(db, 'pg_restore --clean --if-exists FILE -d');
  await refuseSource(db, file);
  if (!confirm) {
    const effect = existsSync(db)
      ? 'would replace its content (the previous file is kept)'
      : 'would create it';
    throw usageError(`Restoring ${file} to ${db} ${effect}.`, 'add --confirm to do it.');
  }
  let isLockNew = false;
  const unlock = lockDatabase(db, 'crm restore', (path, holder) => {
    isLockNew = !hasLockFile(path);
    return lockPlace(path, holder);
  });
  try {
    const startedAt = performance.now();
    // Next to the file itself, which may be on another disk than a link to it.
    const place = kindAt(db) === 'link' && existsSync(db) ? realpathSync(db) : db;
    const part = newPartialFile(place);
    const former = await tombstonesIn(place);
    const { backup, keptAs, returned, webhooks } = await writePartialFile(quiet, part, async (work) => {
      // Not as a copy of the file, which would have its mode: the database is private, however the backup was kept.
      await pipeline(createReadStream(file), createWriteStream(part, { flags: 'r+' }));
      const found = await checkBackup(part, work, file).catch((error: unknown) => {
        throw sourceError(file, part, error);
      });
      const back = await makeOrdinary(
        part,
        { taken_at: found?.taken_at ?? null, file: resolve(file) },
        former,
      );
      return { ...back, backup: found, keptAs: replaceDatabase(place, part) };
    }).catch((error: unknown) => {
      throw databaseError(place, error);
    });
    syncFolderOf(place);
    return {
      db,
      taken_at: backup?.taken_at ?? null,
      rows: backup && rowsOf(backup),
      kept_as: keptAs,
      returned,
      webhooks,
      seconds: Math.round(performance.now() - startedAt) / 1_000,
    };
  } catch (error) {
    // Nothing was restored, so nothing stays.
    if (isLockNew) removeLockFile(db);
    throw error;
  } finally {
    unlock();
  }
}

async function refuseSource(db: string, file: string): Promise<void> {
  const kind = existsSync(file) && statSync(file).isFile() ? 'file' : kindAt(file);
  if (kind !== 'file') {
    const fault = kind === 'nothing' ? `File not found: ${file}` : `${file} is not a file.`;
    throw usageError(fault, 'use a file that "crm backup FILE" wrote.');
  }
  if (await isSameFile(db, file)) {
    throw usageError(`${file} is the database itself.`, 'choose a backup of it.');
  }
  try {
    assertRestorable(file);
  } catch (error) {
    throw sourceError(file, file, error);
  }
  const log = `${file}-wal`;
  if (!existsSync(log) || statSync(log).size === 0) return;
  throw usageError(
    `${file} is in use or was not closed: part of its content is in ${log}.`,
    `make a backup of it first: crm backup NEWFILE --db ${shellWord(file)}`,
  );
}

// A fault of the copy is a fault of the given file.
function sourceError(file: string, part: string, error: unknown): unknown {
  const explained = databaseError(part, error);
  if (!(explained instanceof CliError)) return explained;
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(explained.cause)))
    return databaseError(file, damaged(file, [messageOf(explained.cause)]));
  const named = (text: string) => text.replaceAll(realpathSync(part), file).replaceAll(part, file);
  return new CliError(named(explained.message).replace(/^The database /, ''), {
    exitCode: explained.exitCode,
    nextSteps: explained.nextSteps.map(named),
    cause: error,
  });
}

// Upgrades it, marks the backup as its last one, and copies the records of erased people from the previous database.
async function makeOrdinary(
  part: string,
  { taken_at, file }: { taken_at: string | null; file: string },
  former: Tombstones | null,
): Promise<Pick<RestoreSummary, 'returned' | 'webhooks'>> {
  const store = await openStore(part, { create: false });
  try {
    return await store.write('accounts', async (trx) => {
      await removeBackupNote(trx);
      await beginChangesEpoch(trx);
      if (taken_at !== null) await recordBackup(trx, { taken_at, file });
      const details = { taken_at, file };
      await recordAction(trx, { action: 'backup.restored', orgNumber: null, target: null, details });
      const enabled = (await listAllWebhooks(trx)).filter(({ is_enabled }) => is_enabled === 1);
      const returned = former === null ? [] : await copyTombstones(trx, former);
      return { returned, webhooks: enabled.length };
    });
  } finally {
    await store.close();
  }
}

// The people whom the previous database has erased; none if it cannot be read.
async function tombstonesIn(place: string): Promise<Tombstones | null> {
  if (!existsSync(place)) return null;
  try {
    return await withSnapshot(place, findTombstones);
  } catch {
    return null;
  }
}
