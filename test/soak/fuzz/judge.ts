// Whether an answer to a fuzzed request is one that a client may get.
import type { Json } from '../../support/json.ts';
import { checkAgainstDocument } from '../../support/openapi.ts';
import type { FuzzedRequest } from './requests.ts';
import type { Answer } from './wire.ts';

// What only the inside of the service has.
const INTERNAL =
  /sqlite|SQLITE|node_modules|\$bunfs|kysely|\.ts:\d|\bat \w+ \(|postgres|PostgresError|\/tmp\/|undefined/;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const TOO_LARGE = [400, 413, 414, 431];

/** What is wrong with an answer to a request in good HTTP; empty if nothing is. */
export async function faultOf(
  { method, target, body: sent }: FuzzedRequest,
  answer: Answer,
): Promise<string> {
  const { status, headers, body } = answer;
  if (status >= 500) return `${status} ${body}`;
  if (status === 200 && headers.get('content-type') === 'text/event-stream') return '';
  const isApi = headers.get('content-type')?.startsWith('application/json') === true;
  // A head that is too long, or in which a byte has no place, is refused before it is read.
  if (body === '' && !isApi && TOO_LARGE.includes(status)) return '';
  const json: Json = body === '' ? undefined : parsed(body);
  if (json === null) return `${status} with a body that is no JSON: ${body.slice(0, 100)}`;
  if (status === 204 || status === 304) return body === '' ? '' : `${status} with a body`;
  if (method !== 'HEAD' && /^\/api\//.test(target)) {
    const fault = envelopeFault(status, json, headers);
    if (fault !== '') return fault;
  }
  if (status >= 400 && INTERNAL.test(body)) return `${status} tells what is internal: ${body.slice(0, 300)}`;
  // A fragment, which no client sends, is a part of the last segment: what may be an id there is none of the path's own words.
  if (status >= 400 && target.includes('#')) return '';
  // A path that could be resolved to another is none of the service's.
  if (status === 404 && DOT_SEGMENT.test(pathOf(target))) return '';
  const isSelected = /[?&]fields=/.test(target) || (sent !== null && Buffer.from(sent).includes('"fields"'));
  return checkAgainstDocument(method, pathOf(target), status, headers, json, isSelected).then(
    () => '',
    (error: Error) => error.message,
  );
}

function envelopeFault(status: number, json: Json, headers: Headers): string {
  if (json === undefined) return `${status} without a body`;
  if (!/^req_/.test(json.meta?.request_id)) return `${status} without meta.request_id`;
  const isReplay = headers.has('idempotent-replayed');
  if (!isReplay && headers.get('x-request-id') !== json.meta.request_id) return 'X-Request-Id is another';
  if ((json.object === 'error') !== status >= 400) return `${status} with "${json.object}"`;
  if (status === 422 && !(json.error.details?.length > 0)) return '422 without details';
  return '';
}

// As it was sent, which is how the service reads it: nothing is resolved.
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
