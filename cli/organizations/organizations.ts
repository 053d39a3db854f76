// Carries out `crm orgs create` and `crm orgs list`.

import { createOrganization, listOrganizations } from '../../db/accounts/accounts.ts';
import { listQuotas } from '../../db/accounts/quotas.ts';
import type { Data } from '../../db/model/json.ts';
import { recordAction } from '../database/audit.ts';
import { checkedName, databaseFlag, withReader, withStore } from '../database/database.ts';
import { parseLifetime } from '../keys/expiry.ts';
import type { Config } from '../settings/config.ts';
import { printRecords } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { OWN_FIELDS, presented, printOrganization, settingsOf } from './output.ts';
import { isLimited, QUOTA_FIELDS, QUOTA_SIZES, quotaData } from './quota.ts';

const IS_LONG = new Set(['created_at', 'id']);

/** Creates an organization and prints it. */
export async function runOrgsCreate(
  text: string,
  { keyExpiry }: { keyExpiry?: string },
  config: Config,
): Promise<void> {
  const lifetime = keyExpiry === undefined ? null : parseLifetime(keyExpiry);
  const name = checkedName('The name of an organization', text);
  const org = await withStore(config.db, (store) =>
    store.write('accounts', async (trx) => {
      const made = await createOrganization(trx, name, Date.now(), lifetime);
      const { number: orgNumber, id } = made;
      await recordAction(trx, {
        action: 'organization.created',
        orgNumber,
        target: { type: 'organizations', id },
      });
      return made;
    }),
  );
  await printOrganization(config, org);
  note(`Next: crm keys issue --org ${shellWord(org.name)} --all-scopes${databaseFlag(config.db)}`);
}

/** Prints all organizations. */
export async function runOrgsList(_flags: unknown, config: Config): Promise<void> {
  const { rows, quotas } = await withReader(config.db, async (store) => ({
    rows: await listOrganizations(store.read),
    quotas: await listQuotas(store.read),
  }));
  const settings = settingsOf(rows);
  const hasQuota = [...quotas.values()].some(({ quota }) => isLimited(quota));
  const fields = [...OWN_FIELDS, ...settings, ...(hasQuota ? QUOTA_FIELDS : [])];
  // Long values go last.
  const columns = hasQuota
    ? fields.toSorted((a, b) => Number(IS_LONG.has(a)) - Number(IS_LONG.has(b)))
    : fields;
  const quotaShown = (orgNumber: number): Data => {
    const use = quotas.get(orgNumber);
    return hasQuota && use !== undefined ? quotaData(use) : {};
  };
  const shown = rows.map((row) => ({ ...presented(row, settings), ...quotaShown(row.number) }));
  await printRecords(config, shown, { columns, allFields: fields, sizes: QUOTA_SIZES });
}
