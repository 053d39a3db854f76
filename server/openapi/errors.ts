// The error responses as components: one for each status, with variants where kinds of endpoints differ.
import type { Data } from '../../db/model/json.ts';
import type { Operation } from '../operation.ts';
import { takesIdempotencyKey, USED_WITH_ANOTHER_KEY } from '../pipeline/replay.ts';
import { IN_FLIGHT_HEADER } from '../quotas/quota-errors.ts';
import { component } from './components.ts';
import { ERROR_ENVELOPE, errorExample } from './envelopes.ts';
import type { ErrorAnswer, ErrorFamily } from './error-answer.ts';
import { forbiddenAnswer } from './forbidden.ts';
import { COMMON_HEADERS, type HeaderName, headersOf, RATE_LIMIT_HEADERS } from './headers.ts';

const none = (): readonly HeaderName[] => [];
const limited = (family: ErrorFamily): readonly HeaderName[] =>
  family === 'Transcript' ? [] : RATE_LIMIT_HEADERS;
const replayable = (family: ErrorFamily): readonly HeaderName[] =>
  family === 'V2' ? [...limited(family), 'Idempotent-Replayed'] : limited(family);
// From validation on, every error of a dry run says that it was one.
const always = (family: ErrorFamily): readonly HeaderName[] => {
  if (family === 'V1') return COMMON_HEADERS.v1;
  return family === 'V2' ? [...COMMON_HEADERS.v2, 'Dry-Run'] : COMMON_HEADERS.v2;
};

const ANSWERS: Record<number, ErrorAnswer> = {
  401: {
    name: 'Unauthorized',
    description:
      'The API key is missing, sent more than once, or not valid: it is wrong, revoked, expired, or for the other version.',
    headers: () => ['WWW-Authenticate'],
    examples: {
      missing: { code: 'AUTH_MISSING_CREDENTIALS', message: 'An API key is required.' },
      invalid: { code: 'AUTH_INVALID_API_KEY', message: 'The API key is not valid.' },
      expired: { code: 'AUTH_EXPIRED_API_KEY', message: 'The API key has expired.' },
    },
  },
  404: {
    name: 'NotFound',
    description: 'The record does not exist in the organization, or the key cannot access it.',
    headers: replayable,
    examples: {
      absent: {
        code: 'RESOURCE_NOT_FOUND',
        message: 'Your organization has no contact with this ID.',
      },
    },
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'The path does not support this method. No key is required.',
    headers: () => ['Allow'],
    examples: {
      method: { code: 'OPERATION_FORBIDDEN', message: 'This path supports only GET, HEAD, POST.' },
    },
  },
  408: {
    name: 'RequestTimeout',
    description:
      'The body took longer than 60 s from its first byte (120 s for a batch), or paused for 15 s. The request had no effect, and the connection is closed.',
    headers: none,
    examples: {
      slow: {
        code: 'VALIDATION_OUT_OF_RANGE',
        message: 'The body must arrive within 60 s of its first byte; send less at once, or send it faster.',
      },
    },
  },
  409: {
    name: 'Conflict',
    description:
      'Another record has a value that must be unique, other records still use what the request would remove, `If-Match` does not name the current version, or the `Idempotency-Key` was used with another API key of the same user that has scopes this key does not have.',
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
    description: 'The body is larger than 1 MiB, or 32 MiB for a batch.',
    headers: none,
    examples: {
      body: { code: 'VALIDATION_OUT_OF_RANGE', message: 'The body must not be larger than 1 MiB.' },
    },
  },
  422: {
    name: 'UnprocessableContent',
    description: 'The request is not valid; `details` lists the errors.',
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
        message: 'The request has 2 errors; see details.',
        faults: [
          ['title', 'must have at most 1000 characters', 'VALIDATION_OUT_OF_RANGE'],
          ['company_id', 'must be the ID of an existing company', 'VALIDATION_FAILED'],
        ],
      },
    },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'A limit is reached, or too many bytes are in progress. The request does not count and had no effect. Try again after the number of seconds in Retry-After.',
    headers: (family) => [
      ...RATE_LIMIT_HEADERS,
      'Retry-After',
      ...(family === 'Transcript' ? [] : ([IN_FLIGHT_HEADER] as const)),
    ],
    examples: {
      limit: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: 'The limit of 200 requests per minute is reached; try again in 12 s.',
      },
    },
  },
  500: {
    name: 'InternalError',
    description:
      'The service failed. A write may or may not have taken effect: repeat it with the same Idempotency-Key.',
    headers: none,
    examples: {
      failure: {
        code: 'INTERNAL_ERROR',
        message: 'Something went wrong on our side; try again, and quote the request ID if it persists.',
      },
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description:
      'The database cannot be reached or written to right now. Try again after the number of seconds in Retry-After.',
    headers: () => ['Retry-After'],
    examples: {
      unavailable: {
        code: 'INTERNAL_ERROR',
        message: 'The database cannot be reached or written to right now; try again later.',
      },
    },
  },
};

/** The error responses of an operation, by status. */
export function errorResponses(operation: Operation): Data {
  const isLink = operation.admit !== undefined;
  const family = isLink ? 'Transcript' : operation.api === 'v1' ? 'V1' : 'V2';
  const always = isLink ? [405, 429, 500, 503] : [401, 403, 405, 429, 500, 503];
  const keyed = takesIdempotencyKey(operation) ? [409] : [];
  const ofBody = operation.body === undefined ? [] : [408];
  const statuses = [...new Set([...always, ...keyed, ...ofBody, ...operation.errorStatuses])].sort();
  const entries = statuses.flatMap((status) => {
    const one = status === 403 ? forbiddenAnswer(operation) : ANSWERS[status];
    return one === undefined ? [] : [[String(status), errorAnswer(family, one)]];
  });
  return Object.fromEntries(entries);
}

// Most operations share them: as the same objects, they are written and hoisted once.
const WRITTEN: Record<ErrorFamily, Map<ErrorAnswer, Data>> = {
  V1: new Map(),
  V2: new Map(),
  Transcript: new Map(),
};

function errorAnswer(family: ErrorFamily, answer: ErrorAnswer): Data {
  const written = WRITTEN[family].get(answer) ?? writeErrorAnswer(family, answer);
  WRITTEN[family].set(answer, written);
  return written;
}

function writeErrorAnswer(family: ErrorFamily, { name, description, headers, examples }: ErrorAnswer): Data {
  const api = family === 'V1' ? 'v1' : 'v2';
  const shown = Object.entries(examples).map(([key, { code, message, faults }]) => {
    const details = faults?.map(([path, text, own = code]) => ({ path, message: text, code: own })) ?? null;
    return [key, { summary: code, value: errorExample(api, code, message, details) }];
  });
  return component('responses', family === 'V2' ? name : family + name, {
    description,
    headers: headersOf([...always(family), ...headers(family)]),
    content: {
      'application/json': {
        schema: ERROR_ENVELOPE[api] as Data,
        examples: Object.fromEntries(shown),
      },
    },
  });
}
