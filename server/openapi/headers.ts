// The response headers, as components.
import type { Data } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { component } from './components.ts';

function integer(description: string, minimum: number): Data {
  return { required: true, description, schema: { type: 'integer', minimum } };
}

function text(description: string, more: Data = {}): Data {
  return { required: true, description, schema: { type: 'string', ...more } };
}

// Present only if the organization has such a quota and the request was rejected because of it.
function quota(description: string): Data {
  return { description, schema: { type: 'integer', minimum: 0 } };
}

/** Every header that a response can have; headers that are not required can be missing. */
const HEADERS = {
  'X-Request-Id': text('Identifies the request; the same as meta.request_id, except in a replay.', {
    minLength: 1,
  }),
  'X-RateLimit-Limit': integer('Requests per minute that the tighter limit allows.', 0),
  'X-RateLimit-Remaining': integer('Requests remaining in this minute.', 0),
  'X-RateLimit-Reset': integer('When the minute ends, as a Unix timestamp in seconds.', 0),
  'Retry-After': integer('Seconds to wait before trying again.', 1),
  Location: text('Absolute URL of the record.', { format: 'uri' }),
  Allow: text('The methods that this path supports.', { minLength: 1 }),
  'WWW-Authenticate': text('The authentication scheme.', { enum: ['Bearer'] }),
  Deprecation: text('When this version was deprecated (RFC 9745).', { pattern: '^@\\d+$' }),
  Link: text('URL of the migration guide for version 2, with `rel="deprecation"`.'),
  'Idempotent-Replayed': {
    description:
      'Always `true`; present if this is the stored response to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Dry-Run': {
    description: 'Always `true`; present if the request was a dry run, so nothing was written.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: {
    description: 'The version of the record; it changes whenever `data` would. Absent with `include`.',
    schema: { type: 'string', pattern: '^".+"$' },
  },
  'X-Quota-Records-Limit': quota('Number of records that the quota of the organization allows.'),
  'X-Quota-Records-Used': quota('Number of records that the organization has.'),
  'X-Quota-Bytes-Limit': quota(
    'Number of bytes in records and transcripts that the quota of the organization allows.',
  ),
  'X-Quota-Bytes-Used': quota('Number of bytes in records and transcripts that the organization has.'),
  'X-Quota-Bytes-In-Flight-Limit': quota(
    'Number of bytes in progress, of request bodies and of responses, that the quota of the organization allows.',
  ),
  ExistingLocation: {
    description: 'Absolute URL of the conflicting record, if the key can read it.',
    schema: { type: 'string', format: 'uri' },
  },
} as const satisfies Data;

export type HeaderName = keyof typeof HEADERS;

/** The headers of every response of a version. */
export const COMMON_HEADERS: Record<Api, readonly HeaderName[]> = {
  v1: ['X-Request-Id', 'Deprecation', 'Link'],
  v2: ['X-Request-Id'],
};

/** The headers that describe the rate limit. */
export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

const COMPONENTS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [name, component('headers', name, header)]),
) as Record<HeaderName, Data>;

/** The named headers as a response describes them. */
export function headersOf(names: readonly HeaderName[]): Data {
  return Object.fromEntries(names.map((name) => [sentAs(name), COMPONENTS[name]]));
}

function sentAs(name: HeaderName): string {
  return name === 'ExistingLocation' ? 'Location' : name;
}
