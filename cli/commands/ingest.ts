// `crm ingest`: stores meetings, recordings and bookings, which the API can only read.
import { type Command, Option } from 'commander';
import { CliError, EXIT } from '../errors.ts';
import type { IngestResource, IngestSummary } from '../ingest/ingest-file.ts';
import type { IngestFormat } from '../ingest/source.ts';
import { inputName } from '../input/files.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';

interface Options {
  org: string;
  owner?: string;
  meeting?: string;
  format?: IngestFormat;
  quiet?: boolean;
}

const HELP = '\nSee "crm help ingest".';

/** Adds `crm ingest meetings`, `recordings` and `bookings`. */
export function registerIngestCommand(program: Command): void {
  const ingest = program
    .command('ingest')
    .summary('Store meetings, recordings and bookings')
    .description('Store meetings from calendars, recordings from call recorders and bookings from schedulers')
    .addHelpText('after', HELP);
  addCommand(ingest, 'meetings', ['ics', 'json']).description(
    'Store meetings from an iCalendar or JSON file',
  );
  addCommand(ingest, 'recordings', ['json', 'vtt'])
    .description('Store recordings and their transcripts from a JSON or WebVTT file')
    .option('--meeting <id>', 'ID or external ID of the recorded meeting');
  addCommand(ingest, 'bookings', ['json']).description(
    'Store bookings from a JSON file, or from webhooks of Cal.com or Calendly',
  );
}

function addCommand(ingest: Command, resource: IngestResource, formats: IngestFormat[]): Command {
  return ingest
    .command(resource)
    .argument('<file>', 'File, or - for standard input')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .option('--owner <email>', 'Owner of entries whose organizer is not a user')
    .addOption(
      new Option('--format <format>', 'Format of the input (default: from its name)').choices(formats),
    )
    .option('--quiet', 'Print errors only')
    .addHelpText('after', HELP)
    .action((file: string, options: Options, command: Command) =>
      run(resource, file, options, resolveConfig(command)),
    );
}

async function run(resource: IngestResource, file: string, options: Options, config: Config): Promise<void> {
  const { runIngest } = await import('../ingest/ingest-file.ts');
  const summary = await runIngest({ ...options, resource, file, db: config.db });
  await printSummaryJson(config, summary);
  const name = inputName(file);
  const told = options.quiet ? summary.faults : [...summary.notices, ...summary.faults];
  for (const { line, message } of told) note(neutralizeLine(`${name}:${line}: ${message}`));
  if (!options.quiet) note(sentence(summary));
  if (summary.faults.length === 0) return;
  throw new CliError(
    `Skipped ${counted(summary.faults.length, 'invalid entry', 'invalid entries')} in ${name}.`,
    {
      exitCode: EXIT.rejectedRows,
      nextSteps: ['correct the lines named above and run the same command again; no duplicates are created.'],
    },
  );
}

function sentence({
  resource,
  created,
  updated,
  unchanged,
  cancelled,
  ignored,
  faults,
}: IngestSummary): string {
  const counts: [number, string, isAlways?: boolean][] = [
    [created, 'created', true],
    [updated, 'updated', true],
    [unchanged, 'unchanged', true],
    [cancelled, 'cancelled'],
    [ignored, ignored === 1 ? 'other event skipped' : 'other events skipped'],
    [faults.length, faults.length === 1 ? 'invalid entry' : 'invalid entries'],
  ];
  const parts = counts.filter(([count, , isAlways]) => isAlways || count > 0);
  return `${resource}: ${parts.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ')}.`;
}
