// Carries out `crm orgs create`, `update` and `list`.
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { createOrganization, listOrganizations, setKeyLifetime } from '../../db/tables/accounts.ts';
import { listQuotas } from '../../db/tables/quotas.ts';
import { recordAction } from '../database/audit.ts';
import {
  checkedName,
  databaseFlag,
  isoTime,
  organizationNamed,
  withReader,
  withStore,
} from '../database/database.ts';
import { usageError } from '../errors.ts';
import { parseLifetime } from '../keys/expiry.ts';
import type { Config } from '../settings/config.ts';
import { durationText } from '../settings/options.ts';
import { printRecord, printRecords } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { isLimited, QUOTA_FIELDS, QUOTA_SIZES, quotaData } from './quota.ts';

const IS_LONG = new Set(['created_at', 'id']);

export interface OrganizationOptions {
  keyExpiry?: string;
}

/** Creates an organization and prints it. */
export async function runOrgsCreate(
  text: string,
  { keyExpiry }: OrganizationOptions,
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

/** Changes the settings of an organization and prints it. */
export async function runOrgsUpdate(
  nameOrId: string | undefined,
  { keyExpiry }: OrganizationOptions,
  config: Config,
): Promise<void> {
  if (keyExpiry === undefined)
    throw usageError('Nothing to update.', 'add --key-expiry 90d, or --key-expiry none.');
  const lifetime = parseLifetime(keyExpiry);
  const org = await withStore(config.db, async (store) => {
    const found = await organizationNamed(store, nameOrId);
    await store.write('accounts', async (trx) => {
      await setKeyLifetime(trx, found.number, lifetime);
      const target = { type: 'organizations', id: found.id };
      const details = { key_expiry: lifetime === null ? null : durationText(lifetime) };
      await recordAction(trx, { orgNumber: found.number, action: 'organization.changed', target, details });
    });
    return { ...found, key_lifetime: lifetime };
  });
  await printOrganization(config, org);
  const lasting = lifetime === null ? 'do not expire' : `last ${durationText(lifetime)}`;
  note(`API keys issued from now on ${lasting} by default. Existing keys do not change.`);
}

/** Prints all organizations. */
export async function runOrgsList(_flags: unknown, config: Config): Promise<void> {
  const { rows, quotas } = await withReader(config.db, async (store) => ({
    rows: await listOrganizations(store.read),
    quotas: await listQuotas(store.read),
  }));
  // The column appears only if an organization has the setting.
  const isSaid = rows.some((row) => row.key_lifetime !== null);
  const hasQuota = [...quotas.values()].some(({ quota }) => isLimited(quota));
  const fields = [...fieldsOf(isSaid), ...(hasQuota ? QUOTA_FIELDS : [])];
  // Long values go last.
  const columns = hasQuota
    ? fields.toSorted((a, b) => Number(IS_LONG.has(a)) - Number(IS_LONG.has(b)))
    : fields;
  const quotaShown = (orgNumber: number): Data => {
    const use = quotas.get(orgNumber);
    return hasQuota && use !== undefined ? quotaData(use) : {};
  };
  const shown = rows.map((row) => ({ ...presented(row, isSaid), ...quotaShown(row.number) }));
  await printRecords(config, shown, { columns, allFields: fields, sizes: QUOTA_SIZES });
}

async function printOrganization(config: Config, org: OrganizationRow): Promise<void> {
  const isSaid = org.key_lifetime !== null;
  const fields = fieldsOf(isSaid);
  await printRecord(config, presented(org, isSaid), { columns: fields, allFields: fields });
}

function fieldsOf(isSaid: boolean): string[] {
  return ['id', 'name', 'created_at', ...(isSaid ? ['key_expiry'] : [])];
}

function presented({ id, name, created_at, key_lifetime }: OrganizationRow, isSaid: boolean): Data {
  const keyExpiry = key_lifetime === null ? null : durationText(key_lifetime);
  return { id, name, created_at: isoTime(created_at), ...(isSaid && { key_expiry: keyExpiry }) };
}
