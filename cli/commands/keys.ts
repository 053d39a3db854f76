// `crm keys`: issues, lists, changes, rotates and revokes API keys.
import { type Command, Option } from 'commander';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { issuedEntry, recordAction } from '../database/audit.ts';
import { organizationNamed, withReader, withStore } from '../database/database.ts';
import { CliError, usageError } from '../errors.ts';
import { DAY_MS } from '../input/instant.ts';
import { allowedNetworks, usableFrom } from '../keys/networks.ts';
import { checkOptions, type IssueOptions, newKey } from '../keys/options.ts';
import { keyStatus, printKey, printKeyList, printKeyPreview } from '../keys/output.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { apiOption, collect, durationMs } from '../settings/options.ts';
import { note } from '../terminal/streams.ts';

const GRACE_DAYS_MAX = 7;

interface UpdateOptions {
  allowIp?: string[];
  allowAny?: boolean;
}

interface ListOptions {
  org?: string;
  idle?: string;
}

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
    .action((options: ListOptions, command: Command) => runList(options, resolveConfig(command)));
  keys
    .command('update')
    .description('Change the networks that may use an API key, effective with the next request')
    .argument('<id>', 'ID of the key')
    .option(
      '--allow-ip <cidr>',
      'Allow only these networks or client IPs, instead of the current ones; repeatable',
      collect,
    )
    .option('--allow-any', 'Allow any client IP')
    .action((id: string, options: UpdateOptions, command: Command) =>
      runUpdate(id, options, resolveConfig(command)),
    );
  keys
    .command('rotate')
    .summary('Give an API key a new secret')
    .description(
      'Give an API key a new secret and print it. The old secret keeps working for the grace period. Scopes, networks and expiry do not change. To rotate the secret that signs cursors and links, use "crm secrets rotate".',
    )
    .argument('<id>', 'ID of the key')
    .option('--grace <duration>', 'How long the old secret keeps working: 0 to 7d', '24h')
    .action((id: string, options: { grace: string }, command: Command) =>
      runRotate(id, options.grace, resolveConfig(command)),
    );
  keys
    .command('revoke')
    .description('Revoke an API key, effective with the next request')
    .argument('<id>', 'ID of the key')
    .action((id: string, _options: unknown, command: Command) => runRevoke(id, resolveConfig(command)));
}

function registerIssue(keys: Command): void {
  keys
    .command('issue')
    .summary('Issue an API key')
    .description(
      'Issue an API key and print it. The key is shown only once, because crm stores only its hash.',
    )
    .option(
      '--org <org>',
      'Name or ID of the organization (default with --from-v1: the organization of that key)',
    )
    .addOption(apiOption())
    .addOption(new Option('--prefix <prefix>', 'Prefix of a v1 key').choices(['service_api', 'service_pk']))
    .option('--name <label>', 'What the key is for')
    .option('--scopes <a:read,b:write>', 'What the key can do')
    .option('--all-scopes', 'Grant all scopes; for a v1 key, ALL')
    .option('--from-v1 <keyid>', 'Copy the scopes, expiry and networks of this v1 key to a v2 key')
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
      'Allow only this network or client IP, IPv4 or IPv6; repeatable, or separated by commas (default: any)',
      collect,
    )
    .option('--dry-run', 'Show what the key would give access to, and issue nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  export CRM_API_KEY=$(crm keys issue --org Example --all-scopes)\n  crm keys issue --org Example --scopes contacts:read,deals:read --expires 90d --name reporting\n  crm keys issue --org Example --all-scopes --allow-ip 203.0.113.0/24,2001:db8::/32',
    )
    .action((options: IssueOptions, command: Command) => runIssue(options, resolveConfig(command)));
}

async function runIssue(options: IssueOptions & { dryRun?: boolean }, config: Config): Promise<void> {
  const { issueKey } = await import('../../db/tables/keys.ts');
  const now = Date.now();
  await checkOptions(options, now);
  if (options.dryRun) {
    const { previewKey } = await import('../keys/preview.ts');
    const { opens, key } = await withStore(config.db, async (store) => {
      const planned = await newKey(store, options, now);
      return { opens: await previewKey(store, planned.key), key: planned.key };
    });
    return printKeyPreview(config, opens, key);
  }
  const { issued, told } = await withStore(config.db, async (store) => {
    const { key, told } = await newKey(store, options, now);
    const issued = await store.write('accounts', async (trx) => {
      const made = await issueKey(trx, key);
      await recordAction(trx, { ...issuedEntry(made.row), now });
      return made;
    });
    return { issued, told };
  });
  await printKey(config, issued);
  for (const text of told) note(text);
}

