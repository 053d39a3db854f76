// Conditional requests: the entity tag of a record, and the headers that compare it (RFC 9110, section 13).

import { invalid } from '../errors.ts';
import type { EntityTags, Operation } from '../operation.ts';

export const IF_MATCH = 'If-Match';
export const IF_NONE_MATCH = 'If-None-Match';

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
// Stands for a tag while a list is checked; no header has it.
const MARK = '\0';
const WEAK = 'W/';

/** The entity tag of a record, from its JSON; it changes whenever the JSON does. */
export function entityTag(json: string): string {
  return `"${Bun.hash.xxHash64(json).toString(36)}"`;
}

/**
 * The versions that `If-Match` lets a write change; null if it does not limit them.
 * @throws ApiError 422 for a header that is not a list of entity tags
 */
export function ifMatchOf(operation: Operation, request: Request): EntityTags | null {
  if (operation.isConditional !== true || !operation.isWrite) return null;
  const header = request.headers.get(IF_MATCH);
  if (header === null) return null;
  const tags = parseTags(header);
  if (tags !== null) return tags;
  throw invalid(
    IF_MATCH,
    'must be * or one or more ETags in double quotes, such as "1a2b3c"',
    'VALIDATION_INVALID_FORMAT',
  );
}

/** Whether the tags name that version; weak tags name none. */
export function namesVersion(tags: EntityTags, etag: string): boolean {
  return tags === '*' || tags.includes(etag);
}

/** Whether the client already has that version, weak or not; a header that is not a list of tags is ignored. */
export function isKnownVersion(request: Request, etag: string): boolean {
  const header = request.headers.get(IF_NONE_MATCH);
  if (header === null) return false;
  const tags = parseTags(header);
  if (tags === null || tags === '*') return tags === '*';
  return tags.some((tag) => (tag.startsWith(WEAK) ? tag.slice(WEAK.length) : tag) === etag);
}

function parseTags(header: string): EntityTags | null {
  if (header.trim() === '*') return '*';
  const tags = header.match(TAG);
  // A list can have empty elements (RFC 9110, section 5.6.1.2).
  const elements = header.replace(TAG, MARK).split(',');
  return elements.every((element) => ['', MARK].includes(element.trim())) ? tags : null;
}
