// `crm keys`: issues, lists, changes, rotates and revokes API keys.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import {
  apiOption,
  collect,
  commaList,
  orgOption,
  requestCount,
  requestsOrDefault,
} from '../settings/options.ts';

const UPDATE_EXAMPLES = `
Examples:
  crm keys update ID --requests-per-minute 1000
  crm keys update ID --requests-per-minute default --name reporting
  crm keys update ID --allow-ip 203.0.113.0/24,2001:db8::/32`;

/** Adds `crm keys issue`, `list`, `update`, `rotate` and `revoke`. */
export function registerKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .summary('Issue, list, update, rotate and revoke API keys')
    .description('Manage the API keys that programs and data commands use');
  registerIssue(keys);
  keys
    .command('list')
    .description('List API keys, without their secrets')
    .option('--org <org>', 'Only keys of this organization (name or ID)')
    .option('--idle <duration>', 'Only active keys that were not used for this long, such as 90d')
    .addHelpText(
      'after',
      '\nExamples:\n  crm keys list\n  crm keys list --org "Acme Inc" --idle 90d\n\nSee "crm help keys".',
    )
    .action(lazyAction(async () => (await import('../keys/run.ts')).runKeysList));
  keys
    .command('update')
    .description('Change the name, networks or request limit of an API key, effective with the next request')
    .argument('<id>', 'ID of the key')
    .option(
      '--allow-ip <cidr>',
      'Allow only these networks or client IPs, instead of the current ones; repeatable',
      collect,
    )
    .option('--allow-any', 'Allow any client IP')
    .option('--name <label>', 'What the key is for')
    .option(
      '--requests-per-minute <n>',
      'Requests per minute for this key, or default for the limit of the server',
      requestsOrDefault,
    )
    .addHelpText('after', `${UPDATE_EXAMPLES}\n\nSee "crm help keys".`)
    .action(lazyAction(async () => (await import('../keys/update.ts')).runKeysUpdate));
  keys
    .command('rotate')
    .summary('Give an API key a new secret')
    .description(
      'Give an API key a new secret and print it. The old secret keeps working for the grace period. Scopes, networks and expiry do not change. To rotate the secret that signs cursors and links, use "crm secrets rotate".',
    )
    .argument('<id>', 'ID of the key')
    .option('--grace <duration>', 'How long the old secret keeps working: 0 to 7d', '24h')
    .addHelpText(
      'after',
      '\nExamples:\n  crm keys rotate ID\n  crm keys rotate ID --grace 0\n\nSee "crm help keys".',
    )
    .action(lazyAction(async () => (await import('../keys/run.ts')).runKeysRotate));
  keys
    .command('revoke')
    .description('Revoke an API key, effective with the next request')
    .argument('<id>', 'ID of the key')
    .addHelpText('after', '\nExamples:\n  crm keys revoke ID\n\nSee "crm help keys".')
    .action(lazyAction(async () => (await import('../keys/run.ts')).runKeysRevoke));
}

function registerIssue(keys: Command): void {
  keys
    .command('issue')
    .summary('Issue an API key')
    .description(
      'Issue an API key and print it. The key is shown only once, because crm stores only its hash.',
    )
    .addOption(orgOption('the only one, or with --from-v1 that of the key'))
    .addOption(apiOption())
    .addOption(new Option('--prefix <prefix>', 'Prefix of a v1 key').choices(['service_api', 'service_pk']))
    .option('--name <label>', 'What the key is for')
    .option('--scopes <a:read,b:write>', 'What the key can do', commaList)
    .option('--all-scopes', 'Grant all scopes; for a v1 key, ALL')
    .option(
      '--from-v1 <keyid>',
      'Copy the scopes, expiry, networks and request limit of this v1 key to a v2 key',
    )
    .addOption(
      new Option('--access <level>', 'Access to all records, or to those of one user')
        .choices(['organization', 'user'])
        .default('organization'),
    )
    .option('--user <email>', 'With --access user: the owner of the records')
    .option(
      '--expires <when>',
      '12h, 90d, a date (00:00 UTC) or never (default: as set for the organization, or never)',
    )
    .option(
      '--allow-ip <cidr>',
      'Allow only this network or client IP, IPv4 or IPv6; repeatable, or separated by commas (default: no restriction)',
      collect,
    )
    .option(
      '--requests-per-minute <n>',
      "Requests per minute for this key, within the organization's limit (default: as the server allows each key)",
      requestCount,
    )
    .option('--dry-run', 'Show what the key would give access to, and issue nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  export CRM_API_KEY=$(crm keys issue --org Example --all-scopes)\n  crm keys issue --org Example --scopes contacts:read,deals:read --expires 90d --name reporting\n  crm keys issue --org Example --all-scopes --allow-ip 203.0.113.0/24,2001:db8::/32',
    )
    .action(lazyAction(async () => (await import('../keys/run.ts')).runKeysIssue));
}
