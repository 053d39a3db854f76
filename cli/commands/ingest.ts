// `crm ingest`: brings in meetings, recordings and bookings, which the interface itself only reads.
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
    .summary('bring in meetings, recordings and bookings')
    .description(
      'Bring in meetings from calendars, recordings from call recorders, bookings from schedulers.',
    )
    .addHelpText('after', HELP);
  addCommand(ingest, 'meetings', ['ics', 'json']).description(
    'Store the meetings of an iCalendar or JSON file.',
  );
  addCommand(ingest, 'recordings', ['json', 'vtt'])
    .description('Store recordings and their transcripts from a JSON or WebVTT file.')
    .option('--meeting <id>', 'id or external id of the meeting that was recorded');
  addCommand(ingest, 'bookings', ['json']).description(
    'Store the bookings of a JSON file, or of webhooks from Cal.com or Calendly.',
  );
}

function addCommand(ingest: Command, resource: IngestResource, formats: IngestFormat[]): Command {
  return ingest
    .command(resource)
    .argument('<file>', 'a file, or - for standard input')
    .requiredOption('--org <org>', 'name or id of the organization')
    .option('--owner <email>', 'user who owns it if no organizer is a user')
    .addOption(new Option('--format <format>', 'format of the input (default: by its name)').choices(formats))
    .option('--quiet', 'print errors only')
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
  throw new CliError(`${counted(summary.faults.length, 'fault')} in ${name}; what has them was left out.`, {
    exitCode: EXIT.rejectedRows,
    nextSteps: ['correct the lines named above and run the same command again; nothing will be doubled.'],
  });
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
    [ignored, 'of other events left out'],
    [faults.length, faults.length === 1 ? 'fault' : 'faults'],
  ];
  const parts = counts.filter(([count, , isAlways]) => isAlways || count > 0);
  return `${resource}: ${parts.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ')}.`;
}
