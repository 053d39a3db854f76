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
    .summary('issue, list, limit, rotate and revoke API keys')
    .description('API keys: what programs and the data commands sign in with.');
  registerIssue(keys);
  keys
    .command('list')
    .description('List keys, without their secrets.')
    .option('--org <org>', 'only those of this organization, by name or id')
    .option('--idle <duration>', 'only active ones that nobody has used for so long, such as 90d')
    .action((options: ListOptions, command: Command) => runList(options, resolveConfig(command)));
  keys
    .command('update')
    .description('Say anew from where a key may be used, from the very next request on.')
    .argument('<id>', 'id of the key')
    .option('--allow-ip <cidr>', 'only from these networks or addresses, instead of those before', collect)
    .option('--allow-any', 'from anywhere')
    .action((id: string, options: UpdateOptions, command: Command) =>
      runUpdate(id, options, resolveConfig(command)),
    );
  keys
    .command('rotate')
    .description(
      'Give a key a new secret and print it; the old one goes on working for a while. Scopes, networks and expiry stay. (What signs cursors and links is "crm secrets rotate".)',
    )
    .argument('<id>', 'id of the key')
    .option('--grace <duration>', 'how long the old secret works: 0 to 7d', '24h')
    .action((id: string, options: { grace: string }, command: Command) =>
      runRotate(id, options.grace, resolveConfig(command)),
    );
  keys
    .command('revoke')
    .description('End a key, from the very next request on.')
    .argument('<id>', 'id of the key')
    .action((id: string, _options: unknown, command: Command) => runRevoke(id, resolveConfig(command)));
}

function registerIssue(keys: Command): void {
  keys
    .command('issue')
    .description('Issue a key and print it. It is shown this once: only its hash is stored.')
    .option('--org <org>', 'name or id of the organization; with --from-v1, that of the key unless said')
    .addOption(apiOption())
    .addOption(new Option('--prefix <prefix>', 'v1 only').choices(['service_api', 'service_pk']))
    .option('--name <label>', 'what the key is for')
    .option('--scopes <a:read,b:write>', 'what the key may do')
    .option('--all-scopes', 'everything; for v1, ALL')
    .option('--from-v1 <keyid>', 'what this v1 key may do, as v2 scopes')
    .addOption(
      new Option('--access <level>', 'all records, or those of one user')
        .choices(['organization', 'user'])
        .default('organization'),
    )
    .option('--user <email>', 'with --access user: whose records')
    .option(
      '--expires <when>',
      '12h, 90d, a date (its beginning, UTC), or never; unless said as the organization has it, or never',
    )
    .option(
      '--allow-ip <cidr>',
      'only from this network or address, v4 or v6; again, or with commas, for more; from anywhere unless said',
      collect,
    )
    .option('--dry-run', 'issue nothing, and say what the key would open')
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
    throw usageError(`"${idle}" is no duration.`, 'give one like 12h, 90d or 26w.');
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
      'From where the key may be used must be said once.',
      'give --allow-ip CIDR, as often as you like, or --allow-any.',
    );
  }
  const networks = allowIp === undefined ? null : allowedNetworks(allowIp);
  const { limitKey } = await import('../../db/tables/keys.ts');
  await withStore(config.db, async (store) => {
    const row = await activeKey(store, id, Date.now());
    await store.write('accounts', async (trx) => {
      await limitKey(trx, row, networks);
      await recordAction(trx, { action: 'key.changed', ...aboutKey(row), details: { networks } });
    });
  });
  note(`The key ${id} may be used from ${usableFrom(networks)}, from the next request on.`);
}

async function runRotate(id: string, graceText: string, config: Config): Promise<void> {
  const graceMs = durationMs(graceText);
  if (graceMs === undefined || graceMs > GRACE_DAYS_MAX * DAY_MS) {
    throw usageError(`"${graceText}" is no grace period.`, 'give 0, or up to 7 days, like 30m, 24h or 7d.');
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
  note(graceMs === 0 ? 'The old secret has ended.' : `The old secret works until ${ends}.`);
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
  note(wasRevoked ? `Revoked the key ${id}.` : `The key ${id} was revoked before.`);
}

async function activeKey(store: Store, id: string, now: number): Promise<ApiKeyRow> {
  const row = await keyOfId(store, id);
  const status = keyStatus(row, now);
  if (status === 'active') return row;
  const nextSteps = ['issue a new key with "crm keys issue".'];
  throw new CliError(`The key ${id} is ${status}; nothing makes it work again.`, { nextSteps });
}

function aboutKey({ org_id: orgNumber, id }: ApiKeyRow) {
  return { orgNumber, target: { type: 'keys', id } };
}

async function keyOfId(store: Store, id: string): Promise<ApiKeyRow> {
  const { findKey } = await import('../../db/tables/keys.ts');
  const row = await findKey(store.read, id);
  if (row !== undefined) return row;
  // Someone may well paste the key itself: never repeat it.
  const named = /^service_/.test(id)
    ? 'There is no key with that id.'
    : `There is no key with the id "${id}".`;
  const nextSteps = ['give the id of the key, not the key itself; see "crm keys list".'];
  throw new CliError(named, { nextSteps });
}
