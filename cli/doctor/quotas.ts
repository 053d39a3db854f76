// Looks at the quotas of organizations: how far each is used up, and whether what is counted is what there is.
import type { Db } from '../../db/engine/schema.ts';
import type { Quota, QuotaUse } from '../../db/tables/quotas.ts';
import { databaseFlag } from '../database/database.ts';
import { isLimited } from '../organizations/quota.ts';
import { counted, formatBytes, formatCount } from '../terminal/format.ts';
import { shellWord } from '../terminal/text.ts';
import { type Finding, ok, warn } from './finding.ts';

const NEARLY_USED = 0.9;
const REPLAY_FLAG = '--replay-bytes SIZE';

/** How far a limit is used up. */
interface LimitUse {
  shown: string;
  part: number;
  /** What sets it. */
  flag: string;
}

/**
 * A finding for each organization that has a quota, or has nearly used up what all have; what those with a quota hold is
 * read.
 */
export async function checkQuotas(read: Db, db: string): Promise<Finding[]> {
  const { listQuotas } = await import('../../db/tables/quotas.ts');
  const { listOrganizations } = await import('../../db/tables/accounts.ts');
  const flag = await databaseFlag(db);
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
    const { findUncounted } = await import('../../db/tables/quotas.ts');
    const uncounted = await findUncounted(read, orgNumber);
    if (uncounted.records !== 0 || uncounted.bytes !== 0) {
      const off = `${counted(Math.abs(uncounted.records), 'record')} and ${formatBytes(Math.abs(uncounted.bytes))}`;
      const count = `${counted(held.records, 'record')}, ${formatBytes(held.bytes)}`;
      const found = `${name}: what is counted (${count}) is off by ${off}`;
      return warn(check, found, `have it counted again: ${command} ${flagsOf(quota)}`);
    }
  }
  const uses = usesOf(use);
  const inFlight =
    quota.bytesInFlight === null
      ? []
      : [`${formatBytes(quota.bytesInFlight)} of bodies under way, and of answers`];
  const found = `${name}: ${[...uses.map(({ shown }) => shown), ...inFlight].join(', ')}`;
  const used = uses.filter(({ part }) => part >= NEARLY_USED);
  if (used.length === 0) return ok(check, found);
  const refused = used.every(({ part }) => part < 1) ? 'nearly used up' : 'used up, and more is refused';
  const flags = used.map((one) => one.flag);
  // Answers go by themselves, a day after they were stored.
  const instead = flags.every((one) => one === REPLAY_FLAG) ? '' : 'delete what is not needed, or ';
  return warn(check, `${found}: ${refused}`, `${instead}raise it: ${command} ${flags.join(' ')}`);
}

// Of what all have at most there is a word where it is the organization's own, or nearly used up.
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
    const shown = `${formatBytes(replayBytes)} of ${formatBytes(replayBytesMax)} of stored answers`;
    uses.push({ shown, part, flag: REPLAY_FLAG });
  }
  return uses;
}

// Where nothing is allowed, all of it is used up.
function partOf(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit;
}

function flagsOf({ records, bytes }: Quota): string {
  return [...(records === null ? [] : ['--records N']), ...(bytes === null ? [] : ['--bytes SIZE'])].join(
    ' ',
  );
}