async function runList({ org, idle }: ListOptions, config: Config): Promise<void> {
  const { listKeys } = await import('../../db/tables/keys.ts');
  const idleMs = idle === undefined ? undefined : durationMs(idle);
  if (idle !== undefined && idleMs === undefined) {
    throw usageError(`"${idle}" is not a valid duration.`, 'use a format like 12h, 90d or 26w.');
  }
  const now = Date.now();
  const rows = await withReader(config.db, async (store) => {
    const orgNumber = org === undefined ? undefined : (await organizationNamed(store, org)).number;
    return listKeys(store.read, orgNumber);
  });
  const shown = rows.filter((row) => idleMs === undefined || isIdle(row, now - idleMs, now));
  await printKeyList(config, shown, now);
}

// A key that was never used is idle since it was issued.
function isIdle(row: ApiKeyRow, since: number, now: number): boolean {
  return keyStatus(row, now) === 'active' && (row.last_used_at ?? row.created_at) <= since;
}

async function runUpdate(id: string, { allowIp, allowAny }: UpdateOptions, config: Config): Promise<void> {
  if ((allowIp === undefined) === (allowAny !== true)) {
    throw usageError(
      'Choose either --allow-ip or --allow-any.',
      'add --allow-ip CIDR (repeatable), or --allow-any.',
    );
  }
  const networks = allowIp === undefined ? null : allowedNetworks(allowIp);
  const { setKeyNetworks } = await import('../../db/tables/keys.ts');
  await withStore(config.db, async (store) => {
    const row = await activeKey(store, id, Date.now());
    await store.write('accounts', async (trx) => {
      await setKeyNetworks(trx, row, networks);
      await recordAction(trx, { action: 'key.changed', ...aboutKey(row), details: { networks } });
    });
  });
  note(`Key ${id} can be used from ${usableFrom(networks)}, effective with the next request.`);
}

async function runRotate(id: string, graceText: string, config: Config): Promise<void> {
  const graceMs = durationMs(graceText);
  if (graceMs === undefined || graceMs > GRACE_DAYS_MAX * DAY_MS) {
    throw usageError(
      `"${graceText}" is not a valid grace period.`,
      'use 0, or up to 7 days, like 30m, 24h or 7d.',
    );
  }
  const { rotateKey } = await import('../../db/tables/keys.ts');
  const now = Date.now();
  const issued = await withStore(config.db, async (store) => {
    const row = await activeKey(store, id, now);
    return store.write('accounts', async (trx) => {
      const rotated = await rotateKey(trx, row, graceMs, now);
      const details = { grace_seconds: graceMs / 1_000 };
      await recordAction(trx, { action: 'key.rotated', ...aboutKey(row), details, now });
      return rotated;
    });
  });
  await printKey(config, issued);
  const ends = new Date(now + graceMs).toISOString();
  note(graceMs === 0 ? 'The old secret no longer works.' : `The old secret works until ${ends}.`);
}

async function runRevoke(id: string, config: Config): Promise<void> {
  const { revokeKey } = await import('../../db/tables/keys.ts');
  const wasRevoked = await withStore(config.db, async (store) => {
    const row = await keyOfId(store, id);
    return store.write('accounts', async (trx) => {
      const isRevoked = await revokeKey(trx, row, Date.now());
      if (isRevoked) await recordAction(trx, { action: 'key.revoked', ...aboutKey(row) });
      return isRevoked;
    });
  });
  note(wasRevoked ? `Revoked key ${id}.` : `Key ${id} was already revoked.`);
}

async function activeKey(store: Store, id: string, now: number): Promise<ApiKeyRow> {
  const row = await keyOfId(store, id);
  const status = keyStatus(row, now);
  if (status === 'active') return row;
  const nextSteps = ['issue a new key with "crm keys issue".'];
  throw new CliError(`Key ${id} is ${status} and cannot be reactivated.`, { nextSteps });
}

function aboutKey({ org_id: orgNumber, id }: ApiKeyRow) {
  return { orgNumber, target: { type: 'keys', id } };
}

async function keyOfId(store: Store, id: string): Promise<ApiKeyRow> {
  const { findKey } = await import('../../db/tables/keys.ts');
  const row = await findKey(store.read, id);
  if (row !== undefined) return row;
  // People paste the key itself by mistake: never repeat it.
  const named = /^service_/.test(id) ? 'No API key has that ID.' : `No API key has the ID "${id}".`;
  const nextSteps = ['use the ID of the key, not the key itself. To list keys: crm keys list'];
  throw new CliError(named, { nextSteps });
}
