// Carries out `crm profile add`.
import { resolve } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { CliError, EXIT, usageError } from '../errors.ts';
import { kindAt } from '../files/private-file.ts';
import { readInputText } from '../input/files.ts';
import type { Config, GlobalOptions } from '../settings/config.ts';
import { type Profile, type ProfileFile, readProfileFile } from '../settings/profile.ts';
import { serverBase } from '../settings/server-url.ts';
import { askSecret, canAsk } from '../terminal/questions.ts';
import { note } from '../terminal/streams.ts';
import { keyFileOf, writeKey, writeProfileFile } from './file.ts';
import { organizationOfKey } from './try-key.ts';

// It is also the name of a file.
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** Adds a profile once its key has worked. */
export async function runProfileAdd(
  name: string,
  { force = false }: { force?: boolean },
  config: Config,
  options: GlobalOptions,
): Promise<void> {
  if (!NAME.test(name))
    throw usageError(
      `"${name}" cannot be the name of a profile.`,
      'use up to 63 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.',
    );
  const file = readProfileFile();
  if (!force) refuseExisting(file, name, options);
  const url = serverBase(config.url);
  const key = options.apiKeyFile === undefined ? await givenKey(name) : await config.apiKey();
  const organization = await organizationOfKey(url, key);
  const stored = keyFileOf(name);
  if (options.apiKeyFile === undefined) writeKey(stored.path, key);
  const profile = profileOf(url, options, stored.named);
  const isFirst = Object.keys(file.profiles).every((other) => other === name);
  const current = file.current ?? (isFirst ? name : undefined);
  const profiles = { ...file.profiles, [name]: profile };
  writeProfileFile({ path: file.path, profiles, ...(current !== undefined && { current }) });
  note(
    `The key works${organization === null ? '' : ` for ${organization}`}. Added profile ${name} for ${url}.`,
  );
  note(
    current === name
      ? 'It is now the default profile. Next: crm list contacts'
      : `Next: crm list contacts --profile ${name}\n      crm profile use ${name}   (to use it by default)`,
  );
}

function refuseExisting({ profiles, path }: ProfileFile, name: string, { apiKeyFile }: GlobalOptions): void {
  if (Object.hasOwn(profiles, name))
    throw new CliError(`A profile named ${name} exists already.`, {
      nextSteps: ['choose another name, or add --force to replace it.'],
    });
  const stored = keyFileOf(name).path;
  if (apiKeyFile !== undefined || kindAt(stored) === 'nothing') return;
  throw new CliError(`${stored} exists already, but ${path} has no profile ${name}.`, {
    nextSteps: ['remove the file, choose another name, or add --force to replace it.'],
  });
}

async function givenKey(name: string): Promise<string> {
  const key = (canAsk() ? await askSecret('API key (not shown): ') : await readInputText('-')).trim();
  if (key !== '') return key;
  throw new CliError('No API key given.', {
    exitCode: EXIT.auth,
    nextSteps: [
      `issue one: crm keys issue --org NAME --all-scopes | crm profile add ${name}`,
      'or name a file that has one: add --api-key-file FILE.',
    ],
  });
}

function profileOf(url: string, { apiKeyFile, db, output }: GlobalOptions, stored: string): Profile {
  return {
    url,
    api_key_file: apiKeyFile === undefined ? stored : resolve(apiKeyFile),
    ...(db !== undefined && { db: isDatabaseAddress(db) ? db : resolve(db) }),
    ...(output !== undefined && { output }),
  };
}
