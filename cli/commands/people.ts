// `crm people`: what an organization has of a person is handed out, or erased.
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
The person is the contact with that address, primary or alternative, in whatever case, and all its other addresses. In the
document are the contact; every record that refers or is linked to it, or mentions one of the addresses anywhere, and in
which fields; the person's entry in meetings and bookings, and what the person said in recordings. Of other people there is only how many.

Every record of the organization is read for that. A server beside goes on meanwhile.

Examples:
  crm people export ada@example.com --org "Acme Inc" --out ada.json`;

const ERASE_HELP = `
What is about the person alone goes: the contact with its links and memberships, interactions that involve no other contact,
notes about nobody else, tasks that are for no company or deal, bookings without other guests. What is about others too stays
without the person: references and links go, "[erased]" stands where an address stood, an attendee has no name and no address,
and what the person said in a recording is taken out of its transcript. Answers stored for Idempotency-Key that tell of the
person go too. Then what the file still has of it, in pages that are free and in its log, is written over, and all is read
once more: if an address is left in a row, in the file or its log, or in PostgreSQL's statistics, it is told where, with exit
code 1.

An address is found in any case and as a URL has it, whatever stands around it, in texts, in keys and values of custom fields
and in names. Beside "-" or "_" it may be the end of a longer one (mary-ada@example.com): it is erased, and told.

A text that names the person without an address cannot be found: what is left of that which had to do with the person is listed,
to be looked at. Backups have everything until they go themselves; of a restored one "crm restore" says whom to erase again.

Examples:
  crm people erase ada@example.com --org "Acme Inc" --dry-run
  crm people erase ada@example.com --org "Acme Inc" --confirm`;

const SHOWN_MAX = 20;

/** Adds `crm people export` and `erase`. */
export function registerPeopleCommand(program: Command): void {
  const people = program
    .command('people')
    .summary('hand out or erase what there is of a person')
    .description('What an organization has of a person, over all resources.');
  people
    .command('export')
    .description('Write all that an organization has of a person as one JSON document.')
    .argument('<email>', 'address of the person')
    .requiredOption('--org <org>', 'name or id of the organization')
    .option('--out <file>', 'file to write, readable by its owner alone; stdout unless given')
    .option('--force', 'write over a file that is there already')
    .option('--quiet', 'say nothing but errors')
    .addHelpText('after', EXPORT_HELP)
    .action((email: string, options: ExportOptions, command: Command) =>
      runPeopleExport(resolveConfig(command).db, email, options),
    );
  people
    .command('erase')
    .description('Erase a person from an organization.')
    .argument('<email>', 'address of the person')
    .requiredOption('--org <org>', 'name or id of the organization')
    .option('--confirm', 'really erase')
    .option('--dry-run', 'tell what would be erased, and write nothing')
    .option('--quiet', 'say nothing but errors')
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
  throw new CliError(`${counted(summary.left.length, 'place')} left with an address of the person.`, {
    nextSteps: nextStepsFor(summary.left, summary.organization),
  });
}

function tell(summary: EraseSummary, config: Config): void {
  tellCounts(summary);
  tellRest(summary);
  if (summary.dry_run) return;
  if (isDatabaseAddress(config.db)) {
    note(
      'PostgreSQL keeps former rows until they are vacuumed (VACUUM FULL rewrites tables), and its log, archives, dumps and ' +
        'standbys until these go.',
    );
  }
  if (summary.left.length === 0) {
    const where = isDatabaseAddress(config.db)
      ? 'any row or statistics'
      : 'the file or its log, nor in a backup made now';
    note(`No address of the person is left in ${where}.`);
    return;
  }
  note('An address of the person is left in:');
  for (const one of summary.left.slice(0, SHOWN_MAX)) note(`  ${describePlace(one)}`);
  if (summary.left.length > SHOWN_MAX)
    note(`  … and ${summary.left.length - SHOWN_MAX} more: -o json lists all`);
}

function tellCounts({
  resources,
  transcripts,
  stored_answers: answers,
  dry_run: isDryRun,
}: EraseSummary): void {
  note(isDryRun ? 'Nothing was written. It would be:' : 'Erased:');
  for (const [name, { deleted, changed, unlinked }] of Object.entries(resources))
    note(`  ${name}: ${deleted} deleted, ${changed} changed, ${unlinked} unlinked`);
  note(`  transcripts: ${transcripts} changed`);
  note(`  stored answers: ${answers} deleted`);
}

function tellRest({ to_look_at: rest, users, backups }: EraseSummary): void {
  if (rest.length > 0) {
    note(
      `Texts that name the person without an address cannot be found; ${counted(rest.length, 'record')} to look at:`,
    );
    for (const one of rest.slice(0, SHOWN_MAX)) note(`  crm get ${one.resource} ${one.id}${matchedIn(one)}`);
    if (rest.length > SHOWN_MAX) note(`  … and ${rest.length - SHOWN_MAX} more: -o json lists all`);
  }
  for (const { id, email } of users)
    note(`The user ${email} (${id}) is an account of crm, not a contact, and stays.`);
  if (backups.length === 0) return;
  note('Backups that have the person until --keep or you remove them:');
  for (const { file, written_at: at } of backups) note(`  ${shellWord(file)} (${at})`);
}

function matchedIn({ fields, doubtful_fields: doubtful }: EraseSummary['to_look_at'][number]): string {
  if (fields.length === 0) return '';
  const doubt =
    doubtful.length === 0 ? '' : `; in ${doubtful.join(', ')} perhaps a part of another, beside "-" or "_"`;
  return ` (an address in ${fields.join(', ')}${doubt})`;
}
