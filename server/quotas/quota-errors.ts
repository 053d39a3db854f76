// What a client is told of the quota of its organization: how far it is used up, and what helps.
import type { Allowance } from '../../db/engine/engine.ts';
import type { QuotaError } from '../../db/engine/quota.ts';
import { ApiError } from '../errors.ts';

/** Headers of refusals; each is there where the organization has such a quota. */
export const QUOTA_HEADERS = [
  'X-Quota-Records-Limit',
  'X-Quota-Records-Used',
  'X-Quota-Bytes-Limit',
  'X-Quota-Bytes-Used',
] as const;
export const IN_FLIGHT_HEADER = 'X-Quota-Bytes-In-Flight-Limit';

/** The 403 for a write that would take the organization beyond its quota: waiting does not help, deleting does. */
export function quotaRefusal({ lacking, added, allowance }: QuotaError): ApiError {
  const max = lacking === 'records' ? allowance.recordsMax : allowance.bytesMax;
  const used = `has ${allowance[lacking]} of the ${max} ${lacking} that its quota allows`;
  const needed = lacking === 'records' ? '' : `, and this needs ${added} more`;
  const message = `The organization ${used}${needed}; delete what is not needed, or ask your operator for a larger quota.`;
  return new ApiError('OPERATION_FORBIDDEN', message, {
    details: [
      { path: `quota.${lacking}`, message: `allows at most ${max} ${lacking}`, code: 'OPERATION_FORBIDDEN' },
    ],
    headers: quotaHeaders(allowance),
    limit: `quota_${lacking}`,
  });
}

function quotaHeaders({ records, recordsMax, bytes, bytesMax }: Allowance): Record<string, string> {
  return {
    ...(recordsMax !== null && {
      'X-Quota-Records-Limit': String(recordsMax),
      'X-Quota-Records-Used': String(records),
    }),
    ...(bytesMax !== null && {
      'X-Quota-Bytes-Limit': String(bytesMax),
      'X-Quota-Bytes-Used': String(bytes),
    }),
  };
}
