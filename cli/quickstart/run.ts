// Carries out `crm quickstart`: serves a demo database, and runs the journey on it.

import { isDatabaseAddress } from '../../db/database-address.ts';
import { CliError, EXIT } from '../errors.ts';
import { type Config, type GlobalOptions, isColored } from '../settings/config.ts';
import { stopRequested } from '../terminal/interrupt.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { stderr } from '../terminal/streams.ts';
import { startDemo } from './demo.ts';
import { runJourney } from './journey.ts';
import { createScreen } from './screen.ts';
import { chooseDemoPlace, removeDemoPlace } from './setup.ts';
import { printNextSteps, printRemoval, statsJson, summarize } from './summary.ts';

export interface QuickstartFlags extends GlobalOptions {
  exit?: boolean;
  keep?: boolean;
}

/** Runs the journey, and serves the demo database until Ctrl-C unless --exit is given. */
export async function runQuickstart(options: QuickstartFlags, config: Config): Promise<void> {
  // Only the flag counts: a database from the environment or a profile is in use for something else.
  const { db, color } = options;
  const stopped = stopRequested().first;
  const place = chooseDemoPlace(db);
  const isKept = !options.exit || options.keep === true || !place.isThrowAway;
  const screen = createScreen(isColored(stderr, color));
  try {
    const demo = await startDemo(screen, place);
    try {
      const stats = await Promise.race([runJourney(demo), stopped.then(interruption)]);
      summarize(demo, stats, { isServing: !options.exit, isKept });
      await printSummaryJson(config, statsJson(stats, demo));
      if (!options.exit) await stopped;
    } finally {
      await demo.stop();
      if (isDatabaseAddress(place.db)) printRemoval(screen, demo.database);
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
