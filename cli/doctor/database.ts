// Checks the database that operator commands work on, of either engine.

import { existsSync, readFileSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { Db } from '../../db/engine/schema.ts';
import { examineFile, examineServer, readOnlyReason, type ServerFacts } from '../../db/maintenance.ts';
import { databaseLabel } from '../../db/store.ts';
import { findLastBackup } from '../../db/tables/last-backup.ts';
import { databaseError, databaseFlag, withSnapshot } from '../database/database.ts';
import { CliError } from '../errors.ts';
import { counted, formatBytes } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { checkBackfills } from './backfills.ts';
import { checkChanges } from './changes.ts';
import { checkFileFacts, checkOpenFiles, checkSchema } from './file.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkQuotas } from './quotas.ts';
import { checkSearch } from './search.ts';
import { checkWebhooks } from './webhooks.ts';

/**
 * The findings about the database; a single one if it cannot be opened.
 * @param isNamed whether a setting names it, so that it must exist
 */
export async function checkDatabase(db: string, isNamed: boolean): Promise<Finding[]> {
  if (!isDatabaseAddress(db) && !existsSync(db)) {
    const next = `create one (crm init --org NAME${databaseFlag(db)}), or choose another with --db or CRM_DB.`;
    return [(isNamed ? fail : warn)('database', `no database at ${db}`, next)];
  }
  try {
    const findings = await (isDatabaseAddress(db) ? checkPostgres(db) : checkFile(db));
    const reason = isDatabaseAddress(db) ? null : readOnlyReason(db);
    if (reason !== null) return [checkReadable(db, reason), ...findings];
    return [ok('database', `${databaseLabel(db)} opens`), ...findings];
  } catch (error) {
    const explained = databaseError(db, error);
    if (!(explained instanceof CliError)) throw explained;
    return [fail('database', explained.message.replace(/\.$/, ''), explained.nextSteps.join(' Or: '))];
  }
}

function checkReadable(db: string, reason: string): Finding {
  const next = `make it writable to serve it, or back it up and restore the backup elsewhere: crm backup FILE --db ${shellWord(db)}`;
  return warn('database', `${db} ${reason}: it was opened read-only`, next);
}

async function checkFile(db: string): Promise<Finding[]> {
  const facts = await examineFile(db);
  const isReadable = !facts.isBehind && facts.faults.length === 0;
  const [last, quotas] = isReadable
    ? await withSnapshot(
        db,
        async (read) => [await findLastBackup(read), await checkContent(read, db)] as const,
      )
    : [undefined, []];
  return [...checkFileFacts(db, facts, last), ...quotas, checkOpenFiles(openFilesMax())];
}

async function checkContent(read: Db, db: string): Promise<Finding[]> {
  const quotas = await checkQuotas(read, db);
  const backfills = await checkBackfills(read);
  const search = await checkSearch(read, databaseFlag(db));
  // An index that is being built for some has one line, unless it is wrong for others.
  const isBeingBuilt = search.status === 'ok' && backfills.some(({ check }) => check === search.check);
  return [
    ...quotas,
    await checkChanges(read),
    ...(await checkWebhooks(read, Date.now())),
    ...(isBeingBuilt ? [] : [search]),
    ...backfills,
  ];
}

// Linux has this file; other systems need a shell to find out.
function openFilesMax(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

async function checkPostgres(db: string): Promise<Finding[]> {
  const facts = await examineServer(db);
  const flag = databaseFlag(db);
  return [
    ok('server version', `PostgreSQL ${facts.version}`),
    checkClock(facts),
    checkConnections(facts),
    facts.migrations > 0
      ? checkSchema(facts)
      : warn('schema', 'no tables yet', `create them: crm init --org NAME${flag}`),
    checkStatistics(facts),
    ok('size', formatBytes(facts.bytes)),
    ...(facts.migrations > 0 && !facts.isBehind
      ? await withSnapshot(db, (read) => checkContent(read, db))
      : []),
  ];
}

function checkClock({ clockTrouble }: ServerFacts): Finding {
  if (clockTrouble === null) return ok('clock', 'database and this machine agree');
  return fail(
    'clock',
    clockTrouble.replace(/\.$/, ''),
    'synchronize both clocks with NTP: timedatectl set-ntp true',
  );
}

function checkConnections({ connections, connectionsMax }: ServerFacts): Finding {
  const found = `${counted(connections, 'connection')} of ${connectionsMax}`;
  if (connections + NODE_CONNECTIONS <= connectionsMax) return ok('connections', found);
  const next =
    'raise max_connections, put PgBouncer in front, or use fewer: add ?readers=2&writers=2 to the database URL.';
  return warn('connections', found, next);
}

function checkStatistics({ unanalyzed }: ServerFacts): Finding {
  if (unanalyzed.length === 0) return ok('statistics', 'up to date for every table');
  return warn('statistics', `missing for ${unanalyzed.join(', ')}`, 'run ANALYZE on the database with psql.');
}

// The connections that one more node may open.
const NODE_CONNECTIONS = 14;
