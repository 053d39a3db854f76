// `crm init`: from nothing to a database with an organization, a user and a key; run again it changes nothing.
import type { Command } from 'commander';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import type { AuditAction } from '../../db/tables/audit.ts';
import type { IssuedKey } from '../../db/tables/keys.ts';
import { issuedEntry, recordAction } from '../database/audit.ts';
import { checkedEmail, checkedName, databaseFlag, withStore } from '../database/database.ts';
import { printKey } from '../keys/output.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

interface Options {
  org: string;
  user?: string;
  backup: boolean;
}

interface Made {
  org: OrganizationRow;
  isNewOrg: boolean;
  isNewUser: boolean;
  /** Null where the organization had keys before. */
  issued: IssuedKey | null;
}

/** Adds `crm init`. */
export function registerInitCommand(program: Command): void {
  program
    .command('init')
    .summary('make a database, an organization and a key')
    .description(
      'Make the database, an organization, a user, and a v2 key with every scope, as far as they are not there yet.',
    )
    .requiredOption('--org <name>', 'name of the organization')
    .option('--user <email>', 'email of the first user')
    .option('--no-backup', 'no backup before an older database is brought up to date')
    .action((options: Options, command: Command) => runInit(options, resolveConfig(command)));
}

async function runInit(options: Options, config: Config): Promise<void> {
  const name = checkedName('The name of an organization', options.org);
  const email = options.user === undefined ? undefined : await checkedEmail(options.user);
  const made = await withStore(config.db, (store) => setUp(store, name, email), {
    create: true,
    backup: options.backup,
  });
  const { org, issued } = made;
  if (made.isNewOrg) note(`Made the organization ${org.name} (${org.id}).`);
  if (made.isNewUser) note(`Made the user ${email}.`);
  const serve = `crm serve${await databaseFlag(config.db)}`;
  if (issued === null) {
    const flag = await databaseFlag(config.db);
    note(
      `${org.name} has keys already. Another: crm keys issue --org ${shellWord(org.name)} --all-scopes${flag}`,
    );
  } else if (await printKey(config, issued, [`${serve}   (in another terminal)`])) {
    return;
  }
  note(`Next: ${serve}`);
}

// One transaction: two runs at once make one organization and one key.
async function setUp(store: Store, name: string, email: string | undefined): Promise<Made> {
  const { createOrganization, createUser, findOrganization, findUser } = await import(
    '../../db/tables/accounts.ts'
  );
  const { issueKey, listKeys } = await import('../../db/tables/keys.ts');
  const { V2_SCOPES } = await import('../../db/model/resources/registry.ts');
  const now = Date.now();
  return store.write('accounts', async (trx) => {
    const known = await findOrganization(trx, name);
    const org = known ?? (await createOrganization(trx, name, now));
    const orgNumber = org.number;
    const tell = (action: AuditAction, type: string, id: string) =>
      recordAction(trx, { action, orgNumber, target: { type, id }, now });
    if (known === undefined) await tell('organization.created', 'organizations', org.id);
    const isNewUser = email !== undefined && (await findUser(trx, orgNumber, email)) === undefined;
    if (isNewUser) {
      const user = await createUser(trx, { orgNumber, email, name: null, now });
      await tell('user.created', 'users', user.id);
    }
    // A key that was revoked counts too: init must not bring back an access that someone has ended.
    const hasKey = (await listKeys(trx, orgNumber)).some((key) => key.api === 'v2');
    const issued = hasKey
      ? null
      : await issueKey(trx, {
          orgNumber,
          api: 'v2',
          name: 'init',
          scopes: V2_SCOPES,
          access: 'organization',
          userId: null,
          expiresAt: org.key_lifetime === null ? null : now + org.key_lifetime,
          now,
        });
    if (issued !== null) await recordAction(trx, { ...issuedEntry(issued.row), now });
    return { org, isNewOrg: known === undefined, isNewUser, issued };
  });
}
