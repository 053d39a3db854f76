// The error answers, as components: one for each status, and where they differ for each kind of endpoint.
import type { Data } from '../../db/model/json.ts';
import type { Operation } from '../operation.ts';
import { honoursKeys, USED_WITH_ANOTHER_KEY } from '../pipeline/replay.ts';
import { IN_FLIGHT_HEADER } from '../quotas/quota-errors.ts';
import { component } from './components.ts';
import { ERROR_ENVELOPE, errorExample } from './envelopes.ts';
import type { ErrorAnswer, ErrorFamily } from './error-answer.ts';
import { forbiddenAnswer } from './forbidden.ts';
import { COMMON_HEADERS, type HeaderName, headersOf, RATE_LIMIT_HEADERS } from './headers.ts';

const none = (): readonly HeaderName[] => [];
const limited = (family: ErrorFamily): readonly HeaderName[] => (family === 'Link' ? [] : RATE_LIMIT_HEADERS);
const replayable = (family: ErrorFamily): readonly HeaderName[] =>
  family === 'V2' ? [...RATE_LIMIT_HEADERS, 'Idempotent-Replayed'] : limited(family);

const ANSWERS: Record<number, ErrorAnswer> = {
  401: {
    name: 'Unauthorized',
    description:
      'No key, more than one, or one that is not valid here: wrong, revoked, expired, or of the other version.',
    headers: () => ['WWW-Authenticate'],
    examples: {
      missing: { code: 'AUTH_MISSING_CREDENTIALS', message: 'An API key is needed.' },
      invalid: { code: 'AUTH_INVALID_API_KEY', message: 'The API key is not valid here.' },
      expired: { code: 'AUTH_EXPIRED_API_KEY', message: 'The API key has expired.' },
    },
  },
  404: {
    name: 'NotFound',
    description: 'No such record exists in the organization, or the key does not see it.',
    headers: replayable,
    examples: {
      absent: {
        code: 'RESOURCE_NOT_FOUND',
        message: 'No contact with this id exists in your organization.',
      },
    },
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'This path with a method that it does not take. Needs no key.',
    headers: () => ['Allow'],
    examples: { method: { code: 'OPERATION_FORBIDDEN', message: 'This path takes GET, HEAD, POST only.' } },
  },
  408: {
    name: 'RequestTimeout',
    description:
      'The body took longer than 60 s from its first byte, 120 s in a batch, or paused for 15 s. Nothing was done, and the connection is closed.',
    headers: none,
    examples: {
      slow: {
        code: 'VALIDATION_OUT_OF_RANGE',
        message:
          'The body must be whole within 60 s of its first byte; send less at once, or send it faster.',
      },
    },
  },
  409: {
    name: 'Conflict',
    description:
      'Another record has what only one may have, records still use what would be removed, or the `Idempotency-Key` was used with another API key of the user, which has scopes that this one does not have.',
    headers: (family) => [...replayable(family), ...(family === 'V2' ? (['ExistingLocation'] as const) : [])],
    examples: {
      taken: {
        code: 'RESOURCE_CONFLICT',
        message: 'email: another contact has this email',
        faults: [['email', 'another contact has this email']],
      },
      ofAnotherKey: {
        code: 'RESOURCE_CONFLICT',
        message: `Idempotency-Key: ${USED_WITH_ANOTHER_KEY}`,
        faults: [['Idempotency-Key', USED_WITH_ANOTHER_KEY]],
      },
    },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is over 1 MiB, or over 32 MiB in a batch.',
    headers: none,
    examples: { body: { code: 'VALIDATION_OUT_OF_RANGE', message: 'The body may have at most 1 MiB.' } },
  },
  422: {
    name: 'UnprocessableContent',
    description: 'The request is not valid; `details` lists every fault.',
    headers: limited,
    examples: {
      required: {
        code: 'VALIDATION_REQUIRED_FIELD',
        message: 'name: is required',
        faults: [['name', 'is required']],
      },
      format: {
        code: 'VALIDATION_INVALID_FORMAT',
        message: 'alt_emails.0: must be an email address, such as ada@example.com',
        faults: [['alt_emails.0', 'must be an email address, such as ada@example.com']],
      },
      range: {
        code: 'VALIDATION_OUT_OF_RANGE',
        message: 'limit: must be an integer from 1 to 200',
        faults: [['limit', 'must be an integer from 1 to 200']],
      },
      several: {
        code: 'VALIDATION_FAILED',
        message: 'The request has 2 faults; see details.',
        faults: [
          ['title', 'must have at most 1000 characters', 'VALIDATION_OUT_OF_RANGE'],
          ['company_id', 'must be the id of an existing company', 'VALIDATION_FAILED'],
        ],
      },
    },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'A limit is used up, or too many bytes are under way; the request counted nowhere, and nothing of it was done. Try again after Retry-After.',
    headers: (family) => [
      ...RATE_LIMIT_HEADERS,
      'Retry-After',
      ...(family === 'Link' ? [] : ([IN_FLIGHT_HEADER] as const)),
    ],
    examples: {
      limit: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: 'The limit of 200 requests a minute is used up; try again in 12 s.',
      },
    },
  },
  500: {
    name: 'InternalError',
    description:
      'A failure of the service. Whether a write was done is unknown: repeat it with the same Idempotency-Key.',
    headers: none,
    examples: {
      failure: {
        code: 'INTERNAL_ERROR',
        message: 'Something went wrong on our side; try again, and quote the request id if it persists.',
      },
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The database cannot be reached or written just now. Try again after Retry-After.',
    headers: () => ['Retry-After'],
    examples: {
      unavailable: {
        code: 'INTERNAL_ERROR',
        message: 'The database cannot be reached or written just now; try again after a while.',
      },
    },
  },
};

/** The error answers of an operation, by status. */
export function errorResponses(operation: Operation): Data {
  const isLink = operation.admit !== undefined;
  const family = isLink ? 'Link' : operation.api === 'v1' ? 'V1' : 'V2';
  const always = isLink ? [405, 429, 500, 503] : [401, 403, 405, 429, 500, 503];
  const keyed = honoursKeys(operation) ? [409] : [];
  const ofBody = operation.body === undefined ? [] : [408];
  const statuses = [...new Set([...always, ...keyed, ...ofBody, ...operation.errorStatuses])].sort();
  const entries = statuses.flatMap((status) => {
    const one = status === 403 ? forbiddenAnswer(operation) : ANSWERS[status];
    return one === undefined ? [] : [[String(status), errorAnswer(family, one)]];
  });
  return Object.fromEntries(entries);
}

function errorAnswer(family: ErrorFamily, { name, description, headers, examples }: ErrorAnswer): Data {
  const api = family === 'V1' ? 'v1' : 'v2';
  const shown = Object.entries(examples).map(([key, { code, message, faults }]) => {
    const details = faults?.map(([path, text, own = code]) => ({ path, message: text, code: own })) ?? null;
    return [key, { summary: code, value: errorExample(api, code, message, details) }];
  });
  return component('responses', family === 'V2' ? name : family + name, {
    description,
    headers: headersOf([...COMMON_HEADERS[api], ...headers(family)]),
    content: {
      'application/json': {
        schema: ERROR_ENVELOPE[api] as Data,
        examples: Object.fromEntries(shown),
      },
    },
  });
}
