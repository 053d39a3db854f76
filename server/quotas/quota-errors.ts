// What clients learn about the quota of their organization: its usage, and what to do when it is exceeded.

import type { QuotaError } from '../../db/engine/quota.ts';
import type { QuotaState } from '../../db/engine/transaction.ts';
import { ApiError } from '../errors.ts';

/** Headers of quota errors; each is present if the organization has such a quota. */
export const QUOTA_HEADERS = [
  'X-Quota-Records-Limit',
  'X-Quota-Records-Used',
  'X-Quota-Bytes-Limit',
  'X-Quota-Bytes-Used',
] as const;
export const IN_FLIGHT_HEADER = 'X-Quota-Bytes-In-Flight-Limit';

/** The 403 for a write that would exceed the quota of the organization: not a 429, because waiting does not help. */
export function quotaRefusal({ lacking, added, quota }: QuotaError): ApiError {
  const max = lacking === 'records' ? quota.recordsMax : quota.bytesMax;
  const used = `has ${quota[lacking]} of the ${max} ${lacking} that its quota allows`;
  const needed = lacking === 'records' ? '' : `, and this request needs ${added} more`;
  const message = `The organization ${used}${needed}; delete records you do not need, or ask your operator for a larger quota.`;
  return new ApiError('OPERATION_FORBIDDEN', message, {
    details: [
      { path: `quota.${lacking}`, message: `must not exceed ${max} ${lacking}`, code: 'OPERATION_FORBIDDEN' },
    ],
    headers: quotaHeaders(quota),
    limit: `quota_${lacking}`,
  });
}

function quotaHeaders({ records, recordsMax, bytes, bytesMax }: QuotaState): Record<string, string> {
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
