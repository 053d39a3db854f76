// `crm quickstart`: the whole journey on a temporary database, from an empty folder to exported records.
import type { Command } from 'commander';
import type { QuickstartFlags } from '../quickstart/run.ts';
import { resolveConfig } from '../settings/config.ts';

/** Adds `crm quickstart`. */
export function registerQuickstartCommand(program: Command): void {
  program
    .command('quickstart')
    .summary('See everything work, on a temporary database')
    .description(
      'Create a temporary database with an organization and API keys, serve it, import demo data, read it with both API ' +
        'versions, export it, and keep serving until Ctrl-C. Nothing else is changed. With --db postgres://… the ' +
        'organization is added to that database.',
    )
    .option('--exit', 'Exit after the summary and remove the database, unless you set --db')
    .option('--keep', 'With --exit: keep the database')
    .addHelpText('after', '\nExamples:\n  crm quickstart\n  crm quickstart --exit -o json')
    .action(async (_options: unknown, command: Command) => {
      const { runQuickstart } = await import('../quickstart/run.ts');
      await runQuickstart(command.optsWithGlobals<QuickstartFlags>(), resolveConfig(command));
    });
}
