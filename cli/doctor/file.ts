// Looks at a database file: whether it is sound, its own, and has room to grow.
import type { FileFacts } from '../../db/maintenance.ts';
import type { LastBackup } from '../../db/tables/last-backup.ts';
import { counted, formatBytes, formatDuration } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

// A log that readers have kept from being moved for long.
const LOG_BYTES_MAX = 256 * 1024 * 1024;
// For a copy of the database and some growth.
const FREE_FACTOR = 2;
const FREE_BYTES_MIN = 64 * 1024 * 1024;
const DAY_SECONDS = 24 * 60 * 60;
const BACKUP_SECONDS_MAX = 2 * DAY_SECONDS;

/** A finding for each thing about the file. */
export function checkFileFacts(db: string, facts: FileFacts, last: LastBackup | undefined): Finding[] {
  return [
    checkIntegrity(facts),
    checkIndexes(db, facts),
    checkSchema(facts),
    checkLog(facts),
    checkPermissions(db, facts),
    checkFolder(facts),
    checkSpace(facts),
    checkServer(facts),
    checkBackup(db, last),
  ];
}

function checkIntegrity({ faults, bytes }: FileFacts): Finding {
  const check = 'integrity';
  const [first] = faults;
  if (first === undefined)
    return ok(check, `${formatBytes(bytes)}, every page, index and reference is sound`);
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  const next =
    'stop the server, put back the newest backup (crm restore FILE --confirm), and check the disk.';
  return fail(check, `${first}${more}`, next);
}

function checkIndexes(db: string, { missingIndexes }: FileFacts): Finding {
  const check = 'indexes';
  if (missingIndexes.length === 0) return ok(check, 'all there');
  const next = `copy the database into a new one: crm migrate --from ${shellWord(db)} --to NEWFILE`;
  return fail(check, `missing: ${missingIndexes.join(', ')}`, next);
}

/** A finding about migrations. */
export function checkSchema({ isBehind }: Pick<FileFacts, 'isBehind'>): Finding {
  if (!isBehind) return ok('schema', 'up to date');
  return warn(
    'schema',
    'written by an older crm',
    'make a backup; the next start of this crm brings it up to date.',
  );
}

function checkLog({ logBytes }: FileFacts): Finding {
  const found = `${formatBytes(logBytes)} of write-ahead log`;
  if (logBytes <= LOG_BYTES_MAX) return ok('log', found);
  return warn(
    'log',
    found,
    'look for a program that holds the database open for reading (lsof), and end it.',
  );
}

function checkPermissions(db: string, { isOpenToOthers }: FileFacts): Finding {
  if (isOpenToOthers === null) return ok('permissions', 'those of Windows, which are not looked at');
  if (!isOpenToOthers) return ok('permissions', 'its owner alone can read it');
  return warn('permissions', 'others can read the file', `run: chmod 600 ${shellWord(db)}`);
}

function checkFolder({ folder: { path, writableBy, isSticky, isOfAnother } }: FileFacts): Finding {
  const check = 'folder';
  const move = 'move the database to a folder that only its own user may write: install -d -m 700 FOLDER';
  if (isOfAnother) return warn(check, `${path} belongs to another user, who can replace what is in it`, move);
  if (writableBy === null) return ok(check, 'its owner alone can write in it');
  const what = isSticky ? 'put files beside the database' : 'replace the database and what is beside it';
  const next = isSticky ? move : `run: chmod go-w ${shellWord(path)}, or ${move}`;
  return warn(check, `${writableBy} may ${what}, in ${path}`, next);
}

function checkSpace({ bytes, freeBytes, onlyReadable }: FileFacts): Finding {
  const check = 'disk space';
  if (onlyReadable !== null) return ok(check, 'nothing can be written there');
  if (freeBytes === null) return warn(check, 'the system does not tell', 'look yourself: df -h');
  const found = `${formatBytes(freeBytes)} free`;
  const next = 'free some space, or move the database to a larger disk.';
  if (freeBytes < FREE_BYTES_MIN) return fail(check, found, next);
  return freeBytes < FREE_FACTOR * bytes
    ? warn(check, `${found}, less than twice the database`, next)
    : ok(check, found);
}

function checkServer({ server }: FileFacts): Finding {
  if (server === null) return ok('served', 'by nobody just now');
  return ok('served', `by process ${server.pid} at ${server.address}, since ${server.since}`);
}

function checkBackup(db: string, last: LastBackup | undefined): Finding {
  const check = 'backup';
  const next = `run: crm backup FILE --db ${shellWord(db)}, or serve with --backup-every 1h --backup-dir FOLDER`;
  if (last === undefined) return warn(check, 'none was made yet', next);
  const seconds = (Date.now() - Date.parse(last.taken_at)) / 1_000;
  const found = `${formatDuration(seconds)} old: ${last.file}`;
  return seconds > BACKUP_SECONDS_MAX ? warn(check, found, next) : ok(check, found);
}

/** A finding about how many files this process, and a server started like it, may have open. */
export function checkOpenFiles(limit: number | null): Finding {
  const check = 'open files';
  if (limit === null) return ok(check, 'the system does not tell');
  const found = `${counted(limit, 'file')} at most`;
  if (limit >= 4_096) return ok(check, found);
  return warn(
    check,
    `${found}, and each connection is one`,
    'raise it: ulimit -n 65536, or LimitNOFILE=65536 in the unit.',
  );
}
