// The end of quickstart: what was done, in figures, and what to try next.
import type { Config } from '../config.ts';
import { writeOut } from '../io.ts';
import { jsonText } from '../output.ts';
import { formatCount } from '../progress.ts';
import { shellWord } from '../text.ts';
import type { Demo } from './demo.ts';
import { type Figures, figuresJson, importRequests, pagesLine, summaryLines } from './figures.ts';
import { commandsAfterwards, commandsWhileServing, programName } from './next-commands.ts';
import type { Screen } from './screen.ts';
import type { Place } from './setup.ts';

/** Says what was done, with the figures, and which commands to try. */
export function summarize(
  { screen, url, database }: Demo,
  figures: Figures,
  { isServing, isKept }: { isServing: boolean; isKept: boolean },
): void {
  screen.text('');
  screen.heading(`Done in ${figures.seconds.toFixed(1)} s`);
  screen.text(summaryLines(figures).join('\n'));
  screen.prose(pagesLine(figures));
  const requests = formatCount(importRequests(figures));
  screen.prose(`The import made ${requests} requests; a key may make 200 a minute.`);
  screen.text('');
  screen.heading(isServing ? 'Try next, in another terminal:' : 'Try next:');
  const commands = isServing
    ? commandsWhileServing(url, database.keys.v2)
    : commandsAfterwards(isKept ? database.path : null);
  screen.text(commands.map((command) => `  ${command}`).join('\n'));
  if (!isServing) return;
  screen.text(`\nThe key of v1: ${database.keys.v1}`);
  screen.prose('Both keys are shown this once. Serving until Ctrl-C.');
}

/** Prints the figures on stdout where JSON was asked for. */
export async function printFigures(config: Config, demo: Demo, figures: Figures): Promise<void> {
  if (!config.isOutputGiven || (config.output !== 'json' && config.output !== 'ndjson')) return;
  const indent = config.output === 'json' ? 2 : undefined;
  await writeOut(`${jsonText(figuresJson(figures, demo), indent)}\n`);
}

/** Says that the server has ended, and how to get it back. */
export function sayGoodbye(screen: Screen, { path, folder }: Place): void {
  screen.text('\nStopped. The database is still there:');
  screen.text(`  ${programName()} serve --db ${shellWord(path)}`);
  if (folder !== null) screen.text(`  rm -r ${shellWord(folder)}`);
}
