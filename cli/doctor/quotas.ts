// Checks the quotas of organizations: how much of each is used, and whether the counters are right.

import { listOrganizations } from '../../db/accounts/accounts.ts';
import { findUncounted, listQuotas, type Quota, type QuotaUse } from '../../db/accounts/quotas.ts';
import type { Db } from '../../db/engine/schema.ts';
import { databaseFlag } from '../database/database.ts';
import { isLimited } from '../organizations/quota.ts';
import { counted, formatBytes, formatCount } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, ok, warn } from './finding.ts';

const NEARLY_USED = 0.9;
const REPLAY_FLAG = '--replay-bytes SIZE';

/** How much of a limit is used. */
interface LimitUse {
  shown: string;
  part: number;
  /** The flag that sets it. */
  flag: string;
}

/**
 * The findings about organizations that have a quota, or have nearly used up a default one. Reads everything that
 * organizations with a quota store.
 */
export async function checkQuotas(read: Db, db: string): Promise<Finding[]> {
  const flag = databaseFlag(db);
  const quotas = await listQuotas(read);
  const findings: Finding[] = [];
  for (const { number, name } of await listOrganizations(read)) {
    const use = quotas.get(number);
    if (use !== undefined && (isLimited(use.quota) || usesOf(use).length > 0))
      findings.push(await checkQuota(read, use, { name, flag }));
  }
  return findings;
}

async function checkQuota(
  read: Db,
  use: QuotaUse,
  { name, flag }: { name: string; flag: string },
): Promise<Finding> {
  const check = 'quota';
  const command = `crm orgs quota ${shellWord(name)}${flag}`;
  const { orgNumber, quota, held } = use;
  if (held !== null) {
    const uncounted = await findUncounted(read, orgNumber);
    if (uncounted.records !== 0 || uncounted.bytes !== 0) {
      const off = `${counted(Math.abs(uncounted.records), 'record')} and ${formatBytes(Math.abs(uncounted.bytes))}`;
      const count = `${counted(held.records, 'record')}, ${formatBytes(held.bytes)}`;
      const found = `${name}: the counters (${count}) are off by ${off}`;
      return warn(check, found, `recount: ${command} ${flagsOf(quota)}`);
    }
  }
  const uses = usesOf(use);
  const inFlight =
    quota.bytesInFlight === null
      ? []
      : [`${formatBytes(quota.bytesInFlight)} of request bodies in flight, and of responses`];
  const found = `${name}: ${[...uses.map(({ shown }) => shown), ...inFlight].join(', ')}`;
  const used = uses.filter(({ part }) => part >= NEARLY_USED);
  if (used.length === 0) return ok(check, found);
  const flags = used.map((one) => one.flag);
  const full = used.filter(({ part }) => part >= 1);
  const what = full.every(({ flag }) => flag === REPLAY_FLAG)
    ? 'requests with a new Idempotency-Key'
    : 'further writes';
  const state = full.length === 0 ? 'nearly used up' : `used up, and ${what} are refused`;
  // Stored responses expire after a day.
  const instead = flags.every((one) => one === REPLAY_FLAG) ? '' : 'delete what you do not need, or ';
  return warn(check, `${found}: ${state}`, `${instead}raise the quota: ${command} ${flags.join(' ')}`);
}

// A default limit is shown only if the organization has nearly used it up.
function usesOf({ quota, held, replayBytes, replayBytesMax }: QuotaUse): LimitUse[] {
  const uses: LimitUse[] = [];
  if (held !== null && quota.records !== null) {
    const shown = `${formatCount(held.records)} of ${counted(quota.records, 'record')}`;
    uses.push({ shown, part: partOf(held.records, quota.records), flag: '--records N' });
  }
  if (held !== null && quota.bytes !== null) {
    const shown = `${formatBytes(held.bytes)} of ${formatBytes(quota.bytes)}`;
    uses.push({ shown, part: partOf(held.bytes, quota.bytes), flag: '--bytes SIZE' });
  }
  const part = partOf(replayBytes, replayBytesMax);
  if (quota.replayBytes !== null || part >= NEARLY_USED) {
    const shown = `${formatBytes(replayBytes)} of ${formatBytes(replayBytesMax)} of stored responses`;
    uses.push({ shown, part, flag: REPLAY_FLAG });
  }
  return uses;
}

// A limit of 0 counts as used up.
function partOf(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit;
}

function flagsOf({ records, bytes }: Quota): string {
  return [...(records === null ? [] : ['--records N']), ...(bytes === null ? [] : ['--bytes SIZE'])].join(
    ' ',
  );
}
