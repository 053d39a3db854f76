// The headers of answers, as components.
import type { Data } from '../../db/model/json.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { component } from './components.ts';

function integer(description: string, minimum: number): Data {
  return { required: true, description, schema: { type: 'integer', minimum } };
}

function text(description: string, more: Data = {}): Data {
  return { required: true, description, schema: { type: 'string', ...more } };
}

// There only where the organization has such a quota, and it is what the request was refused for.
function quota(description: string): Data {
  return { description, schema: { type: 'integer', minimum: 0 } };
}

/** Every header that an answer can be described with; those that are not required may be absent. */
const HEADERS = {
  'X-Request-Id': text('Names this exchange; the same as meta.request_id, except in a replay.', {
    minLength: 1,
  }),
  'X-RateLimit-Limit': integer('Requests a minute that the tighter limit allows.', 0),
  'X-RateLimit-Remaining': integer('Requests left in this minute.', 0),
  'X-RateLimit-Reset': integer('When the minute ends, in Unix seconds.', 0),
  'Retry-After': integer('Seconds to wait before trying again.', 1),
  Location: text('Absolute address of the record.', { format: 'uri' }),
  Allow: text('The methods that this path takes.', { minLength: 1 }),
  'WWW-Authenticate': text('How to authenticate.', { enum: ['Bearer'] }),
  Deprecation: text('Since when this version is deprecated (RFC 9745).', { pattern: '^@\\d+$' }),
  Link: text('Leads, with `rel="deprecation"`, to the notes on the way to version 2.'),
  'Idempotent-Replayed': {
    description: 'There, and `true`, when this is the stored answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Quota-Records-Limit': quota('Records that the quota of the organization allows.'),
  'X-Quota-Records-Used': quota('Records that the organization has.'),
  'X-Quota-Bytes-Limit': quota('Bytes in records and transcripts that the quota of the organization allows.'),
  'X-Quota-Bytes-Used': quota('Bytes in records and transcripts that the organization has.'),
  'X-Quota-Bytes-In-Flight-Limit': quota(
    'Bytes of request bodies, and of answers, that the quota of the organization allows at once.',
  ),
  ExistingLocation: {
    description: 'Address of the record that is in the way, where the key may see it.',
    schema: { type: 'string', format: 'uri' },
  },
} as const satisfies Data;

export type HeaderName = keyof typeof HEADERS;

/** What every answer of a version says. */
export const COMMON_HEADERS: Record<Api, readonly HeaderName[]> = {
  v1: ['X-Request-Id', 'Deprecation', 'Link'],
  v2: ['X-Request-Id'],
};

/** What an answer says of the rate limit. */
export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

/** The headers of an answer by name. */
export function headersOf(names: readonly HeaderName[]): Data {
  return Object.fromEntries(names.map((name) => [sentAs(name), component('headers', name, HEADERS[name])]));
}

function sentAs(name: HeaderName): string {
  return name === 'ExistingLocation' ? 'Location' : name;
}
