// Where a command's settings come from: flag, environment, profile file, default, strongest first.
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { isObject } from '../../db/declare/json.ts';
import { isAddress } from '../../db/declare/text.ts';
import { CliError, EXIT, errorCode, messageOf, usageError } from '../errors.ts';
import { OUTPUT_FORMATS, type OutputFormat, type OutputSettings } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

export interface Config extends OutputSettings {
  /** Path of the database file, or address of a database, for operator commands. */
  readonly db: string;
  /** Address of the server, for data commands. */
  readonly url: string;
  /** The API key; rejects with exit 4 where there is none. */
  apiKey(): Promise<string>;
  /** Where each setting comes from. */
  readonly sources: readonly SettingSource[];
}

/** A setting as it holds, and what says so: a flag, a variable, the profile or the default. */
export interface SettingSource {
  name: string;
  /** What is not to be shown of a key is where it comes from only. */
  value: string;
  from: string;
}

/** The options that every command takes, before or after its name. */
export interface GlobalOptions {
  db?: string;
  url?: string;
  apiKeyFile?: string;
  output?: OutputFormat;
  profile?: string;
  color?: boolean;
  debug?: boolean;
}

interface Profile {
  url?: string;
  api_key_file?: string;
  db?: string;
  output?: OutputFormat;
}

const PROFILE_KEYS = ['url', 'api_key_file', 'db', 'output'] as const;

/**
 * Resolves the settings of a command. In an action: `const config = resolveConfig(command)`, then `config.db` for
 * operator commands, or `connect(config)` of connect.ts for a client. Throws a CliError for a bad profile file.
 */
export function resolveConfig(command: Command): Config {
  const options: GlobalOptions = command.optsWithGlobals();
  const profile = readProfile(options.profile);
  const given = options.output ?? formatFrom('CRM_OUTPUT', environment('CRM_OUTPUT')) ?? profile.output;
  if (options.db === '')
    throw usageError(
      '--db names no file.',
      'give the path of a database file, or postgres://user@host/database.',
    );
  const { db, url, output } = settingsOf(options, profile);
  return {
    db: db.value,
    url: url.value,
    output: given ?? (process.stdout.isTTY ? 'table' : 'ndjson'),
    sources: [db, url, output, keySource(options.apiKeyFile, profile.api_key_file)],
    isOutputGiven: given !== undefined,
    isColored: isColored(process.stdout, options.color),
    apiKey: async () => findApiKey(options.apiKeyFile, profile.api_key_file),
  };
}

function settingsOf(
  options: GlobalOptions,
  profile: Profile,
): Record<'db' | 'url' | 'output', SettingSource> {
  const sourced = (name: 'db' | 'url' | 'output', byDefault: string): SettingSource => {
    const variable = `CRM_${name.toUpperCase()}`;
    const candidates: [string | undefined, string][] = [
      [options[name], `--${name}`],
      [environment(variable), variable],
      [profile[name], 'profile'],
    ];
    const [value, from] = candidates.find(([given]) => given !== undefined) ?? [byDefault, 'default'];
    return { name, value: value ?? byDefault, from };
  };
  return {
    db: sourced('db', './crm.db'),
    url: sourced('url', 'http://127.0.0.1:4000'),
    output: sourced('output', process.stdout.isTTY ? 'table' : 'ndjson'),
  };
}

function keySource(flagFile: string | undefined, profileFile: string | undefined): SettingSource {
  const name = 'API key';
  if (flagFile !== undefined) return { name, value: flagFile, from: '--api-key-file' };
  if (environment('CRM_API_KEY')?.trim()) return { name, value: '(not shown)', from: 'CRM_API_KEY' };
  if (profileFile !== undefined) return { name, value: profileFile, from: 'profile' };
  return { name, value: 'none', from: 'default' };
}

/** Whether a stream takes colour: a terminal that can show it, and nobody who asked for none. */
export function isColored(stream: { isTTY?: boolean }, flag: boolean | undefined): boolean {
  if (flag === false || environment('NO_COLOR') !== undefined) return false;
  return Boolean(stream.isTTY) && process.env.TERM !== 'dumb';
}

/** A variable of the environment; an empty one counts as unset. */
export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

function formatFrom(source: string, value: string | undefined): OutputFormat | undefined {
  const format = OUTPUT_FORMATS.find((one) => one === value);
  if (value !== undefined && format === undefined) {
    throw usageError(`${source} is "${value}".`, `make it one of ${OUTPUT_FORMATS.join(', ')}.`);
  }
  return format;
}

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

function readProfile(flag: string | undefined): Profile {
  const wanted = flag ?? environment('CRM_PROFILE');
  const path = profilePath();
  const text = readIfThere(path);
  if (text === undefined) {
    if (wanted === undefined) return {};
    throw usageError(`There is no profile "${wanted}": ${path} does not exist.`, 'create it, or go without.');
  }
  const profiles = parseProfiles(path, text);
  const profile = profiles[wanted ?? 'default'];
  if (profile !== undefined) return checkedProfile(path, wanted ?? 'default', profile);
  if (wanted === undefined) return {};
  const names = Object.keys(profiles).join(', ') || 'none';
  throw usageError(`There is no profile "${wanted}" in ${path}.`, `use one that it has: ${names}.`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return undefined;
    throw new CliError(`Cannot read the profile file ${path}: ${errorCode(cause)}.`, {
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
    ...(db !== undefined && { db: isAddress(db) ? db : besideProfile(path, db) }),
  };
}

/** Paths in the profile file are relative to the file, so that they mean the same from every folder. */
function besideProfile(profileFile: string, path: string): string {
  if (path.startsWith('~/')) return join(home(), path.slice(2));
  return resolve(dirname(profileFile), path);
}

function badProfile(path: string, reason: string, cause?: unknown): CliError {
  const example = '{"profiles":{"default":{"url":"https://crm.example.com","api_key_file":"key"}}}';
  return new CliError(`The profile file ${path} cannot be used: ${reason}.`, {
    nextSteps: [`correct it; it looks like ${example}`],
    cause,
  });
}

function findApiKey(flagFile: string | undefined, profileFile: string | undefined): string {
  if (flagFile !== undefined) return readKeyFile(flagFile);
  const key = environment('CRM_API_KEY')?.trim();
  if (key) return key;
  if (profileFile !== undefined) return readKeyFile(profileFile);
  throw new CliError('There is no API key.', {
    exitCode: EXIT.auth,
    nextSteps: [
      'issue one and keep it: export CRM_API_KEY=$(crm keys issue --org NAME --all-scopes)',
      'or name the file that holds it in --api-key-file.',
    ],
  });
}

function readKeyFile(path: string): string {
  let key: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      note(`crm: warning: others can read the key file ${path}; run "chmod 600 ${path}".`);
    }
    key = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new CliError(`Cannot read the key file ${path}: ${errorCode(cause)}.`, {
      exitCode: EXIT.auth,
      nextSteps: ['check --api-key-file, or the api_key_file of the profile.'],
      cause,
    });
  }
  if (key !== '') return key;
  throw new CliError(`The key file ${path} is empty.`, {
    exitCode: EXIT.auth,
    nextSteps: [`write a key to it: crm keys issue --org NAME --all-scopes > ${path}`],
  });
}
