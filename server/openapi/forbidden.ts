// The 403 answers: of quotas they speak only where something is added, which needs room.
import type { Operation } from '../operation.ts';
import { QUOTA_HEADERS } from '../quotas/quota-errors.ts';
import type { ErrorAnswer, ErrorExample } from './error-answer.ts';

const ELSEWHERE: ErrorExample = {
  code: 'OPERATION_FORBIDDEN',
  message:
    'The API key may be used from certain networks only, and this request came from 198.51.100.7, which is in none of them.',
};

/** Of what adds nothing, and so needs no room: reads and deletes. */
const WITHOUT_QUOTA: Record<'read' | 'delete', ErrorAnswer> = {
  read: withoutQuota('Read', 'contacts:read', 'The key lacks a scope that this needs, or'),
  delete: withoutQuota(
    'Delete',
    'contacts:delete',
    'The key lacks a scope that this needs, its access level does not allow it, or',
  ),
};

const WITH_QUOTA: ErrorAnswer = {
  name: 'Forbidden',
  description:
    'The key lacks a scope that this needs, its access level does not allow it, it may not be used from that address, or the write would take the organization beyond its quota: the fault is then at `quota.records` or `quota.bytes`.',
  headers: (family) => (family === 'Link' ? [] : QUOTA_HEADERS),
  examples: {
    scope: {
      code: 'AUTH_INSUFFICIENT_SCOPE',
      message: 'This needs the scope contacts:write, which the API key does not have.',
    },
    forbidden: {
      code: 'OPERATION_FORBIDDEN',
      message: 'This key is bound to one user: owner_id can only be that user.',
    },
    address: ELSEWHERE,
    quota: {
      code: 'OPERATION_FORBIDDEN',
      message:
        'The organization has 1000 of the 1000 records that its quota allows; delete what is not needed, or ask your operator for a larger quota.',
      faults: [['quota.records', 'allows at most 1000 records']],
    },
  },
};

/** What is said of the 403 of an operation. */
export function forbiddenAnswer({ isWrite, method }: Operation): ErrorAnswer {
  if (!isWrite) return WITHOUT_QUOTA.read;
  return method === 'DELETE' ? WITHOUT_QUOTA.delete : WITH_QUOTA;
}

function withoutQuota(what: string, scope: string, reasons: string): ErrorAnswer {
  return {
    name: `Forbidden${what}`,
    description: `${reasons} it may not be used from that address.`,
    headers: () => [],
    examples: {
      scope: {
        code: 'AUTH_INSUFFICIENT_SCOPE',
        message: `This needs the scope ${scope}, which the API key does not have.`,
      },
      address: ELSEWHERE,
    },
  };
}
