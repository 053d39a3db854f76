// Carries out `crm init`.

import { createOrganization, createUser, findOrganization, findUser } from '../../db/accounts/accounts.ts';
import { type IssuedKey, issueKey, listKeys } from '../../db/accounts/keys.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { type Store, servingProcess } from '../../db/store.ts';
import type { AuditAction } from '../../db/tables/audit.ts';
import { issuedEntry, recordAction } from '../database/audit.ts';
import { checkedEmail, checkedName, databaseFlag, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { printKey } from '../keys/output.ts';
import type { Config } from '../settings/config.ts';
import { canAsk, withQuestions } from '../terminal/questions.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

export interface InitOptions {
  /** Asked for on a terminal if it is missing. */
  org?: string;
  user?: string;
  backup: boolean;
}

interface Made {
  org: OrganizationRow;
  isNewOrg: boolean;
  isNewUser: boolean;
  /** Null if the organization already had keys. */
  issued: IssuedKey | null;
}

/** Creates what is missing, and prints the key and what to run next. */
export async function runInit(options: InitOptions, config: Config): Promise<void> {
  const { name, email } = options.org === undefined ? await asked(options) : named(options.org, options.user);
  const made = await withStore(config.db, (store) => setUp(store, name, email), {
    create: true,
    backup: options.backup,
  });
  const { org, issued } = made;
  if (made.isNewOrg) note(`Created organization ${org.name} (${org.id}).`);
  if (made.isNewUser) note(`Created user ${email}.`);
  const isServed = !isDatabaseAddress(config.db) && servingProcess(config.db) !== null;
  const serve = `crm serve${databaseFlag(config.db)}`;
  if (issued === null) {
    const flag = databaseFlag(config.db);
    note(
      `${org.name} already has API keys. To issue another: crm keys issue --org ${shellWord(org.name)} --all-scopes${flag}`,
    );
  } else if (await printKey(config, issued, isServed ? [] : [`${serve}   (in another terminal)`])) {
    return;
  }
  note(`Next: ${isServed ? 'crm list contacts   (with the key in CRM_API_KEY)' : serve}`);
}

interface Named {
  name: string;
  email: string | undefined;
}

function named(org: string, user: string | undefined): Named {
  const email = user === undefined ? undefined : checkedEmail(user);
  return { name: checkedName('The name of an organization', org), email };
}

/** Asks for the organization, and for the user if that is missing too. */
async function asked({ user }: InitOptions): Promise<Named> {
  if (!canAsk())
    throw usageError("Required option '--org <name>' not specified.", 'crm init --org NAME --user EMAIL');
  const known = user === undefined ? undefined : checkedEmail(user);
  return withQuestions(async (ask) => {
    const name = await ask('Name of the organization: ', (text) => named(text, undefined).name);
    if (known !== undefined) return { name, email: known };
    const read = (text: string) => (text.trim() === '' ? undefined : checkedEmail(text));
    return { name, email: await ask('Your email (Enter for no user): ', read) };
  });
}

// One transaction: two concurrent runs create one organization and one key.
async function setUp(store: Store, name: string, email: string | undefined): Promise<Made> {
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
    // Revoked keys count too: init must not restore access that someone has ended.
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
