// `crm people`: exports or erases all data that an organization stores about a person.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { orgOption } from '../settings/options.ts';

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

Emails are found regardless of case, and URL-encoded, in texts, in keys and values of custom fields, and in names. If "-" or
"_" comes before or after, it may be part of a longer email (mary-ada@example.com): it is erased, and reported.

Texts that name the person without an email cannot be found. For review, crm lists the remaining records that had to do with
the person. Backups keep everything until you remove them. "crm restore" tells you whom to erase again.

Examples:
  crm people erase ada@example.com --org "Acme Inc" --dry-run
  crm people erase ada@example.com --org "Acme Inc" --confirm`;

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
    .addOption(orgOption())
    .option('--out <file>', 'File to write, readable only by its owner (default: -, which is stdout)')
    .option('--force', 'Overwrite an existing file')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', EXPORT_HELP)
    .action(lazyAction(async () => (await import('../people/export-person.ts')).runPeopleExport));
  people
    .command('erase')
    .description('Erase all data about a person from an organization')
    .argument('<email>', 'Email of the person')
    .addOption(orgOption())
    .option('--confirm', 'Confirm that you want to erase the data')
    .option('--dry-run', 'Show what would be erased, and write nothing')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', ERASE_HELP)
    .action(lazyAction(async () => (await import('../people/run-erase.ts')).runPeopleErase));
}
