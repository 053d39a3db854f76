// `crm secrets rotate`: replaces the secret that signs cursors and transcript links, while servers run.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

/** Adds `crm secrets rotate`. */
export function registerSecretsCommand(program: Command): void {
  const secrets = program
    .command('secrets')
    .summary('Rotate the secret that signs cursors and links')
    .description(
      'Manage the secret that servers sign with. To rotate the secret of an API key, use "crm keys rotate".',
    );
  secrets
    .command('rotate')
    .description(
      'Rotate the secret that signs list cursors and transcript links. Existing cursors and links work for the grace period. The command takes 2 seconds. Within another second all servers use the new secret, without a restart. API keys do not change.',
    )
    .option('--grace <duration>', 'How long existing cursors and links keep working: 0 to 30d', '24h')
    .addHelpText('after', '\nExamples:\n  crm secrets rotate\n  crm secrets rotate --grace 7d')
    .action(lazyAction(async () => (await import('../keys/signing-secret.ts')).runSecretsRotate));
}
