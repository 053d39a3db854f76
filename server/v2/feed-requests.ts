// What a request for changes asks for: which of them, from where in the log, and whether that is still kept.

import { CHANGE_ACTIONS, type ChangeAction } from '../../db/changes/changes.ts';
import type { LogState, PlacedLog } from '../../db/changes/log-state.ts';
import { findSequenceAt } from '../../db/changes/places.ts';
import type { ChangeFilters, ChangeRange } from '../../db/changes/queries.ts';
import { requestBytes } from '../../db/engine/author.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import { exampleId } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import type { Direction } from '../../db/tables/list-query.ts';
import { type Access, mayRead } from '../access.ts';
import { type ApiError, insufficientScope, invalid } from '../errors.ts';
import type { QueryParameter, ReadCall } from '../operation.ts';
import { parseInstant } from '../pipeline/query.ts';
import { requireScope } from '../pipeline/scope.ts';
import { isBeforeLog, keptSince } from '../records/change-feed.ts';
import type { FeedCursors, FeedPlace } from '../signing/feed-cursors.ts';

/** The path of the feed, to which cursors are bound. */
export const CHANGES_PATH = '/api/v2/changes';

/** The name of the group of these operations. */
export const CHANGES_TAG = 'Changes';

const NAMES = RESOURCES.map(({ name }) => name);

/** Which changes, and from where. */
export const FEED_PARAMETERS = {
  start: {
    type: 'text',
    description:
      'Where to begin: `oldest` (default), `now`, or a time in RFC 3339 or Unix milliseconds. Not together with `cursor`.',
    example: 'oldest',
  },
  resource: {
    type: NAMES,
    timesMax: NAMES.length,
    description:
      'Only changes of this resource, and of links that its records have. Send it several times for several resources.',
  },
  record_id: {
    type: 'text',
    description: 'Only changes of the record with this ID; needs one `resource`.',
    example: exampleId('contacts'),
  },
  action: { type: CHANGE_ACTIONS, description: 'Only changes of this kind.' },
  request_id: {
    type: 'text',
    description: 'Only changes made by the request with this ID.',
    example: 'req_kZ3vQ8mT1xB6cJ0wYp4L',
  },
} as const satisfies Record<string, QueryParameter>;

/** The filters of a request; @throws ApiError 403 without a scope, 422 */
export function filtersOf(access: Access, query: Record<string, JsonValue>): ChangeFilters {
  const wanted = Array.isArray(query.resource) ? new Set(query.resource.map(String)) : null;
  for (const name of wanted ?? []) requireScope(access, `${name}:read`);
  const resources = RESOURCES.filter((one) => wanted?.has(one.name) ?? mayRead(access, one));
  const [first] = resources;
  if (first === undefined) throw insufficientScope(`${NAMES[0]}:read`);
  const { record_id, action, request_id } = query;
  if (record_id !== undefined && wanted?.size !== 1)
    throw invalid('record_id', 'needs exactly one resource, the one of the record');
  return {
    resources: resources.map(({ name }) => name),
    recordId: record_id === undefined ? null : String(record_id),
    action: CHANGE_ACTIONS.find((one): one is ChangeAction => one === action) ?? null,
    request: request_id === undefined ? null : requestBytes(String(request_id)),
  };
}

/** The cursors of the feed that a request asks for; those of lists and of streams are the same. */
export function cursorsOf(
  { access, cursors, query }: Pick<ReadCall, 'access' | 'cursors' | 'query'>,
  { resources }: ChangeFilters,
  direction: Direction,
): Eventually<FeedCursors> {
  const { record_id, action, request_id } = query;
  const identity = { record_id, action, request_id, sort_direction: direction };
  const given = Object.entries(identity).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return cursors.ofFeed({
    orgNumber: access.orgNumber,
    path: CHANGES_PATH,
    query: { ...Object.fromEntries(given), resources: [...resources], user: access.userId },
  });
}

/** Where a place in the log was sent. */
export type PlacePath = 'cursor' | 'start' | 'Last-Event-ID';

/**
 * The part of the log after a place, from which the log was found.
 * @param path where the place was sent
 * @throws ApiError 422 VALIDATION_OUT_OF_RANGE if it is not kept any more
 */
export function rangeAfter(
  log: PlacedLog,
  direction: Direction,
  { sequence, epoch, at }: FeedPlace,
  path: PlacePath,
): ChangeRange {
  const { first, last, placeAt } = log;
  const isKept = direction === 'asc' ? sequence >= first - 1 : sequence >= first;
  // A database that came back without its last writes gives their numbers to others.
  const isAnother = at !== null && placeAt !== null && at !== placeAt;
  if (epoch !== log.epoch) throw notKept(log, path, 'is from before a backup was restored');
  if (sequence > last + 1 || isAnother)
    throw notKept(log, path, 'is from before the database lost its last changes');
  if (!isKept) throw notKept(log, path, TOO_OLD);
  return direction === 'asc' ? { from: sequence + 1, to: last } : { from: first, to: sequence - 1 };
}

/** The place of the change with that number, with its instant if that is known: of the last change, and of these. */
export function feedPlaceOf(
  { epoch, last, lastAt }: PlacedLog,
  sequence: number,
  known: readonly (Omit<FeedPlace, 'epoch'> | null)[],
): FeedPlace {
  const at = known.find((one) => one?.sequence === sequence)?.at ?? null;
  return { sequence, epoch, at: at ?? (sequence === last ? lastAt : null) };
}

/** The part of the log from `start` on; @throws ApiError 422 if that is not valid, or not kept any more */
export async function rangeFrom(
  { db, access, query: { start } }: Pick<ReadCall, 'db' | 'access' | 'query'>,
  log: LogState,
  direction: Direction,
): Promise<ChangeRange> {
  const { first, last } = log;
  const isForward = direction === 'asc';
  const from = (sequence: number) => ({ from: sequence, to: last });
  const upTo = (sequence: number) => ({ from: first, to: sequence });
  if (start === 'now') return isForward ? from(last + 1) : upTo(last);
  if (start === undefined && !isForward) return upTo(last);
  if (start === undefined || start === 'oldest') return isForward ? from(first) : upTo(first);
  const instant = parseInstant(String(start));
  if (instant === undefined) {
    const message = 'must be oldest, now, a date and time such as 2026-01-31T09:30:00Z, or Unix milliseconds';
    throw invalid('start', message, 'VALIDATION_INVALID_FORMAT');
  }
  if (isBeforeLog(log, instant)) throw notKept(log, 'start', TOO_OLD);
  const { orgNumber } = access;
  if (isForward) return from(await findSequenceAt(db, orgNumber, log, instant));
  return upTo((await findSequenceAt(db, orgNumber, log, instant + 1)) - 1);
}

const TOO_OLD = 'is too old';

function notKept(log: LogState, path: PlacePath, why: string): ApiError {
  return invalid(path, `${why}: ${keptSince(log)}; copy the records again`, 'VALIDATION_OUT_OF_RANGE');
}
