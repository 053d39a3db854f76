// The flags of `crm serve` for scheduled backups.
import { type Command, InvalidArgumentError } from 'commander';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { usageError } from '../errors.ts';
import { durationMs } from '../settings/options.ts';
import { type KeepRule, keepRules } from './retention.ts';
import type { BackupPlan } from './schedule.ts';

export interface ScheduleFlags {
  backupEvery?: number;
  backupDir?: string;
  keep?: KeepRule[];
}

const MINUTE_MS = 60_000;
const KEEP = '24h=15m,30d=1d';

/** Adds the flags to `crm serve`. */
export function addBackupFlags(serve: Command): void {
  serve
    .option(
      '--backup-every <time>',
      'Make a backup at this interval, such as 15m or 6h, in --backup-dir',
      interval,
    )
    .option('--backup-dir <folder>', 'Folder for scheduled backups')
    .option(
      '--keep <rules>',
      `Which scheduled backups to keep (default: ${KEEP}, one per 15 minutes for a day, then one per day)`,
      rules,
    );
}

/** The schedule that the flags set; null without them. */
export function backupPlan(flags: ScheduleFlags, db: string): BackupPlan | null {
  const { backupEvery: every, backupDir: folder, keep = rules(KEEP) } = flags;
  if (every === undefined && folder === undefined) return null;
  if (every === undefined || folder === undefined) {
    throw usageError(
      '--backup-every and --backup-dir must be used together.',
      'set both: how often, and where.',
    );
  }
  if (isDatabaseAddress(db)) {
    throw usageError(
      '--backup-every works with a database file only.',
      'remove --backup-every, and back up PostgreSQL with pg_dump or WAL archiving.',
    );
  }
  return { db, folder, every, keep };
}

function interval(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < MINUTE_MS)
    throw new InvalidArgumentError('Use an interval of 1m or more, like 15m, 6h or 1d.');
  return ms;
}

function rules(text: string): KeepRule[] {
  const found = keepRules(text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(
    `Use ages and intervals, like ${KEEP}: one per 15 minutes for 24 hours, then one per day for 30 days.`,
  );
}
