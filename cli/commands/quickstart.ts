// `crm quickstart`: the whole journey on a throw-away database, from nothing to exported records.
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
    .summary('see everything work, on a throw-away database')
    .description(
      'Make a throw-away database with an organization and keys, serve it, import demo data, read it in both ' +
        'versions, export it, and go on serving until Ctrl-C. Nothing else is touched. With --db postgres://… the ' +
        'organization is made in that database, beside those that it has.',
    )
    .option('--exit', 'end after the summary and remove the database, unless --db names it')
    .option('--keep', 'with --exit: do not remove it')
    .addHelpText('after', '\nExamples:\n  crm quickstart\n  crm quickstart --exit -o json')
    .action((options: Options, command: Command) =>
      // Only the flag counts: a database that the environment or a profile names is in use for something else.
      runQuickstart(options, resolveConfig(command), command.optsWithGlobals<GlobalOptions>()),
    );
}

async function runQuickstart(options: Options, config: Config, { db, color }: GlobalOptions): Promise<void> {
  const { createScreen } = await import('../quickstart/screen.ts');
  const { chooseDemoPlace, removeDemoPlace } = await import('../quickstart/setup.ts');
  const { startDemo } = await import('../quickstart/demo.ts');
  const { runJourney } = await import('../quickstart/journey.ts');
  const { figuresJson, printNextSteps, printRemoval, summarize } = await import('../quickstart/summary.ts');
  const { printSummaryJson } = await import('../terminal/output.ts');
  const stopped = stopRequested().first;
  const place = await chooseDemoPlace(db);
  const isKept = !options.exit || options.keep === true || !place.isThrowAway;
  const screen = createScreen(isColored(process.stderr, color));
  try {
    const demo = await startDemo(screen, place);
    try {
      const figures = await Promise.race([runJourney(demo), stopped.then(interruption)]);
      summarize(demo, figures, { isServing: !options.exit, isKept });
      await printSummaryJson(config, figuresJson(figures, demo));
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
  throw new CliError('Interrupted before the journey was over.', {
    exitCode: EXIT.interrupted,
    nextSteps: ['run it again: crm quickstart'],
  });
}
