// `crm people`: exports or erases all data that an organization stores about a person.
import type { Command } from 'commander';
import { isDatabaseAddress } from '../../db/database-address.ts';

import { CliError } from '../errors.ts';
import { type EraseOptions, type EraseSummary, erase } from '../people/erase-person.ts';
import { describePlace, nextStepsFor } from '../people/erasure-check.ts';
import { type ExportOptions, runPeopleExport } from '../people/export-person.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const EXPORT_HELP = `
The person is the contact with this email, as primary or alternative email, in upper or lower case; all other emails of the
contact count too. The document contains the contact; every record that refers to it, is linked to it or mentions one of
its emails, and in which fields; the person's entries in meetings and bookings, and what the person said in recordings. Of
other people it contains only their number.

The command reads every record of the organization. A running server keeps working in the meantime.

Examples:
  crm people export ada@example.com --org "Acme Inc" --out ada.json`;

const ERASE_HELP = `
Erasing deletes what is about this person alone: the contact with its links and memberships, interactions without another
contact, notes about nobody else, tasks without a company or deal, and bookings without other guests. Records that are also
about others are kept without the person: references and links are removed, "[erased]" replaces emails in texts, attendees
lose their name and email, and the person's words are removed from transcripts. Stored responses to an Idempotency-Key that
mention the person are deleted. Then crm overwrites the free pages and the log of the database file, and reads everything
again. If an email is still in a row, in the file or its log, or in PostgreSQL's statistics, crm tells you where and exits
with 1.

Emails are found in any case and in URL encoding, in texts, in keys and values of custom fields, and in names. If "-" or "_"
comes before or after, it may be part of a longer email (mary-ada@example.com): it is erased, and reported.

Texts that name the person without an email cannot be found. For review, crm lists the remaining records that had to do with
the person. Backups keep everything until you remove them. "crm restore" tells you whom to erase again.

Examples:
  crm people erase ada@example.com --org "Acme Inc" --dry-run
  crm people erase ada@example.com --org "Acme Inc" --confirm`;

const SHOWN_MAX = 20;

/** Adds `crm people export` and `erase`. */
export function registerPeopleCommand(program: Command): void {
  const people = program
    .command('people')
    .summary('Export or erase all data about a person')
    .description('Export or erase all data that an organization stores about a person');
  people
    .command('export')
    .description('Export all data about a person as one JSON document')
    .argument('<email>', 'Email of the person')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .option('--out <file>', 'File to write, readable only by its owner (default: stdout)')
    .option('--force', 'Overwrite an existing file')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', EXPORT_HELP)
    .action((email: string, options: ExportOptions, command: Command) =>
      runPeopleExport(resolveConfig(command).db, email, options),
    );
  people
    .command('erase')
    .description('Erase all data about a person from an organization')
    .argument('<email>', 'Email of the person')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .option('--confirm', 'Confirm that you want to erase the data')
    .option('--dry-run', 'Show what would be erased, and write nothing')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', ERASE_HELP)
    .action((email: string, options: EraseOptions, command: Command) =>
      runErase(email, options, resolveConfig(command)),
    );
}

async function runErase(email: string, options: EraseOptions, config: Config): Promise<void> {
  const summary = await erase(config.db, email, options);
  await printSummaryJson(config, summary);
  if (!options.quiet) tell(summary, config);
  if (summary.left.length === 0) return;
  throw new CliError(`An email of the person is still in ${counted(summary.left.length, 'place')}.`, {
    nextSteps: nextStepsFor(summary.left, summary.organization),
  });
}

function tell(summary: EraseSummary, config: Config): void {
  tellCounts(summary);
  tellRest(summary);
  if (summary.dry_run) return;
  if (isDatabaseAddress(config.db)) {
    note(
      'PostgreSQL keeps deleted rows until VACUUM removes them (VACUUM FULL rewrites tables). Its WAL, archives, dumps and ' +
        'standbys keep them until you remove those.',
    );
  }
  if (summary.left.length === 0) {
    const where = isDatabaseAddress(config.db)
      ? 'any row, nor in the statistics'
      : 'the file or its log, nor in a new backup';
    note(`No email of the person is left in ${where}.`);
    return;
  }
  note('An email of the person is still in:');
  for (const one of summary.left.slice(0, SHOWN_MAX)) note(`  ${describePlace(one)}`);
  if (summary.left.length > SHOWN_MAX)
    note(`  … and ${summary.left.length - SHOWN_MAX} more. To list all, use -o json`);
}

function tellCounts({
  resources,
  transcripts,
  stored_answers: answers,
  dry_run: isDryRun,
}: EraseSummary): void {
  note(isDryRun ? 'Nothing was written. This would be erased:' : 'Erased:');
  for (const [name, { deleted, changed, unlinked }] of Object.entries(resources))
    note(`  ${name}: ${deleted} deleted, ${changed} changed, ${unlinked} unlinked`);
  note(`  transcripts: ${transcripts} changed`);
  note(`  stored responses: ${answers} deleted`);
}

function tellRest({ to_look_at: rest, users, backups }: EraseSummary): void {
  if (rest.length > 0) {
    note(
      `Texts that name the person without an email cannot be found. Review ${counted(rest.length, 'record')}:`,
    );
    for (const one of rest.slice(0, SHOWN_MAX)) note(`  crm get ${one.resource} ${one.id}${matchedIn(one)}`);
    if (rest.length > SHOWN_MAX) note(`  … and ${rest.length - SHOWN_MAX} more. To list all, use -o json`);
  }
  for (const { id, email } of users)
    note(`The user ${email} (${id}) is a crm account, not a contact, and is kept.`);
  if (backups.length === 0) return;
  note('Backups that contain the person until --keep or you remove them:');
  for (const { file, written_at: at } of backups) note(`  ${shellWord(file)} (${at})`);
}

function matchedIn({ fields, doubtful_fields: doubtful }: EraseSummary['to_look_at'][number]): string {
  if (fields.length === 0) return '';
  const doubt =
    doubtful.length === 0
      ? ''
      : `; in ${doubtful.join(', ')} maybe part of another email, next to "-" or "_"`;
  return ` (an email in ${fields.join(', ')}${doubt})`;
}
