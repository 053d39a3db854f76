// Finds backups next to the last one, which still contain erased people.
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { LastBackup } from '../../db/tables/last-backup.ts';

export interface KnownBackup {
  file: string;
  /** When it was written, RFC 3339 in UTC. */
  written_at: string;
}

// The names that `serve --backup-dir` uses.
const SCHEDULED = /^crm-\d{8}T\d{6}Z\.db$/;

/** The last backup, those next to it, and databases that restores kept; newest first. */
export function knownBackups(db: string, last: LastBackup | undefined): KnownBackup[] {
  if (isDatabaseAddress(db)) return [];
  const found: string[] = [];
  if (last !== undefined) {
    const name = basename(last.file);
    found.push(
      ...filesIn(
        dirname(last.file),
        (one) =>
          one === name ||
          (one.startsWith(`${name}.`) && /^\d+$/.test(one.slice(name.length + 1))) ||
          (SCHEDULED.test(name) && SCHEDULED.test(one)),
      ),
    );
  }
  const kept = `${basename(db)}.before-`;
  found.push(...filesIn(dirname(resolve(db)), (one) => one.startsWith(kept) && !one.endsWith('-wal')));
  return found
    .map((file) => ({ file, written_at: statSync(file).mtime.toISOString() }))
    .toSorted((a, b) => b.written_at.localeCompare(a.written_at));
}

function filesIn(folder: string, isWanted: (name: string) => boolean): string[] {
  try {
    return readdirSync(folder)
      .filter(isWanted)
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
