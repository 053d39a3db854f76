// The end of quickstart: what was done, with figures, and what to try next.
import { removalStatement } from '../../db/maintenance.ts';
import type { Data } from '../../db/model/json.ts';
import { formatCount } from '../terminal/format.ts';
import { programName } from '../terminal/program-name.ts';
import { shellWord } from '../terminal/text.ts';
import type { Demo } from './demo.ts';
import { commandsAfterwards, commandsWhileServing } from './next-commands.ts';
import type { Screen } from './screen.ts';
import type { DemoDatabase, DemoPlace } from './setup.ts';
import { type Measure, pagesLine, perSecond, type QuickstartStats, summaryLines } from './stats.ts';

/** Prints what was done, with the figures, and which commands to try. */
export function summarize(
  { screen, url, database }: Demo,
  stats: QuickstartStats,
  { isServing, isKept }: { isServing: boolean; isKept: boolean },
): void {
  screen.text('');
  screen.heading(`Done in ${stats.seconds.toFixed(1)} s`);
  screen.text(summaryLines(stats).join('\n'));
  screen.prose(pagesLine(stats));
  const requests = formatCount(stats.importRequests);
  screen.prose(`The import made ${requests} requests; the limit of a key is 200 per minute.`);
  screen.text('');
  screen.heading(isServing ? 'Try next, in another terminal:' : 'Try next:');
  const commands = isServing
    ? commandsWhileServing(url, database.keys.v2)
    : commandsAfterwards(isKept ? database.shown : null);
  screen.text(commands.map((command) => `  ${command}`).join('\n'));
  if (!isServing) return;
  screen.text(`\nThe v1 key: ${database.keys.v1}`);
  screen.prose('Both keys are shown only once. Serving until Ctrl-C.');
}

/** The figures and where everything is, as `-o json` prints them. */
export function statsJson(stats: QuickstartStats, { database, url, docsUrl }: Demo): Data {
  const timed = (measure: Measure): Data => ({
    ...measure,
    seconds: rounded(measure.seconds),
    rows_per_second: perSecond(measure.records, measure.seconds),
  });
  const imported = Object.entries(stats.imported).map(([name, measure]) => [name, timed(measure)]);
  return {
    ...{ database: database.shown, url, docs_url: docsUrl },
    organization_id: database.organization.id,
    keys: { v1: database.keys.v1, v2: database.keys.v2 },
    imported: Object.fromEntries(imported),
    links: timed(stats.links),
    ingested: { ...stats.ingested },
    pages: { v2: timed(stats.pages.v2), v1: timed(stats.pages.v1) },
    exported: { ...timed(stats.exported), path: stats.exported.path },
    seconds: rounded(stats.seconds),
  };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** Prints that the server has stopped, and how to start it again. */
export function printNextSteps(screen: Screen, { shown, folder, isThrowAway }: DemoPlace): void {
  screen.text('\nStopped. The database is kept. To serve or remove it:');
  screen.text(`  ${programName()} serve --db ${shellWord(shown)}`);
  if (isThrowAway) screen.text(`  rm -r ${shellWord(folder)}`);
}

/** Prints how to remove the demo organization from a database that may be in use for something else. */
export function printRemoval(screen: Screen, { shown, organization }: DemoDatabase): void {
  screen.text(
    `\nThe organization ${organization.name} is still in the database. To remove it with all its data, except its\naudit log entries:`,
  );
  screen.text(`  psql ${shellWord(shown)} -c '${removalStatement(organization.number)}'`);
}
