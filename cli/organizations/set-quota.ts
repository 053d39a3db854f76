// Carries out `crm orgs quota`.

import { listQuotas, type Quota, type QuotaUse } from '../../db/accounts/quotas.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { organizationNamed, withReader, withStore } from '../database/database.ts';
import type { Config } from '../settings/config.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { changeQuota, countNow, QUOTA_FIELDS, QUOTA_SIZES, quotaData } from './quota.ts';

/** A limit as an option; an option's value cannot be null. */
export type LimitOption = number | 'none';
export type QuotaOptions = Partial<Record<keyof Quota, LimitOption>>;

/** Sets the given limits of an organization, and prints all of them with their use. */
export async function runQuota(
  nameOrId: string | undefined,
  options: QuotaOptions,
  config: Config,
): Promise<void> {
  if (Object.keys(options).length > 0)
    await withStore(config.db, (store) => setLimits(store, config.db, nameOrId, options));
  const { org, use } = await withReader(config.db, async (store) => {
    const found = await organizationNamed(store, nameOrId);
    return { org: found, use: await quotaOf(store, found) };
  });
  const held = use.held ?? (await countNow(config.db, org.number));
  const fields = ['id', 'name', ...QUOTA_FIELDS];
  const record = { id: org.id, name: org.name, ...quotaData({ ...use, held }) };
  await printRecord(config, record, { columns: fields, allFields: fields, sizes: QUOTA_SIZES });
  const { records, bytes } = use.quota;
  const isOver = (limit: number | null, used: number) => limit !== null && used > limit;
  if (isOver(records, held.records) || isOver(bytes, held.bytes))
    note('The organization already exceeds this limit. Nothing can be added until something is deleted.');
}

async function setLimits(
  store: Store,
  db: string,
  nameOrId: string | undefined,
  options: QuotaOptions,
): Promise<void> {
  const org = await organizationNamed(store, nameOrId);
  const { quota } = await quotaOf(store, org);
  await changeQuota(store, db, org, {
    records: limitOf(options.records, quota.records),
    bytes: limitOf(options.bytes, quota.bytes),
    bytesInFlight: limitOf(options.bytesInFlight, quota.bytesInFlight),
    replayBytes: limitOf(options.replayBytes, quota.replayBytes),
  });
}

function limitOf(given: LimitOption | undefined, before: number | null): number | null {
  if (given === undefined) return before;
  return given === 'none' ? null : given;
}

async function quotaOf(
  store: Pick<Store, 'read'>,
  { number: orgNumber }: OrganizationRow,
): Promise<QuotaUse> {
  const use = (await listQuotas(store.read, orgNumber)).get(orgNumber);
  if (use === undefined) throw new Error('the organization is gone');
  return use;
}
