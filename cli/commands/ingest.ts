// `crm ingest`: brings in meetings, recordings and bookings, which the interface itself only reads.
import { type Command, Option } from 'commander';
import { CliError, EXIT } from '../errors.ts';
import type { IngestResource, IngestSummary } from '../ingest/ingest-file.ts';
import type { IngestFormat } from '../ingest/source.ts';
import { inputName } from '../input/files.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { printFigures } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';

interface Options {
  org: string;
  owner?: string;
  meeting?: string;
  format?: IngestFormat;
  quiet?: boolean;
}

const COMMON_HELP = `
external_id identifies: ingesting the same one again updates what is given and never doubles. An entry with a fault is
left out, and told with its line; the others are stored, and the command exits with 3.`;

const MEETINGS_HELP = `
Of a series, the 400 days that lie nearest to today become meetings, UID/RECURRENCE-ID each (days as 20260131, times in
UTC): 200 days before and after today, more of one where the series has less of the other. Ingest the calendar again to
move on. Instances that it no longer has are cancelled; an older SEQUENCE changes nothing. Times without a zone are
taken in the calendar's X-WR-TIMEZONE, else in UTC.

A past meeting is logged as an interaction with those of its attendees who are contacts.${COMMON_HELP}

Examples:
  crm ingest meetings calendar.ics --org Acme --owner ada@acme.example
  curl -s https://calendar.example/ada.ics | crm ingest meetings - --org Acme`;

const RECORDINGS_HELP = `
JSON: { external_id, meeting_id or meeting_external_id, title, started_at, duration_seconds, language,
segments: [{ speaker: { name, email }, start_time, end_time, speech }] }, in an array or one a line. "segments" is null
while transcription is in progress, [] when there was no audio. A recording has its meeting's owner.${COMMON_HELP}

Examples:
  crm ingest recordings recordings.json --org Acme
  crm ingest recordings kick-off.vtt --meeting a1b2c3@calendar.example --org Acme`;

const BOOKINGS_HELP = `
JSON, in an array or one a line: the fields of a booking as the service shows them, or the webhooks of Cal.com
(BOOKING_CREATED, BOOKING_RESCHEDULED, BOOKING_CANCELLED) and Calendly (invitee.created, invitee.canceled) as they were
sent; other events are counted and left out. A booking made and one cancelled are logged as interactions.${COMMON_HELP}

Example:
  crm ingest bookings webhooks.ndjson --org Acme`;

/** Adds `crm ingest meetings`, `recordings` and `bookings`. */
export function registerIngestCommand(program: Command): void {
  const ingest = program
    .command('ingest')
    .summary('bring in meetings, recordings and bookings')
    .description(
      'Bring in meetings from calendars, recordings from call recorders, bookings from schedulers.',
    );
  addCommand(ingest, 'meetings', ['ics', 'json'], MEETINGS_HELP).description(
    'Store the meetings of an iCalendar or JSON file.',
  );
  addCommand(ingest, 'recordings', ['json', 'vtt'], RECORDINGS_HELP)
    .description('Store recordings and their transcripts from a JSON or WebVTT file.')
    .option('--meeting <id>', 'id or external id of the meeting that was recorded');
  addCommand(ingest, 'bookings', ['json'], BOOKINGS_HELP).description(
    'Store the bookings of a JSON file, or what webhooks tell of them.',
  );
}

function addCommand(
  ingest: Command,
  resource: IngestResource,
  formats: IngestFormat[],
  help: string,
): Command {
  return ingest
    .command(resource)
    .argument('<file>', 'a file, or - for standard input')
    .requiredOption('--org <org>', 'name or id of the organization')
    .option('--owner <email>', 'user who owns what has no organizer who is a user')
    .addOption(new Option('--format <format>', 'of the input (default: by its name)').choices(formats))
    .option('--quiet', 'say nothing but errors')
    .addHelpText('after', help)
    .action((file: string, options: Options, command: Command) =>
      run(resource, file, options, resolveConfig(command)),
    );
}

async function run(resource: IngestResource, file: string, options: Options, config: Config): Promise<void> {
  const { runIngest } = await import('../ingest/ingest-file.ts');
  const summary = await runIngest({ ...options, resource, file, db: config.db });
  await printFigures(config, summary);
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
