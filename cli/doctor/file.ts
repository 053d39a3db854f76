// Checks a database file: its integrity, its permissions, and its room to grow.
import type { FileFacts } from '../../db/maintenance.ts';
import type { LastBackup } from '../../db/tables/last-backup.ts';
import { counted, formatBytes, formatDuration } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

// A log of this size means that a reader has blocked checkpoints for long.
const LOG_BYTES_MAX = 256 * 1024 * 1024;
// Room for a copy of the database and some growth.
const FREE_FACTOR = 2;
const FREE_BYTES_MIN = 64 * 1024 * 1024;
const DAY_SECONDS = 24 * 60 * 60;
const BACKUP_SECONDS_MAX = 2 * DAY_SECONDS;

/** The findings about the file. */
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
    return ok(check, `${formatBytes(bytes)}, all pages, indexes and references are intact`);
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  const next = 'stop the server, restore the newest backup (crm restore FILE --confirm), and check the disk.';
  return fail(check, `${first}${more}`, next);
}

function checkIndexes(db: string, { missingIndexes }: FileFacts): Finding {
  const check = 'indexes';
  if (missingIndexes.length === 0) return ok(check, 'complete');
  const next = `copy the database to a new file: crm migrate --from ${shellWord(db)} --to NEWFILE`;
  return fail(check, `missing: ${missingIndexes.join(', ')}`, next);
}

/** The finding about migrations. */
export function checkSchema({ isBehind }: Pick<FileFacts, 'isBehind'>): Finding {
  if (!isBehind) return ok('schema', 'up to date');
  return warn('schema', 'created by an older crm', 'back it up. The next start of this crm upgrades it.');
}

function checkLog({ logBytes }: FileFacts): Finding {
  const found = `${formatBytes(logBytes)} of write-ahead log`;
  if (logBytes <= LOG_BYTES_MAX) return ok('log', found);
  return warn('log', found, 'find the program that keeps the database open for reading (lsof), and stop it.');
}

function checkPermissions(db: string, { isOpenToOthers }: FileFacts): Finding {
  if (isOpenToOthers === null) return ok('permissions', 'not checked on Windows');
  if (!isOpenToOthers) return ok('permissions', 'only its owner can read it');
  return warn('permissions', 'other users can read the file', `run: chmod 600 ${shellWord(db)}`);
}

function checkFolder({ folder: { path, writableBy, isSticky, isOfAnother } }: FileFacts): Finding {
  const check = 'folder';
  const move = 'move the database to a folder that only its owner can write to: install -d -m 700 FOLDER';
  if (isOfAnother) return warn(check, `${path} belongs to another user, who can replace its files`, move);
  if (writableBy === null) return ok(check, 'only its owner can write to it');
  const what = isSticky ? 'add files next to the database' : 'replace the database and the files next to it';
  const next = isSticky ? move : `run: chmod go-w ${shellWord(path)}, or ${move}`;
  return warn(check, `${writableBy} can ${what}, in ${path}`, next);
}

function checkSpace({ bytes, freeBytes, onlyReadable }: FileFacts): Finding {
  const check = 'disk space';
  if (onlyReadable !== null) return ok(check, 'not checked: the file system is read-only');
  if (freeBytes === null) return warn(check, 'unknown on this system', 'check it yourself: df -h');
  const found = `${formatBytes(freeBytes)} free`;
  const next = 'free up disk space, or move the database to a larger disk.';
  if (freeBytes < FREE_BYTES_MIN) return fail(check, found, next);
  return freeBytes < FREE_FACTOR * bytes
    ? warn(check, `${found}, less than twice the size of the database`, next)
    : ok(check, found);
}

function checkServer({ server }: FileFacts): Finding {
  if (server === null) return ok('served', 'not right now');
  return ok('served', `by process ${server.pid} at ${server.address}, since ${server.since}`);
}

function checkBackup(db: string, last: LastBackup | undefined): Finding {
  const check = 'backup';
  const next = `run: crm backup FILE --db ${shellWord(db)}, or serve with --backup-every 1h --backup-dir FOLDER`;
  if (last === undefined) return warn(check, 'none yet', next);
  const seconds = (Date.now() - Date.parse(last.taken_at)) / 1_000;
  const found = `${formatDuration(seconds)} old: ${last.file}`;
  return seconds > BACKUP_SECONDS_MAX ? warn(check, found, next) : ok(check, found);
}

/** The finding about how many files this process, and a server started like it, may open. */
export function checkOpenFiles(limit: number | null): Finding {
  const check = 'open files';
  if (limit === null) return ok(check, 'unknown on this system');
  const found = `${counted(limit, 'file')} at most`;
  if (limit >= 4_096) return ok(check, found);
  return warn(
    check,
    `${found}; every connection needs one`,
    'raise the limit: ulimit -n 65536, or LimitNOFILE=65536 in the systemd unit.',
  );
}
