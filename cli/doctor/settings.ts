// Checks the settings: where each comes from, and whether the API key is private.

import { statSync } from 'node:fs';
import { databaseLabel } from '../../db/store.ts';
import type { Config } from '../settings/config.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** One finding for each setting. */
export function checkSettings(config: Config): Finding[] {
  return config.sources.map(({ name, value, from }) => {
    if (name === 'API key') return checkKeySource(value, from);
    const shown = name === 'db' ? databaseLabel(value) : value;
    return ok(name, from === 'default' ? `${shown} (default)` : `${shown} (from ${from})`);
  });
}

function checkKeySource(value: string, from: string): Finding {
  const check = 'API key';
  if (from === 'default') {
    const next = 'issue one and set it: export CRM_API_KEY=$(crm keys issue --org NAME --all-scopes)';
    return warn(check, 'not set; data commands need one', next);
  }
  if (from === 'CRM_API_KEY') return ok(check, `set (from ${from})`);
  const found = `in the file ${value} (from ${from})`;
  const file = statSync(value, { throwIfNoEntry: false });
  if (file === undefined)
    return fail(
      check,
      `${found}, which does not exist`,
      'write the key to this file, or choose another file.',
    );
  // Windows does not have these modes.
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0)
    return warn(check, `${found}, which other users can read`, `run: chmod 600 ${shellWord(value)}`);
  return ok(check, found);
}
