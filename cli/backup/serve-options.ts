// The flags of `crm serve` by which it makes backups, and what they ask for.
import { type Command, InvalidArgumentError } from 'commander';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { usageError } from '../errors.ts';
import { durationMs } from '../settings/options.ts';
import { type KeepRule, keepRules } from './retention.ts';
import type { BackupPlan } from './schedule.ts';

export interface BackupFlags {
  backupEvery?: number;
  backupDir?: string;
  keep?: KeepRule[];
}

const MINUTE_MS = 60_000;
const KEEP = '24h=15m,30d=1d';

/** Adds the flags to `crm serve`. */
export function addBackupFlags(serve: Command): void {
  serve
    .option('--backup-every <time>', 'make a backup so often, such as 15m or 6h, into --backup-dir', interval)
    .option('--backup-dir <folder>', 'folder of those backups')
    .option(
      '--keep <rules>',
      `which of them stay (default: ${KEEP}, one of each quarter of an hour for a day, then one a day)`,
      rules,
    );
}

/** What the flags ask for; null where they ask for nothing. */
export function backupPlan(flags: BackupFlags, db: string): BackupPlan | null {
  const { backupEvery: every, backupDir: folder, keep = rules(KEEP) } = flags;
  if (every === undefined && folder === undefined) return null;
  if (every === undefined || folder === undefined) {
    throw usageError('--backup-every and --backup-dir go together.', 'give both: how often, and where to.');
  }
  if (isDatabaseAddress(db)) {
    throw usageError(
      'Backups of PostgreSQL are made by its own tools.',
      'leave --backup-every out, and see the operators’ page: pg_dump, or an archive of its log.',
    );
  }
  return { db, folder, every, keep };
}

function interval(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < MINUTE_MS)
    throw new InvalidArgumentError('Give a time from 1m on, like 15m, 6h or 1d.');
  return ms;
}

function rules(text: string): KeepRule[] {
  const found = keepRules(text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(
    `Give ages and intervals, like ${KEEP}: for 24 hours one each 15 minutes, and so on.`,
  );
}
