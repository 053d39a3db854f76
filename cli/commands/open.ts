// `crm open`: shows the docs page of the server, or the address of a record, in the browser.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const HELP = `
The browser is the one of your system, or the command in BROWSER. Without a terminal and without BROWSER, the address is
printed and nothing is opened.

Examples:
  crm open
  crm open deals ID
  crm open --print`;

/** Adds `crm open`. */
export function registerOpenCommand(program: Command): void {
  program
    .command('open')
    .summary('Open the docs page, or a record, in the browser')
    .description('Open the docs page of the server, or the address of a record, in the browser')
    .argument('[resource]', 'One of contacts, companies, deals, …')
    .argument('[id]', 'ID of the record')
    .option('--print', 'Print the address, and open nothing')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('../browser/open.ts')).runOpen));
}
