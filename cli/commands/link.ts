// `crm link` and `crm unlink`: connect records through sub-resources and associations.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

const LINK_EXAMPLES = `
Examples:
  crm link deals/ID/contacts CONTACT supervisor=CONTACT
  crm link notes/ID/records CHILD record_type=company
  crm link segments/ID/members CHILD
  crm link meetings/ID/deal DEAL
  crm link contacts/ID/external_ids salesforce:003Hs00004kXyZ1IAK`;

const UNLINK_EXAMPLES = `
Examples:
  crm unlink deals/ID/contacts CONTACT
  crm unlink meetings/ID/deal
  crm unlink contacts/ID/external_ids salesforce`;

/** Adds `crm link`. */
export function registerLinkCommand(program: Command): void {
  program
    .command('link')
    .summary('Link a record to another, or add an external ID')
    .description(
      'Link a record to another, or add an external ID (its ID in another system). If the link or the ID exists, nothing changes.',
    )
    .argument('<target>', 'Such as deals/ID/contacts, notes/ID/records or meetings/ID/deal')
    .argument('<child>', 'ID of the record to link; for external_ids, SOURCE:ID')
    .argument('[field=value...]', 'Fields of the link, such as supervisor or record_type')
    .addOption(dryRunOption())
    .addHelpText('after', LINK_EXAMPLES)
    .action(lazyAction(async () => (await import('../records/link.ts')).runLink));
}

/** Adds `crm unlink`. */
export function registerUnlinkCommand(program: Command): void {
  program
    .command('unlink')
    .summary('Remove a link')
    .description(
      'Remove a link, the association of a meeting, or an external ID. The records themselves are kept.',
    )
    .argument('<target>', 'Such as deals/ID/contacts or meetings/ID/deal')
    .argument('[child]', 'ID of the linked record; for external_ids, the source; none for an association')
    .addOption(dryRunOption())
    .addHelpText('after', UNLINK_EXAMPLES)
    .action(lazyAction(async () => (await import('../records/link.ts')).runUnlink));
}
