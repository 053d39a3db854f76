// `crm audit list`: what operators and keys did, newest first.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { limitOption } from '../settings/options.ts';

/** Adds `crm audit list`. */
export function registerAuditCommand(program: Command): void {
  const audit = program
    .command('audit')
    .summary('Show who did what')
    .description('Show the audit log: who did what, when and from where. Entries are never changed.');
  audit
    .command('list')
    .description('List audit log entries, newest first')
    .option('--org <org>', 'Only entries of this organization (name or ID)')
    .option('--since <when>', 'Only entries since a date or time, or of the last 7d, 12h, …')
    .option('--action <action>', 'Only entries with this action, such as key.issued or record.deleted')
    .option('--actor <actor>', 'Only entries by this key (ID), user (ID) or operator (user@host)')
    .addOption(limitOption('entries', 100))
    .option('--all', 'List all entries')
    .addHelpText(
      'after',
      '\nExamples:\n  crm audit list --since 7d\n  crm audit list --org Example --action record.deleted -o csv --all',
    )
    .action(lazyAction(async () => (await import('../database/list-audit.ts')).runAuditList));
}
