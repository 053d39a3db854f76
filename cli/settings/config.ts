// Resolves the settings of a command: flag, environment, profile file, default, in this order.

import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import type { OutputFormat, OutputSettings } from '../terminal/output.ts';
import { stdout } from '../terminal/streams.ts';
import { findApiKey } from './api-key.ts';
import { environment, formatFrom } from './environment.ts';
import { type Profile, readProfile } from './profile.ts';
import { serverBase } from './server-url.ts';

export interface Config extends OutputSettings {
  /** Database file or database URL, for operator commands. */
  readonly db: string;
  /** Server URL, for data commands. */
  readonly url: string;
  /** The API key; rejects with exit code 4 if there is none. */
  apiKey(): Promise<string>;
  /** Where each setting comes from. */
  readonly sources: readonly SettingSource[];
}

/** The value of a setting and its source: a flag, a variable, the profile or the default. */
export interface SettingSource {
  name: string;
  /** A secret value is replaced; only its source is shown. */
  value: string;
  from: string;
}

/** The options that every command accepts, before or after its name. */
export interface GlobalOptions {
  db?: string;
  url?: string;
  apiKeyFile?: string;
  output?: OutputFormat;
  profile?: string;
  color?: boolean;
  /** False with --no-pager. */
  pager?: boolean;
  debug?: boolean;
}

/**
 * Resolves the settings of a command. In an action: `const config = resolveConfig(command)`, then `config.db` for
 * operator commands, or `connect(config)` of connect.ts for a client. Throws a CliError for a bad profile file.
 * @param own what to use instead of the profile that is in force
 */
export function resolveConfig(command: Command, own?: Profile): Config {
  const options: GlobalOptions = command.optsWithGlobals();
  const profile = own ?? readProfile(options.profile);
  const given = options.output ?? formatFrom('CRM_OUTPUT', environment('CRM_OUTPUT')) ?? profile.output;
  if (options.db === '')
    throw usageError(
      '--db is empty.',
      'use the path of a database file, or a database URL like postgres://user@host/database.',
    );
  const { db, url, output } = settingsOf(options, profile);
  return {
    db: db.value,
    url: url.value,
    output: given ?? (stdout.isTTY ? 'table' : 'ndjson'),
    sources: [db, url, output, keySource(options.apiKeyFile, profile.api_key_file)],
    isOutputGiven: given !== undefined,
    isColored: isColored(stdout, options.color),
    isPagerWanted: options.pager ?? true,
    apiKey: async () => {
      // What the arguments show to be wrong is said before a key is looked for.
      serverBase(url.value);
      return findApiKey(options.apiKeyFile, profile.api_key_file);
    },
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
    output: sourced('output', stdout.isTTY ? 'table' : 'ndjson'),
  };
}

function keySource(flagFile: string | undefined, profileFile: string | undefined): SettingSource {
  const name = 'API key';
  if (flagFile !== undefined) return { name, value: flagFile, from: '--api-key-file' };
  if (environment('CRM_API_KEY')?.trim()) return { name, value: '(not shown)', from: 'CRM_API_KEY' };
  if (profileFile !== undefined) return { name, value: profileFile, from: 'profile' };
  return { name, value: 'none', from: 'default' };
}

/** Whether to use color: on a terminal that supports it, unless it is disabled. */
export function isColored(stream: { isTTY: boolean }, flag: boolean | undefined): boolean {
  if (flag === false || environment('NO_COLOR') !== undefined) return false;
  return stream.isTTY && process.env.TERM !== 'dumb';
}
