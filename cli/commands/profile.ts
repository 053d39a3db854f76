// `crm profile`: keeps the address and the key of a server under a name.
import type { Command } from 'commander';
import { profileAction } from '../settings/lazy-action.ts';

const ADD_HELP = `
crm asks for the key, or reads it from standard input, and checks that it works before saving it. --api-key-file names a
file to use instead; --db and --output are saved too.

Examples:
  crm profile add live --url https://crm.example.com
  crm keys issue --org Example --all-scopes | crm profile add local`;

/** Adds `crm profile add`, `list`, `show`, `use` and `remove`. */
export function registerProfileCommand(program: Command): void {
  const profile = program
    .command('profile')
    .summary('Manage profiles: saved server addresses and keys')
    .description('Manage profiles: the address and the key of a server under a name, for --profile');
  profile
    .command('add')
    .description('Add a profile after trying its key')
    .argument('<name>', 'Name of the profile')
    .option('--force', 'Replace a profile that exists')
    .addHelpText('after', ADD_HELP)
    .action(profileAction(async () => (await import('../profiles/add.ts')).runProfileAdd));
  profile
    .command('list')
    .description('List all profiles, without their keys')
    .addHelpText('after', '\nExample:\n  crm profile list')
    .action(profileAction(async () => (await import('../profiles/run.ts')).runProfileList));
  profile
    .command('show')
    .description('Show the settings of a profile, without its key')
    .argument('[profile]', 'Name of the profile (default: the one in use)')
    .addHelpText('after', '\nExample:\n  crm profile show live')
    .action(profileAction(async () => (await import('../profiles/run.ts')).runProfileShow));
  profile
    .command('use')
    .description('Use a profile by default')
    .argument('<profile>', 'Name of the profile')
    .addHelpText('after', '\nExample:\n  crm profile use live')
    .action(profileAction(async () => (await import('../profiles/run.ts')).runProfileUse));
  profile
    .command('remove')
    .description('Remove a profile, and the key that "crm profile add" stored for it')
    .argument('<profile>', 'Name of the profile')
    .addHelpText('after', '\nExample:\n  crm profile remove live')
    .action(profileAction(async () => (await import('../profiles/run.ts')).runProfileRemove));
}
