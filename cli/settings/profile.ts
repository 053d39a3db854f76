// Profiles: named settings in a file of the user, chosen with --profile or CRM_PROFILE.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { isObject } from '../../db/model/json.ts';
import { CliError, errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { shellWord } from '../terminal/text.ts';
import { environment, formatFrom } from './environment.ts';

export interface Profile {
  url?: string;
  api_key_file?: string;
  db?: string;
  output?: OutputFormat;
}

/** The settings that a profile can have. */
export const PROFILE_KEYS = ['url', 'api_key_file', 'db', 'output'] as const;

// A user without a name, as in a container, has no home folder and so no profile.
function home(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** The folder of the user's settings for crm. */
export function settingsFolder(): string {
  return join(environment('XDG_CONFIG_HOME') ?? join(home(), '.config'), 'crm');
}

function profilePath(): string {
  return join(settingsFolder(), 'config.json');
}

/** The profiles in the file of the user, and which of them is used unless another is named. */
export interface ProfileFile {
  path: string;
  /** As `crm profile use` has set it. */
  current?: string;
  profiles: Readonly<Record<string, unknown>>;
}

export interface ReadProfileFile extends ProfileFile {
  isThere: boolean;
}

/** The file with the profiles; without profiles if it does not exist. */
export function readProfileFile(): ReadProfileFile {
  const path = profilePath();
  const text = readIfThere(path);
  if (text === undefined) return { path, profiles: {}, isThere: false };
  return { ...parseProfiles(path, text), isThere: true };
}

/** The name of the profile in force: by flag, CRM_PROFILE, the file, or `default`. */
export function currentProfileName({ current }: Pick<ProfileFile, 'current'>, flag?: string): string {
  return flag ?? environment('CRM_PROFILE') ?? current ?? 'default';
}

/** The profile that the flag, CRM_PROFILE or the file names, else `default`, which may be missing. */
export function readProfile(flag: string | undefined): Profile {
  const wanted = flag ?? environment('CRM_PROFILE');
  const file = readProfileFile();
  if (wanted === undefined && file.current === undefined && !Object.hasOwn(file.profiles, 'default'))
    return {};
  return profileNamed(file, currentProfileName(file, flag));
}

/** The profile with this name; throws a usage error if there is none. */
export function profileNamed({ path, profiles, isThere }: ReadProfileFile, name: string): Profile {
  if (Object.hasOwn(profiles, name)) return checkedProfile(path, name, profiles[name]);
  const names = Object.keys(profiles);
  if (!isThere)
    throw usageError(
      `Profile "${name}" not found: ${path} does not exist.`,
      `add it: crm profile add ${shellWord(name)} --url https://crm.example.com`,
      'or remove --profile and CRM_PROFILE.',
    );
  throw usageError(
    `Profile "${name}" not found in ${path}.${didYouMean(name, names)}`,
    ...(names.length > 0 ? [`use one of: ${names.join(', ')}.`] : []),
    `${names.length > 0 ? 'or ' : ''}add it: crm profile add ${shellWord(name)} --url https://crm.example.com`,
  );
}

// An example file with this profile; the path of the key is relative to the file.
function exampleProfiles(name: string): string {
  const profile = {
    url: 'https://crm.example.com',
    api_key_file: `${/^[\w-]+$/.test(name) ? name : 'api'}.key`,
  };
  // With spaces, so that a narrow terminal can wrap it.
  return JSON.stringify({ profiles: { [name]: profile } }, null, 1).replaceAll(/\n */g, ' ');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return undefined;
    throw new CliError(`Cannot read the profile file ${path}: ${systemFault(cause)}.`, {
      nextSteps: ['make the file readable, or remove it.'],
      cause,
    });
  }
}

function parseProfiles(path: string, text: string): ProfileFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badProfile(path, `it is not JSON (${messageOf(cause)})`, cause);
  }
  const { profiles, current } = isObject(value) ? value : {};
  if (!isObject(profiles)) throw badProfile(path, 'it does not have an object "profiles"');
  if (current === undefined) return { path, profiles };
  if (typeof current === 'string' && Object.hasOwn(profiles, current)) return { path, profiles, current };
  throw badProfile(path, '"current" is not the name of one of its profiles');
}

function checkedProfile(path: string, name: string, value: unknown): Profile {
  if (!isObject(value)) throw badProfile(path, `profile "${name}" is not an object`);
  for (const [key, setting] of Object.entries(value)) {
    if (!PROFILE_KEYS.some((known) => known === key)) {
      const allowed = `known settings are ${PROFILE_KEYS.join(', ')}`;
      throw badProfile(path, `profile "${name}" has the unknown setting "${key}"; ${allowed}`);
    }
    if (typeof setting !== 'string' || setting === '') {
      throw badProfile(path, `"${key}" of profile "${name}" is not a non-empty string`);
    }
  }
  const profile: Profile = { ...value };
  formatFrom(`"output" of profile "${name}" in ${path}`, profile.output);
  const { api_key_file: keyFile, db } = profile;
  return {
    ...profile,
    ...(keyFile !== undefined && { api_key_file: besideProfile(path, keyFile) }),
    ...(db !== undefined && { db: isDatabaseAddress(db) ? db : besideProfile(path, db) }),
  };
}

/** Paths in the profile file are relative to the file, so that they do not depend on the current folder. */
function besideProfile(profileFile: string, path: string): string {
  if (path.startsWith('~/')) return join(home(), path.slice(2));
  return resolve(dirname(profileFile), path);
}

function badProfile(path: string, reason: string, cause?: unknown): CliError {
  return new CliError(`The profile file ${path} is not valid: ${reason}.`, {
    nextSteps: [`correct it. Example: ${exampleProfiles('default')}`],
    cause,
  });
}
