// `crm version`: which build this is.
import type { Command } from 'commander';
import { environment, type GlobalOptions } from '../settings/config.ts';
import { writeOut } from '../terminal/streams.ts';
import { COMMIT, VERSION, versionLine } from '../version.ts';

/** Adds `crm version`. */
export function registerVersionCommand(program: Command): void {
  program
    .command('version')
    .summary('print version, commit and Bun version')
    .description('Print version, commit and Bun version; as an object with -o json.')
    .action(async (_options: unknown, command: Command) => {
      // Not resolveConfig: a broken profile file must not keep anyone from learning the version.
      const options: GlobalOptions = command.optsWithGlobals();
      const output = options.output ?? environment('CRM_OUTPUT');
      const isJson = output === 'json' || output === 'ndjson';
      const record = { version: VERSION, commit: COMMIT, bun: Bun.version };
      await writeOut(`${isJson ? JSON.stringify(record) : versionLine()}\n`);
    });
}
