// Carries out `crm restore`: a verified backup replaces the database, which is kept.
import { copyFileSync, existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { ReturnedPerson, Tombstones } from '../../db/people/tombstones.ts';
import { recordAction } from '../database/audit.ts';
import { databaseError, lockDatabase } from '../database/database.ts';
import {
  isSameFile,
  newPartialFile,
  postgresToolsError,
  rowsOf,
  withProgress,
} from '../database/partial-backup.ts';
import { CliError, errorCode, messageOf, usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/private-file.ts';
import { shellWord } from '../terminal/text.ts';

/** The result, as it is printed. */
export interface RestoreSummary {
  db: string;
  /** Null if the file does not say when it was made. */
  taken_at: string | null;
  rows: number | null;
  /** Where the previous database is now. */
  kept_as: string | null;
  /** People whom the previous database had erased since the backup. */
  returned: ReturnedPerson[];
  seconds: number;
}

/** Replaces a database that is not served with a backup, after verifying it. */
export async function restore(
  db: string,
  file: string,
  { confirm, quiet }: { confirm: boolean; quiet: boolean },
): Promise<RestoreSummary> {
  if (isDatabaseAddress(db)) throw await postgresToolsError(db, 'pg_restore --clean --if-exists FILE -d');
  await refuseSource(db, file);
  if (!confirm) {
    const effect = existsSync(db)
      ? 'would replace its content (the previous file is kept)'
      : 'would create it';
    throw usageError(`Restoring ${file} to ${db} ${effect}.`, 'add --confirm to do it.');
  }
  const unlock = await lockDatabase(db, 'crm restore', 'lockPlace');
  try {
    const startedAt = performance.now();
    // Next to the file itself, which may be on another disk than a link to it.
    const place = kindAt(db) === 'link' && existsSync(db) ? realpathSync(db) : db;
    const part = newPartialFile(place);
    const { checkBackup } = await import('../../db/copy/backup.ts');
    const { replaceDatabase } = await import('../../db/maintenance.ts');
    const former = await tombstonesIn(place);
    const { note, keptAs, returned } = await withProgress(quiet, part, async (work) => {
      copyFileSync(file, part);
      const found = await checkBackup(part, work, file).catch(async (error: unknown) => {
        throw await sourceError(file, part, error);
      });
      const back = await makeOrdinary(
        part,
        { taken_at: found?.taken_at ?? null, file: resolve(file) },
        former,
      );
      return { note: found, keptAs: replaceDatabase(place, part), returned: back };
    }).catch(async (error: unknown) => {
      throw await databaseError(place, error);
    });
    syncFolderOf(place);
    return {
      db,
      taken_at: note?.taken_at ?? null,
      rows: note && rowsOf(note),
      kept_as: keptAs,
      returned,
      seconds: Math.round(performance.now() - startedAt) / 1_000,
    };
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
  const { assertRestorable } = await import('../../db/maintenance.ts');
  try {
    assertRestorable(file);
  } catch (error) {
    throw await sourceError(file, file, error);
  }
  const log = `${file}-wal`;
  if (!existsSync(log) || statSync(log).size === 0) return;
  throw usageError(
    `${file} is in use or was not closed: part of its content is in ${log}.`,
    `make a backup of it first: crm backup NEWFILE --db ${shellWord(file)}`,
  );
}

// A fault of the copy is a fault of the given file.
async function sourceError(file: string, part: string, error: unknown): Promise<unknown> {
  const explained = await databaseError(part, error);
  if (!(explained instanceof CliError)) return explained;
  const { damaged } = await import('../../db/maintenance.ts');
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
): Promise<ReturnedPerson[]> {
  const { openStore } = await import('../../db/store.ts');
  const { removeBackupNote } = await import('../../db/tables/backup-note.ts');
  const { recordBackup } = await import('../../db/tables/last-backup.ts');
  const { copyTombstones } = await import('../../db/people/tombstones.ts');
  const store = await openStore(part, { create: false });
  try {
    return await store.write('accounts', async (trx) => {
      await removeBackupNote(trx);
      if (taken_at !== null) await recordBackup(trx, { taken_at, file });
      const details = { taken_at, file };
      await recordAction(trx, { action: 'backup.restored', orgNumber: null, target: null, details });
      return former === null ? [] : copyTombstones(trx, former);
    });
  } finally {
    await store.close();
  }
}

// The people whom the previous database has erased; none if it cannot be read.
async function tombstonesIn(place: string): Promise<Tombstones | null> {
  if (!existsSync(place)) return null;
  const { openSnapshot } = await import('../../db/store.ts');
  const { findTombstones } = await import('../../db/people/tombstones.ts');
  try {
    const snapshot = await openSnapshot(place);
    try {
      return await findTombstones(snapshot.read);
    } finally {
      await snapshot.close();
    }
  } catch {
    return null;
  }
}
