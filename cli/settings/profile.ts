// Profiles: settings by name, in a file of the user's that `--profile` and CRM_PROFILE choose from.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { isObject } from '../../db/model/json.ts';
import { CliError, errorCode, messageOf, systemFault, usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { environment, formatFrom } from './environment.ts';

export interface Profile {
  url?: string;
  api_key_file?: string;
  db?: string;
  output?: OutputFormat;
}

const PROFILE_KEYS = ['url', 'api_key_file', 'db', 'output'] as const;

// A user that only a container knows by number has no folder, and so no profile.
function home(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

function profilePath(): string {
  return join(environment('XDG_CONFIG_HOME') ?? join(home(), '.config'), 'crm', 'config.json');
}

/** The profile that the flag or CRM_PROFILE names, else `default`; nothing where there is none and none was named. */
export function readProfile(flag: string | undefined): Profile {
  const wanted = flag ?? environment('CRM_PROFILE');
  const path = profilePath();
  const text = readIfThere(path);
  if (text === undefined) {
    if (wanted === undefined) return {};
    throw usageError(
      `There is no profile "${wanted}": ${path} does not exist.`,
      `to make one, write that file: ${exampleProfiles(wanted)}`,
      'or leave --profile and CRM_PROFILE out.',
    );
  }
  const profiles = parseProfiles(path, text);
  const name = wanted ?? 'default';
  if (Object.hasOwn(profiles, name)) return checkedProfile(path, name, profiles[name]);
  if (wanted === undefined) return {};
  const names = Object.keys(profiles);
  throw usageError(
    `There is no profile "${wanted}" in ${path}.${didYouMean(wanted, names)}`,
    `use one that it has: ${names.join(', ') || 'none'}.`,
    `or add it there, beside them: ${exampleProfiles(wanted)}`,
  );
}

// A profile of that name, as the file has it; the key's path is relative to the file.
function exampleProfiles(name: string): string {
  const profile = {
    url: 'https://crm.example.com',
    api_key_file: `${/^[\w-]+$/.test(name) ? name : 'api'}.key`,
  };
  // With spaces, so that a narrow terminal can break it between them.
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

function parseProfiles(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badProfile(path, `it is not JSON (${messageOf(cause)})`, cause);
  }
  const profiles = isObject(value) ? value.profiles : undefined;
  if (!isObject(profiles)) throw badProfile(path, 'it has no object "profiles"');
  return profiles;
}

function checkedProfile(path: string, name: string, value: unknown): Profile {
  if (!isObject(value)) throw badProfile(path, `profile "${name}" is not an object`);
  for (const [key, setting] of Object.entries(value)) {
    if (!PROFILE_KEYS.some((known) => known === key)) {
      const allowed = `a profile has ${PROFILE_KEYS.join(', ')}`;
      throw badProfile(path, `profile "${name}" has the unknown setting "${key}"; ${allowed}`);
    }
    if (typeof setting !== 'string' || setting === '') {
      throw badProfile(path, `"${key}" of profile "${name}" is not a text`);
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

/** Paths in the profile file are relative to the file, so that they mean the same from every folder. */
function besideProfile(profileFile: string, path: string): string {
  if (path.startsWith('~/')) return join(home(), path.slice(2));
  return resolve(dirname(profileFile), path);
}

function badProfile(path: string, reason: string, cause?: unknown): CliError {
  return new CliError(`The profile file ${path} cannot be used: ${reason}.`, {
    nextSteps: [`correct it; it looks like ${exampleProfiles('default')}`],
    cause,
  });
}
