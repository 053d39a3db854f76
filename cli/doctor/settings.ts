// Looks at the settings: where each comes from, and whether the key is kept to oneself.
import { statSync } from 'node:fs';
import type { Config } from '../settings/config.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** A finding for each setting. */
export async function checkSettings(config: Config): Promise<Finding[]> {
  const { databaseLabel } = await import('../../db/store.ts');
  return config.sources.map(({ name, value, from }) => {
    if (name === 'API key') return checkKeySource(value, from);
    const shown = name === 'db' ? databaseLabel(value) : value;
    return ok(name, from === 'default' ? `${shown} (default)` : `${shown} (from ${from})`);
  });
}

function checkKeySource(value: string, from: string): Finding {
  const check = 'API key';
  if (from === 'default') {
    const next = 'issue one and keep it: export CRM_API_KEY=$(crm keys issue --org NAME --all-scopes)';
    return warn(check, 'there is none, and data commands need one', next);
  }
  if (from === 'CRM_API_KEY') return ok(check, `given (from ${from})`);
  const found = `in the file ${value} (from ${from})`;
  const file = statSync(value, { throwIfNoEntry: false });
  if (file === undefined)
    return fail(check, `${found}, which is not there`, 'name another file, or write the key to it.');
  // Windows has no such modes.
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0)
    return warn(check, `${found}, which others can read`, `run: chmod 600 ${shellWord(value)}`);
  return ok(check, found);
}
