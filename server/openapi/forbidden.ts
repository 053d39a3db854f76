// The 403 responses: they mention quotas only for operations that add data.
import type { Operation } from '../operation.ts';
import { QUOTA_HEADERS } from '../quotas/quota-errors.ts';
import type { ErrorAnswer, ErrorExample } from './error-answer.ts';

const ELSEWHERE: ErrorExample = {
  code: 'OPERATION_FORBIDDEN',
  message: 'The API key cannot be used from 198.51.100.7; it is restricted to certain networks.',
  faults: [['key.networks', 'must include 198.51.100.7']],
};

/** For operations that add no data: reads and deletes. */
const WITHOUT_QUOTA: Record<'read' | 'delete', ErrorAnswer> = {
  read: withoutQuota('Read', 'contacts:read', 'The key does not have a required scope, or'),
  delete: withoutQuota(
    'Delete',
    'contacts:delete',
    'The key does not have a required scope, its access level does not allow the operation, or',
  ),
};

const WITH_QUOTA: ErrorAnswer = {
  name: 'Forbidden',
  description:
    'The key does not have a required scope, its access level does not allow the operation, it cannot be used from this IP address, or the write would exceed the quota of the organization. An error of the IP address has the path `key.networks`, a quota error `quota.records` or `quota.bytes`.',
  headers: (family) => (family === 'Transcript' ? [] : QUOTA_HEADERS),
  examples: {
    scope: {
      code: 'AUTH_INSUFFICIENT_SCOPE',
      message: 'This request needs the scope contacts:write, which the API key does not have.',
    },
    forbidden: {
      code: 'OPERATION_FORBIDDEN',
      message: 'This key is user-bound: owner_id must be its user.',
    },
    address: ELSEWHERE,
    quota: {
      code: 'OPERATION_FORBIDDEN',
      message:
        'The organization has 1000 of the 1000 records that its quota allows; delete records you do not need, or ask your operator for a larger quota.',
      faults: [['quota.records', 'must not exceed 1000 records']],
    },
  },
};

/** The 403 response of an operation. */
export function forbiddenAnswer({ isWrite, method, isDelete }: Operation): ErrorAnswer {
  if (!isWrite) return WITHOUT_QUOTA.read;
  return method === 'DELETE' || isDelete ? WITHOUT_QUOTA.delete : WITH_QUOTA;
}

function withoutQuota(what: string, scope: string, reasons: string): ErrorAnswer {
  return {
    name: `Forbidden${what}`,
    description: `${reasons} it cannot be used from this IP address (path \`key.networks\`).`,
    headers: () => [],
    examples: {
      scope: {
        code: 'AUTH_INSUFFICIENT_SCOPE',
        message: `This request needs the scope ${scope}, which the API key does not have.`,
      },
      address: ELSEWHERE,
    },
  };
}
