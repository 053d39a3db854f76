// Who am I: the organization and the API key of a request.

import { Type } from 'typebox';
import { getOrganization } from '../../db/accounts/accounts.ts';
import { findKey } from '../../db/accounts/keys.ts';
import { exampleId } from '../../db/model/fields.ts';
import { instantText } from '../../db/model/instants.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import type { Answer, ReadOperation } from '../operation.ts';
import { limitsFor, type RequestLimits } from '../pipeline/rate-limit.ts';

const closed = { additionalProperties: false };
const id = (kind: string) => Type.String({ examples: [exampleId(kind)] });

const organizationSchema = Type.Object(
  { id: id('organizations'), name: Type.String({ examples: ['Analytical Engines'] }) },
  closed,
);
const keySchema = Type.Object(
  {
    id: id('keys'),
    name: { ...nullable(Type.String()), description: 'Label of the key.', examples: ['Nightly sync'] },
    access: Type.Enum(['organization', 'user'], {
      description: '`user` if the key sees only the records of one user.',
    }),
    user_id: { ...nullable(Type.String()), description: 'That user; null for an organization-wide key.' },
    scopes: Type.Array(Type.String(), { examples: [['contacts:read', 'contacts:write']] }),
    expires_at: {
      ...nullable(Type.String({ format: 'date-time' })),
      description: 'When the key expires; null if it does not.',
    },
    requests_per_minute: Type.Integer({
      minimum: 1,
      examples: [200],
      description:
        'Requests per minute that the key can send: its own limit, or that of its organization if that is lower.',
    }),
  },
  closed,
);

/**
 * The operation that describes the key of its request.
 * @param limits of keys and organizations that have none of their own
 */
export function authentication(limits: RequestLimits): ReadOperation {
  return {
    api: 'v2',
    method: 'GET',
    path: '/api/v2/authenticate',
    id: 'getAuthentication',
    tag: 'API key',
    summary: 'Get the organization and the key of the request',
    description: 'Any version 2 key can send this request, whatever its scopes.',
    scopes: [],
    isWrite: false,
    query: {},
    answer: named(
      'Authentication',
      Type.Object({ organization: organizationSchema, key: keySchema }, closed),
    ),
    answerKind: 'success',
    successes: { 200: 'Found.' },
    errorStatuses: [422],
    run: async ({ db, access }): Promise<Answer> => {
      const { id, name } = await getOrganization(db, access.orgNumber);
      const key = await findKey(db, access.keyId);
      const { keyLimit, orgLimit } = limitsFor(access, limits);
      const expiresAt = key?.expires_at ?? null;
      const data = {
        organization: { id, name },
        key: {
          id: access.keyId,
          name: key?.name ?? null,
          access: access.level,
          user_id: access.userId,
          scopes: [...access.scopes],
          expires_at: expiresAt === null ? null : instantText(expiresAt),
          requests_per_minute: Math.min(keyLimit, orgLimit),
        },
      };
      return { status: 200, object: 'success', data };
    },
  };
}
