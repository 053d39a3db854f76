// `crm health`: checks whether a server is ready, for containers that have neither a shell nor curl.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

/** Adds `crm health`. */
export function registerHealthCommand(program: Command): void {
  program
    .command('health')
    .summary('Check whether the server is ready')
    .description(
      'Check whether the server is ready to read and write: exit code 0 if it is, 1 if it is not. No API key is needed, and ' +
        'the certificate of a server on this machine may have any name.',
    )
    .addHelpText('after', '\nExamples:\n  crm health --url https://crm.example.com')
    .action(lazyAction(async () => (await import('../api/health.ts')).runHealth));
}
