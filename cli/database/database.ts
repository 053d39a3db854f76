// What operator commands share: opening the database, errors for people, accounts by name.
import { IsEmail } from 'typebox/format';
import {
  DuplicateAccountError,
  findOrganization,
  findUser,
  listOrganizations,
} from '../../db/accounts/accounts.ts';
import { DatabaseErrorAt } from '../../db/copy/database.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { OrganizationRow, UserRow } from '../../db/engine/schema.ts';
import { readOnlyReason } from '../../db/maintenance.ts';
import {
  DatabaseAddressError,
  DatabaseError,
  databaseLabel,
  explainDatabaseError,
  lockForServing,
  openSnapshot,
  openStore,
  ServedAlreadyError,
  type Store,
} from '../../db/store.ts';
import { CliError, EXIT, usageError, withSteps } from '../errors.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { backUpBeforeMigrations } from './migration-backup.ts';

/**
 * Opens the database, runs the job, closes the database.
 * @param options.create creates a missing database
 * @param options.backup makes a backup before an upgrade; true by default
 */
export async function withStore<T>(
  db: string,
  job: (store: Store) => Promise<T>,
  { create = false, backup = true }: { create?: boolean; backup?: boolean } = {},
): Promise<T> {
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
    throw withDatabaseNamed(db, error);
  }
}

/** Opens the database for reading, runs the job, closes it; prints a note if the database is read-only. */
export async function withReader<T>(db: string, job: (store: Pick<Store, 'read'>) => Promise<T>): Promise<T> {
  if (!warnIfReadOnly(db)) return withStore(db, job);
  try {
    return await withSnapshot(db, (read) => job({ read }), note);
  } catch (error) {
    throw withDatabaseNamed(db, error);
  }
}

/** Opens the current state of a database for reading, runs the job, closes it; throws what the engine throws. */
export async function withSnapshot<T>(
  db: string,
  job: (read: Store['read']) => Promise<T>,
  onWarning?: (warning: string) => void,
): Promise<T> {
  const snapshot = await openSnapshot(db, onWarning);
  return job(snapshot.read).finally(() => snapshot.close());
}

/** Whether a database is read-only; prints a note if so. */
export function warnIfReadOnly(db: string): boolean {
  if (isDatabaseAddress(db)) return false;
  const reason = readOnlyReason(db);
  if (reason !== null) note(`${db} ${reason}: opening it read-only.`);
  return reason !== null;
}

// Commands in quotes, or at the end of a step.
const COMMANDS = /\bcrm (?:init|orgs|users|keys|audit|secrets|people) [^"]*?(?=\.?"|\.?$)/g;

/** The error of a database, with --db added to each command in its next steps. */
function withDatabaseNamed(db: string, error: unknown): unknown {
  const flag = databaseFlag(db);
  const named = (command: string) => (command.includes(' --db ') ? command : command + flag);
  return withSteps(databaseError(db, error), (steps) => steps.map((step) => step.replace(COMMANDS, named)));
}

/**
 * Takes the serving lock for a command that cannot run while a server does, and returns a function that releases it.
 * @param lock `lockPlace` if the content of the file does not matter
 */
export function lockDatabase(db: string, command: string, lock = lockForServing): () => void {
  try {
    return lock(db, { pid: process.pid, since: new Date().toISOString(), address: command });
  } catch (error) {
    if (!(error instanceof ServedAlreadyError)) throw databaseError(db, error);
    const nextSteps = ['stop it, then run the same command again.'];
    throw new CliError(error.message, { nextSteps, cause: error });
  }
}

/** The error of a database as an error for people; other errors are returned unchanged. */
export function databaseError(db: string, error: unknown): unknown {
  if (error instanceof DatabaseErrorAt) return databaseError(error.db, error.cause);
  if (error instanceof DuplicateAccountError) {
    const nextSteps = [`use the existing one (ID ${error.existingId}), or choose another name.`];
    return new CliError(error.message, { nextSteps, cause: error });
  }
  const explained = explainDatabaseError(db, error);
  if (!(explained instanceof DatabaseError)) return error;
  const exitCode = explained instanceof DatabaseAddressError ? EXIT.usage : EXIT.failed;
  return new CliError(explained.message, { exitCode, nextSteps: [...explained.nextSteps], cause: error });
}

/** The organization with this name or ID, or the only one if none is named; an error if there is none. */
export async function organizationNamed(
  store: Pick<Store, 'read'>,
  nameOrId: string | undefined,
): Promise<OrganizationRow> {
  if (nameOrId === undefined) return onlyOrganization(store.read);
  const organization = await findOrganization(store.read, nameOrId);
  if (organization !== undefined) return organization;
  throw new CliError(`Organization "${nameOrId}" not found.`, {
    nextSteps: ['list organizations with "crm orgs list", or create it: crm orgs create NAME'],
  });
}

async function onlyOrganization(read: Store['read']): Promise<OrganizationRow> {
  const all = await listOrganizations(read);
  const [only] = all;
  if (only === undefined)
    throw new CliError('There is no organization yet.', { nextSteps: ['create one: crm init --org NAME'] });
  if (all.length === 1) return only;
  throw usageError(
    `There are ${all.length} organizations. Choose one.`,
    'add --org NAME (with "crm orgs", NAME alone). To list organizations, run "crm orgs list".',
  );
}

/** The user with this email or ID in the organization; an error if there is none. */
export async function userNamed(store: Store, org: OrganizationRow, emailOrId: string): Promise<UserRow> {
  const user = await findUser(store.read, org.number, emailOrId);
  if (user !== undefined) return user;
  throw new CliError(`${org.name} has no user "${emailOrId}".`, {
    nextSteps: [
      `list users with "crm users list --org ${shellWord(org.name)}", or create the user: crm users create EMAIL --org ${shellWord(org.name)}`,
    ],
  });
}

const LABEL_CHARACTERS_MAX = 200;

/** A name as stored: trimmed, on one line, with 1 to 200 characters. */
export function checkedName(what: string, text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length >= 1 && length <= LABEL_CHARACTERS_MAX && !/\p{Cc}|\p{Cs}/u.test(name)) return name;
  throw usageError(
    `${what} cannot be ${JSON.stringify(text)}.`,
    `use 1 to ${LABEL_CHARACTERS_MAX} characters, without line breaks.`,
  );
}

/** An email as stored. */
export function checkedEmail(text: string): string {
  const email = text.trim();
  if (email.length <= 320 && IsEmail(email)) return email;
  throw usageError(`"${text}" is not a valid email address.`, 'use an email like ada@example.com.');
}

/** Unix milliseconds as responses have them, null as null. */
export function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

/** The flag that names the database in a suggested command, without a password; empty for the default. */
export function databaseFlag(db: string): string {
  if (db === './crm.db') return '';
  return ` --db ${shellWord(databaseLabel(db))}`;
}
