// `--debug` and CRM_DEBUG: enables debug output, and prints where each setting comes from.
import type { Command } from 'commander';
import { debug, startDebugging } from '../terminal/debug.ts';
import { VERSION } from '../version.ts';
import { type GlobalOptions, resolveConfig, type SettingSource } from './config.ts';
import { environment } from './environment.ts';

const OFF = ['0', 'false', 'no', 'off'];

/** Enables debug output for a command if requested, before the command runs. */
export async function debugIfAsked(command: Command): Promise<void> {
  const { debug: isAsked } = command.optsWithGlobals<GlobalOptions>();
  const variable = environment('CRM_DEBUG')?.toLowerCase();
  if (!isAsked && (variable === undefined || OFF.includes(variable))) return;
  startDebugging();
  const { databaseLabel } = await import('../../db/store.ts');
  const lines = sourcesOf(command).map(({ name, value, from }) => {
    const shown = name === 'db' ? databaseLabel(value) : value;
    return `${name}: ${shown} (${from === 'default' ? from : `from ${from}`})`;
  });
  debug([`crm ${VERSION} on ${process.platform} ${process.arch}`, ...lines].join('\n'));
}

// The command itself reports invalid settings, if it needs any.
function sourcesOf(command: Command): readonly SettingSource[] {
  try {
    return resolveConfig(command).sources;
  } catch {
    return [];
  }
}
