// `crm quickstart`: the whole journey on a temporary database, from an empty folder to exported records.
import type { Command } from 'commander';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { CliError, EXIT } from '../errors.ts';
import { type Config, type GlobalOptions, isColored, resolveConfig } from '../settings/config.ts';
import { stopRequested } from '../terminal/interrupt.ts';

interface Options {
  exit?: boolean;
  keep?: boolean;
}

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
    .action((options: Options, command: Command) =>
      // Only the flag counts: a database from the environment or a profile is in use for something else.
      runQuickstart(options, resolveConfig(command), command.optsWithGlobals<GlobalOptions>()),
    );
}

async function runQuickstart(options: Options, config: Config, { db, color }: GlobalOptions): Promise<void> {
  const { createScreen } = await import('../quickstart/screen.ts');
  const { chooseDemoPlace, removeDemoPlace } = await import('../quickstart/setup.ts');
  const { startDemo } = await import('../quickstart/demo.ts');
  const { runJourney } = await import('../quickstart/journey.ts');
  const { statsJson, printNextSteps, printRemoval, summarize } = await import('../quickstart/summary.ts');
  const { printSummaryJson } = await import('../terminal/output.ts');
  const stopped = stopRequested().first;
  const place = await chooseDemoPlace(db);
  const isKept = !options.exit || options.keep === true || !place.isThrowAway;
  const screen = createScreen(isColored(process.stderr, color));
  try {
    const demo = await startDemo(screen, place);
    try {
      const stats = await Promise.race([runJourney(demo), stopped.then(interruption)]);
      summarize(demo, stats, { isServing: !options.exit, isKept });
      await printSummaryJson(config, statsJson(stats, demo));
      if (!options.exit) await stopped;
    } finally {
      await demo.stop();
      if (isDatabaseAddress(place.db)) await printRemoval(screen, demo.database);
    }
    if (!options.exit) printNextSteps(screen, place);
  } finally {
    if (!isKept || isDatabaseAddress(place.db)) await removeDemoPlace(place);
  }
}

function interruption(): never {
  throw new CliError('Interrupted before quickstart finished.', {
    exitCode: EXIT.interrupted,
    nextSteps: ['run it again: crm quickstart'],
  });
}
