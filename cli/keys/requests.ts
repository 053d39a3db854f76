// `--requests-per-minute`: the limit of a key, which the limit of its organization can make ineffective.
import type { ApiKeyRow, OrganizationRow } from '../../db/engine/schema.ts';
import { formatCount } from '../../db/model/text.ts';
import { shellWord } from '../terminal/text.ts';

// The default of `crm serve --org-limit`; which one a server has is not in the database.
const ORG_LIMIT_DEFAULT = 1_000;

/** The limit of a key to issue, null for that of the server, and what to tell the operator about it. */
export function requestsFor(
  { requestsPerMinute }: { requestsPerMinute?: number },
  org: OrganizationRow,
  source: ApiKeyRow | null,
): { perMinute: number | null; told: string[] } {
  if (requestsPerMinute !== undefined)
    return { perMinute: requestsPerMinute, told: beyondOrganization(requestsPerMinute, org) };
  const perMinute = source?.requests_per_minute ?? null;
  if (perMinute === null) return { perMinute, told: [] };
  return { perMinute, told: [`Like the v1 key, this key can send ${requestsText(perMinute)}.`] };
}

/** What to tell the operator about a limit that is above that of the organization. */
export function beyondOrganization(perMinute: number, org: OrganizationRow): string[] {
  const { requests_per_minute: own, name } = org;
  if (perMinute <= (own ?? ORG_LIMIT_DEFAULT)) return [];
  const limit =
    own === null ? `${inWords(ORG_LIMIT_DEFAULT)} unless crm serve has --org-limit` : inWords(own);
  return [
    `All keys of ${name} together can send fewer: ${limit}.`,
    `Next: crm orgs update ${shellWord(name)} --requests-per-minute ${perMinute}`,
  ];
}

/** A limit in words; null for that of the server. */
export function requestsText(perMinute: number | null): string {
  return perMinute === null
    ? 'as many requests per minute as the server allows each key'
    : `${inWords(perMinute)} per minute`;
}

function inWords(requests: number): string {
  return `${formatCount(requests)} ${requests === 1 ? 'request' : 'requests'}`;
}
