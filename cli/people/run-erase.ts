// Carries out `crm people erase`, and says what it did.
import { isDatabaseAddress } from '../../db/database-address.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { type EraseOptions, type EraseSummary, erase } from './erase-person.ts';
import { describePlace, nextStepsFor } from './erasure-check.ts';

const SHOWN_MAX = 20;

/** Erases a person, tells what was done and what is left, and throws if anything is. */
export async function runPeopleErase(email: string, options: EraseOptions, config: Config): Promise<void> {
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
  tellFirst(summary.left, describePlace);
}

function tellFirst<T>(all: readonly T[], inWords: (one: T) => string): void {
  for (const one of all.slice(0, SHOWN_MAX)) note(`  ${inWords(one)}`);
  if (all.length > SHOWN_MAX) note(`  … and ${all.length - SHOWN_MAX} more. To list all, use -o json`);
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
    tellFirst(rest, (one) => `crm get ${one.resource} ${one.id}${matchedIn(one)}`);
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
