// `crm browse`: looks through records on a terminal, and changes them.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const EXAMPLES = `
Examples:
  crm browse
  crm browse deals

Keys: arrows, PageUp and PageDown move, Enter opens, Esc goes back, / filters, s sorts, e edits a field,
r reloads, q quits. See "crm help browse".`;

/** Adds `crm browse`. */
export function registerBrowseCommand(program: Command): void {
  program
    .command('browse')
    .summary('Look through records on a terminal')
    .description(
      'Look through the records of a resource on a terminal: scroll, filter, sort, follow links, edit a field',
    )
    .argument('[resource]', 'One of contacts, companies, deals, … (default: choose from a list)')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../browse/run.ts')).runBrowse));
}
