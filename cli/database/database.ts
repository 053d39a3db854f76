// What operator commands share: the database opened and closed, its errors said for people, accounts by name.
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { OrganizationRow, UserRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { CliError, EXIT, usageError, withSteps } from '../errors.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

/**
 * Opens the database, runs the job, closes the database.
 * @param options.create makes a missing one
 * @param options.backup makes a backup of one that is to be brought up to date first; true unless said otherwise
 */
export async function withStore<T>(
  db: string,
  job: (store: Store) => Promise<T>,
  { create = false, backup = true }: { create?: boolean; backup?: boolean } = {},
): Promise<T> {
  const { openStore } = await import('../../db/store.ts');
  const { backUpBeforeMigrations } = await import('./migration-backup.ts');
  try {
    const store = await openStore(db, {
      create,
      onWarning: note,
      ...(backup && { beforeMigrations: (names) => backUpBeforeMigrations(db, names) }),
    });
    try {
      return await job(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw await withDatabaseNamed(db, error);
  }
}

/** Opens the database to be read, runs the job, closes it; what cannot be written is read as it is, and that is told. */
export async function withReader<T>(db: string, job: (store: Pick<Store, 'read'>) => Promise<T>): Promise<T> {
  if (!(await warnIfReadOnly(db))) return withStore(db, job);
  const { openSnapshot } = await import('../../db/store.ts');
  try {
    const snapshot = await openSnapshot(db, note);
    return await job(snapshot).finally(() => snapshot.close());
  } catch (error) {
    throw await withDatabaseNamed(db, error);
  }
}

/** Whether a database can be read and not written, which is told. */
export async function warnIfReadOnly(db: string): Promise<boolean> {
  if (isDatabaseAddress(db)) return false;
  const { readOnlyReason } = await import('../../db/store.ts');
  const reason = readOnlyReason(db);
  if (reason !== null) note(`${db} ${reason}: it is read as it is.`);
  return reason !== null;
}

// As they stand in quotes or at the end of what is to be done.
const COMMANDS = /\bcrm (?:init|orgs|users|keys|audit|secrets|people) [^"]*?(?=\.?"|\.?$)/g;

/** What went wrong with a database, with that named in each command that is to be typed next. */
async function withDatabaseNamed(db: string, error: unknown): Promise<unknown> {
  const flag = await databaseFlag(db);
  const named = (command: string) => (command.includes(' --db ') ? command : command + flag);
  return withSteps(await databaseError(db, error), (steps) =>
    steps.map((step) => step.replace(COMMANDS, named)),
  );
}

/**
 * Takes the lock for serving, for a command that bears no server beside it, and gives a function that gives it back.
 * @param how `lockPlace` where it does not matter what lies there
 */
export async function lockDatabase(
  db: string,
  command: string,
  how: 'lockForServing' | 'lockPlace' = 'lockForServing',
): Promise<() => void> {
  const { [how]: lock, ServedAlreadyError } = await import('../../db/store.ts');
  try {
    return lock(db, { pid: process.pid, since: new Date().toISOString(), address: command });
  } catch (error) {
    if (!(error instanceof ServedAlreadyError)) throw await databaseError(db, error);
    const nextSteps = ['stop it, then run the same command again.'];
    throw new CliError(error.message, { nextSteps, cause: error });
  }
}

/** What went wrong with a database, as an error for people; what has nothing to do with it comes back as it is. */
export async function databaseError(db: string, error: unknown): Promise<unknown> {
  const { DatabaseErrorAt } = await import('../../db/copy/database.ts');
  if (error instanceof DatabaseErrorAt) return databaseError(error.db, error.cause);
  const { DatabaseAddressError, DatabaseError, explainDatabaseError } = await import('../../db/store.ts');
  const { TakenError } = await import('../../db/tables/accounts.ts');
  if (error instanceof TakenError) {
    const nextSteps = [`use that one (id ${error.existingId}), or choose another.`];
    return new CliError(error.message, { nextSteps, cause: error });
  }
  const explained = explainDatabaseError(db, error);
  if (!(explained instanceof DatabaseError)) return error;
  const exitCode = explained instanceof DatabaseAddressError ? EXIT.usage : EXIT.failed;
  return new CliError(explained.message, { exitCode, nextSteps: [...explained.nextSteps], cause: error });
}

/** The organization of that name or id; an error if there is none. */
export async function organizationNamed(
  store: Pick<Store, 'read'>,
  nameOrId: string,
): Promise<OrganizationRow> {
  const { findOrganization } = await import('../../db/tables/accounts.ts');
  const organization = await findOrganization(store.read, nameOrId);
  if (organization !== undefined) return organization;
  throw new CliError(`There is no organization "${nameOrId}".`, {
    nextSteps: ['see "crm orgs list", or make it: crm orgs create NAME'],
  });
}

/** The user of that email or id in the organization; an error if there is none. */
export async function userNamed(store: Store, org: OrganizationRow, emailOrId: string): Promise<UserRow> {
  const { findUser } = await import('../../db/tables/accounts.ts');
  const user = await findUser(store.read, org.number, emailOrId);
  if (user !== undefined) return user;
  throw new CliError(`${org.name} has no user "${emailOrId}".`, {
    nextSteps: [
      `see "crm users list --org ${shellWord(org.name)}", or make it: crm users create EMAIL --org ${shellWord(org.name)}`,
    ],
  });
}

const LABEL_CHARACTERS_MAX = 200;

/** A name as it is to be stored: trimmed, on one line, neither empty nor longer than 200 characters. */
export function checkedName(what: string, text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length >= 1 && length <= LABEL_CHARACTERS_MAX && !/\p{Cc}|\p{Cs}/u.test(name)) return name;
  throw usageError(
    `${what} cannot be ${JSON.stringify(text)}.`,
    `use 1 to ${LABEL_CHARACTERS_MAX} characters, without line breaks.`,
  );
}

/** An email address as it is to be stored. */
export async function checkedEmail(text: string): Promise<string> {
  const { IsEmail } = await import('typebox/format');
  const email = text.trim();
  if (email.length <= 320 && IsEmail(email)) return email;
  throw usageError(`"${text}" is no email address.`, 'give one like ada@example.com.');
}

/** Unix milliseconds as responses have them, null as null. */
export function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

/** The flag that names the database in a command to type next, without a password; nothing for the default. */
export async function databaseFlag(db: string): Promise<string> {
  if (db === './crm.db') return '';
  const { databaseLabel } = await import('../../db/store.ts');
  return ` --db ${shellWord(databaseLabel(db))}`;
}
