// Looks at the quotas of organizations: how far each is used up, and whether what is counted is what there is.
import type { Db } from '../../db/schema.ts';
import type { Quota, QuotaUse } from '../../db/tables/quotas.ts';
import { databaseFlag } from '../operator/database.ts';
import { isLimited } from '../operator/quota.ts';
import { counted, formatBytes, formatCount } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, ok, warn } from './finding.ts';

const NEARLY_USED = 0.9;

/** A finding for each organization that has a quota; all that they hold is read. */
export async function checkQuotas(read: Db, db: string): Promise<Finding[]> {
  const { listQuotas } = await import('../../db/tables/quotas.ts');
  const { listOrganizations } = await import('../../db/tables/accounts.ts');
  const flag = await databaseFlag(db);
  const quotas = await listQuotas(read);
  const findings: Finding[] = [];
  for (const { number, name } of await listOrganizations(read)) {
    const use = quotas.get(number);
    if (use !== undefined && isLimited(use.quota)) findings.push(await checkQuota(read, use, { name, flag }));
  }
  return findings;
}

async function checkQuota(
  read: Db,
  { orgId, quota, held }: QuotaUse,
  { name, flag }: { name: string; flag: string },
): Promise<Finding> {
  const check = 'quota';
  const command = `crm orgs quota ${shellWord(name)}${flag}`;
  const inFlight =
    quota.bytesInFlight === null ? [] : [`${formatBytes(quota.bytesInFlight)} of bodies under way`];
  if (held === null) return ok(check, `${name}: ${inFlight.join()}`);
  const { findUncounted } = await import('../../db/tables/quotas.ts');
  const uncounted = await findUncounted(read, orgId);
  if (uncounted.records !== 0 || uncounted.bytes !== 0) {
    const there = `${counted(held.records + uncounted.records, 'record')} and ${formatCount(held.bytes + uncounted.bytes)} bytes`;
    const found = `${name}: ${formatCount(held.records)} and ${formatCount(held.bytes)} are counted, and there are ${there}`;
    return warn(check, found, `have it counted anew: ${command} ${flagsOf(quota)}`);
  }
  const found = `${name}: ${[...usedUp(quota, held), ...inFlight].join(', ')}`;
  const part = Math.max(partOf(held.records, quota.records), partOf(held.bytes, quota.bytes));
  if (part < NEARLY_USED) return ok(check, found);
  const refused = part < 1 ? 'nearly used up' : 'used up, and more is refused';
  return warn(
    check,
    `${found}: ${refused}`,
    `delete what is not needed, or raise it: ${command} ${flagsOf(quota)}`,
  );
}

function usedUp(quota: Quota, held: NonNullable<QuotaUse['held']>): string[] {
  return [
    ...(quota.records === null
      ? []
      : [`${formatCount(held.records)} of ${counted(quota.records, 'record')}`]),
    ...(quota.bytes === null ? [] : [`${formatBytes(held.bytes)} of ${formatBytes(quota.bytes)}`]),
  ];
}

// Where nothing is allowed, all of it is used up.
function partOf(used: number, limit: number | null): number {
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
}

function flagsOf({ records, bytes }: Quota): string {
  return [...(records === null ? [] : ['--records N']), ...(bytes === null ? [] : ['--bytes SIZE'])].join(
    ' ',
  );
}
