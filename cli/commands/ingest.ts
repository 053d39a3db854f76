// `crm ingest`: stores meetings, recordings and bookings, which the API can only read.
import { type Command, Option } from 'commander';
import type { IngestResource } from '../ingest/ingest-file.ts';
import type { IngestFormat } from '../ingest/source.ts';
import { lazyAction } from '../settings/lazy-action.ts';
import { orgOption } from '../settings/options.ts';

const SEE = '\nSee "crm help ingest".';
const EXAMPLES: Readonly<Record<IngestResource, readonly string[]>> = {
  meetings: ['crm ingest meetings calendar.ics', 'crm ingest meetings calendar.ics --owner ada@acme.example'],
  recordings: ['crm ingest recordings calls.json', 'crm ingest recordings call.vtt --meeting ID'],
  bookings: ['crm ingest bookings bookings.json'],
};

/** Adds `crm ingest meetings`, `recordings` and `bookings`. */
export function registerIngestCommand(program: Command): void {
  const ingest = program
    .command('ingest')
    .summary('Store meetings, recordings and bookings')
    .description('Store meetings from calendars, recordings from call recorders and bookings from schedulers')
    .addHelpText('after', SEE);
  addCommand(ingest, 'meetings', ['ics', 'json']).description(
    'Store meetings from an iCalendar or JSON file',
  );
  addCommand(ingest, 'recordings', ['json', 'vtt'])
    .description('Store recordings and their transcripts from a JSON or WebVTT file')
    .option('--meeting <id>', 'ID, short ID or external ID of the recorded meeting');
  addCommand(ingest, 'bookings', ['json']).description(
    'Store bookings from a JSON file, or from webhooks of Cal.com or Calendly',
  );
}

function addCommand(ingest: Command, resource: IngestResource, formats: IngestFormat[]): Command {
  return ingest
    .command(resource)
    .argument('<file>', 'File, or - for standard input')
    .addOption(orgOption())
    .option('--owner <email>', 'Owner of entries whose organizer is not a user')
    .addOption(
      new Option('--format <format>', 'Format of the input (default: from its name)').choices(formats),
    )
    .option('--quiet', 'Print errors only')
    .addHelpText('after', `\nExamples:\n  ${EXAMPLES[resource].join('\n  ')}\n${SEE}`)
    .action(lazyAction(async () => (await import('../ingest/run.ts')).runIngest.bind(null, resource)));
}
