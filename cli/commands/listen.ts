// `crm listen`: webhooks for a program that is being written.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { collect } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm listen
  crm listen --forward localhost:3000/hooks
  crm listen --forward localhost:3000/hooks --events 'deals.*,contacts.created'

See "crm help receive-webhooks".`;

/** Adds `crm listen`. */
export function registerListenCommand(program: Command): void {
  program
    .command('listen')
    .summary('Send changes to a local address, as webhooks')
    .description(
      'Send each change from now on to a local address, signed as a webhook; without --forward, print it',
    )
    .option('--forward <url>', 'Address of the receiver, such as http://localhost:3000/hooks')
    .option(
      '--events <pattern>',
      'Only these events, such as contacts.created or deals.*; separated by commas, or repeated',
      collect,
    )
    .option('--secret <secret>', 'Sign with this secret (whsec_…) instead of a new one')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../follow/listen.ts')).runListen));
}
