// `crm watch`: follows the changes of an organization.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const EXAMPLES = `
Examples:
  crm watch
  crm watch deals contacts --since 1h
  crm watch --cursor-file changes.cursor --exec './on-change.sh'

See "crm help watch".`;

/** Adds `crm watch`. */
export function registerWatchCommand(program: Command): void {
  program
    .command('watch')
    .summary('Follow changes as they happen')
    .description('Print each change as it happens, or run a command for it. Times are in UTC.')
    .argument('[resource...]', 'Only changes of these: contacts, companies, deals, … (default: all)')
    .option('--since <time>', 'Where to begin: now, oldest, a duration like 1h, or a time (default: now)')
    .option('--exec <command>', 'Run a shell command for each change, which it reads as JSON on stdin')
    .option(
      '--cursor-file <file>',
      'Remember the position in a file, and continue there in the next run; then --since is ignored',
    )
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../follow/watch.ts')).runWatch));
}
