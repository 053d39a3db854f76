// Looks at the database that operator commands work on, whichever engine it is of.
import { existsSync, readFileSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { ServerFacts } from '../../db/maintenance.ts';
import { databaseError, databaseFlag } from '../database/database.ts';
import { CliError } from '../errors.ts';
import { counted, formatBytes } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { checkFileFacts, checkOpenFiles, checkSchema } from './file.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkQuotas } from './quotas.ts';

/**
 * A finding for each thing about the database; one alone where it cannot be opened.
 * @param isNamed whether it was named, so that it should be there
 */
export async function checkDatabase(db: string, isNamed: boolean): Promise<Finding[]> {
  const { databaseLabel, readOnlyReason } = await import('../../db/store.ts');
  if (!isDatabaseAddress(db) && !existsSync(db)) {
    const next = `make one (crm init --org NAME${await databaseFlag(db)}), or name another with --db or CRM_DB.`;
    return [(isNamed ? fail : warn)('database', `there is none at ${db}`, next)];
  }
  try {
    const findings = await (isDatabaseAddress(db) ? checkPostgres(db) : checkFile(db));
    const reason = isDatabaseAddress(db) ? null : readOnlyReason(db);
    if (reason !== null) return [checkReadable(db, reason), ...findings];
    return [ok('database', `${databaseLabel(db)} can be opened`), ...findings];
  } catch (error) {
    const explained = await databaseError(db, error);
    if (!(explained instanceof CliError)) throw explained;
    return [fail('database', explained.message.replace(/\.$/, ''), explained.nextSteps.join(' Or: '))];
  }
}

function checkReadable(db: string, reason: string): Finding {
  const next = `to serve it, make it writable, or restore a copy of it elsewhere: crm backup FILE --db ${shellWord(db)}`;
  return warn('database', `${db} ${reason}: it was read as it is`, next);
}

async function checkFile(db: string): Promise<Finding[]> {
  const { openSnapshot } = await import('../../db/store.ts');
  const { examineFile } = await import('../../db/maintenance.ts');
  const { findLastBackup } = await import('../../db/tables/last-backup.ts');
  const facts = await examineFile(db);
  const snapshot = facts.isBehind || facts.faults.length > 0 ? null : await openSnapshot(db);
  try {
    const last = snapshot === null ? undefined : await findLastBackup(snapshot.read);
    const quotas = snapshot === null ? [] : await checkQuotas(snapshot.read, db);
    return [...checkFileFacts(db, facts, last), ...quotas, checkOpenFiles(openFilesMax())];
  } finally {
    await snapshot?.close();
  }
}

// Linux tells; elsewhere nobody does without a shell.
function openFilesMax(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

async function checkPostgres(db: string): Promise<Finding[]> {
  const { examineServer } = await import('../../db/maintenance.ts');
  const facts = await examineServer(db);
  const flag = await databaseFlag(db);
  return [
    ok('server version', `PostgreSQL ${facts.version}`),
    checkClock(facts),
    checkConnections(facts),
    facts.migrations > 0
      ? checkSchema(facts)
      : warn('schema', 'there are no tables of crm yet', `make them: crm init --org NAME${flag}`),
    checkStatistics(facts),
    ok('size', formatBytes(facts.bytes)),
    ...(facts.migrations > 0 && !facts.isBehind ? await checkServerQuotas(db) : []),
  ];
}

async function checkServerQuotas(db: string): Promise<Finding[]> {
  const { openSnapshot } = await import('../../db/store.ts');
  const snapshot = await openSnapshot(db);
  return checkQuotas(snapshot.read, db).finally(() => snapshot.close());
}

function checkClock({ clockTrouble }: ServerFacts): Finding {
  if (clockTrouble === null) return ok('clock', 'the database’s and this machine’s agree');
  return fail('clock', clockTrouble.replace(/\.$/, ''), 'set both by NTP: timedatectl set-ntp true');
}

function checkConnections({ connections, connectionsMax }: ServerFacts): Finding {
  const found = `${counted(connections, 'connection')} of ${connectionsMax}`;
  if (connections + NODE_CONNECTIONS <= connectionsMax) return ok('connections', found);
  const next =
    'raise max_connections, put PgBouncer in front, or ask for fewer: ?readers=2&writers=2 in the address.';
  return warn('connections', found, next);
}

function checkStatistics({ unanalyzed }: ServerFacts): Finding {
  if (unanalyzed.length === 0) return ok('statistics', 'every table has them');
  return warn('statistics', `missing of ${unanalyzed.join(', ')}`, 'run ANALYZE on the database, with psql.');
}

// What a node may open beside those that are there.
const NODE_CONNECTIONS = 14;
