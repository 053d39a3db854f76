// Carries out `crm profile list`, `show`, `use` and `remove`.
import type { Data } from '../../db/model/json.ts';
import type { Config, GlobalOptions } from '../settings/config.ts';
import { environment } from '../settings/environment.ts';
import {
  currentProfileName,
  PROFILE_KEYS,
  profileNamed,
  type ReadProfileFile,
  readProfileFile,
} from '../settings/profile.ts';
import { printRecord, printRecords } from '../terminal/output.ts';
import { redact } from '../terminal/redact.ts';
import { note } from '../terminal/streams.ts';
import { keyFileOf, removeKey, writeProfileFile } from './file.ts';

const FIELDS = ['name', 'is_current', ...PROFILE_KEYS];

/** Prints all profiles, without their keys. */
export async function runProfileList(_flags: unknown, config: Config, options: GlobalOptions): Promise<void> {
  const file = readProfileFile();
  const names = Object.keys(file.profiles).toSorted();
  const current = currentProfileName(file, options.profile);
  const shown = names.map((name) => presented(file, name, current));
  if (shown.length === 0 && config.output === 'table')
    return note('No profiles. Next: crm profile add NAME --url https://crm.example.com');
  const columns = FIELDS.filter((field) => field === 'name' || shown.some((one) => one[field] !== null));
  await printRecords(config, shown, { columns, allFields: FIELDS });
}

/** Prints the settings of a profile. */
export async function runProfileShow(
  name: string | undefined,
  _flags: unknown,
  config: Config,
  options: GlobalOptions,
): Promise<void> {
  const file = readProfileFile();
  const current = currentProfileName(file, options.profile);
  const record = presented(file, name ?? current, current);
  await printRecord(config, record, { columns: FIELDS, allFields: FIELDS });
}

/** Makes a profile the one that is used unless another is named. */
export async function runProfileUse(name: string): Promise<void> {
  const file = readProfileFile();
  const { url } = profileNamed(file, name);
  writeProfileFile({ ...file, current: name });
  note(`The default profile is now ${name}${url === undefined ? '' : ` (${url})`}.`);
  const stronger = ['CRM_PROFILE', 'CRM_API_KEY', 'CRM_URL'].filter((variable) => environment(variable));
  if (stronger.length > 0)
    note(`Environment variables take precedence over the profile. Next: unset ${stronger.join(' ')}`);
}

/** Removes a profile, with its key if that is stored beside it. */
export async function runProfileRemove(name: string): Promise<void> {
  const file = readProfileFile();
  const { api_key_file: keyFile } = profileNamed(file, name);
  const { [name]: _removed, ...profiles } = file.profiles;
  const current = file.current === name ? undefined : file.current;
  writeProfileFile({ path: file.path, profiles, ...(current !== undefined && { current }) });
  const { path } = keyFileOf(name);
  const isOwnKey = keyFile === path && !usesKey({ ...file, profiles }, path);
  const isRemoved = isOwnKey && removeKey(path);
  note(`Removed profile ${name}${isRemoved ? ' and its key' : ''}. The server still accepts the key.`);
  note('Next: To revoke the key, run this where the database is: crm keys revoke ID');
}

function usesKey(file: ReadProfileFile, path: string): boolean {
  return Object.keys(file.profiles).some((name) => profileNamed(file, name).api_key_file === path);
}

function presented(file: ReadProfileFile, name: string, current: string): Data {
  const profile = profileNamed(file, name);
  const settings = PROFILE_KEYS.map((key) => [key, profile[key] ?? null]);
  const { db } = profile;
  return {
    name,
    is_current: name === current,
    ...Object.fromEntries(settings),
    ...(db !== undefined && { db: redact(db) }),
  };
}
