// Follows the feed of changes page by page, and waits at its end for more.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import { type ApiResponse, unexpectedAnswer } from '../api/envelope.ts';
import { PAGE_SIZE_MAX } from '../api/pages.ts';
import { CliError } from '../errors.ts';
import { type FeedChange, markOf } from './change.ts';
import type { FeedPosition } from './position.ts';

/** A page of changes that are not done yet; it can be empty. */
export interface ChangePage {
  changes: FeedChange[];
  /** The position after one of them. */
  after: (change: FeedChange) => FeedPosition;
  /** The position after all of them. */
  end: FeedPosition;
}

export interface FeedOptions {
  /** Only changes of these resources; empty for all that the key can read. */
  resources: readonly string[];
  position: FeedPosition;
  signal: AbortSignal;
  /** Called after each response. */
  onResponse?: () => void;
}

const WAIT_SECONDS = 25;
// At the end of the feed, so that many small writes do not use up the rate limit of the key.
const REQUEST_INTERVAL_MS = 1_000;

/** The changes after a position, without end; the signal ends it. */
export async function* followFeed(client: Client, options: FeedOptions): AsyncGenerator<ChangePage> {
  const { resources, signal, onResponse } = options;
  let { from, last } = options.position;
  let hasBegun = false;
  for (;;) {
    const startedMs = performance.now();
    const query = {
      ...from,
      limit: String(PAGE_SIZE_MAX),
      resource: resources,
      // The first response says that the server is there.
      ...(hasBegun && { wait: String(WAIT_SECONDS) }),
    };
    const response = await client.request('GET', '/api/v2/changes', { query, signal, keepsTrying: true });
    hasBegun = true;
    onResponse?.();
    const { changes, endCursor, hasMore } = pageOfChanges(response);
    const place = from;
    yield {
      changes: withoutDone(changes, last),
      after: (change) => ({ from: place, last: markOf(change) }),
      end: { from: { cursor: endCursor }, last: null },
    };
    from = { cursor: endCursor };
    last = null;
    const restMs = startedMs + REQUEST_INTERVAL_MS - performance.now();
    if (!hasMore && restMs > 0) await sleep(restMs, undefined, { signal });
  }
}

/** The position of `now`, `oldest` or an instant. */
export function positionAt(start: string): FeedPosition {
  return { from: { start }, last: null };
}

function pageOfChanges(response: ApiResponse): {
  changes: FeedChange[];
  endCursor: string;
  hasMore: boolean;
} {
  const { body } = response;
  if (body.object !== 'list' || body.page_info.end_cursor === null) throw unexpectedAnswer(response);
  const { has_next_page: hasMore, end_cursor: endCursor } = body.page_info;
  return { changes: body.data as unknown as FeedChange[], endCursor, hasMore };
}

// If the last change is not in the page, all of it is repeated: better twice than never.
function withoutDone(changes: FeedChange[], last: string | null): FeedChange[] {
  return changes.slice(changes.findIndex((change) => markOf(change) === last) + 1);
}

/** The error of a feed that cannot be followed, with what to do; any other error unchanged. */
export function explainFeedError(error: unknown, cursorFile: string | null): unknown {
  if (!(error instanceof CliError)) return error;
  const { message, status, apiCode, requestId } = error;
  const refused = (text: string, ...nextSteps: string[]) =>
    new CliError(text, { nextSteps, cause: error, ...(requestId !== undefined && { requestId }) });
  if (status === 404) {
    return refused(
      'The server does not keep changes: they are turned off, or its version is too old.',
      'have its operator turn them on (crm serve --changes-days 30), or upgrade it.',
    );
  }
  if (status !== 422) return error;
  const isLost = apiCode === 'VALIDATION_OUT_OF_RANGE';
  if (cursorFile === null) {
    return isLost ? refused(message, 'start with --since oldest to see all that is kept.') : error;
  }
  if (isLost) {
    return refused(
      `The position in ${cursorFile} is not in the log of changes any more: it is too old, or a backup was restored.\n  ${message}`,
      `delete ${cursorFile}, and run the command again: it starts with what happens from then on.`,
      'then copy the records again: crm export all --out DIR',
    );
  }
  return refused(
    `The server does not accept the position in ${cursorFile}: it belongs to another server, organization or user, or to a key that can read other resources.\n  ${message}`,
    'use the key and URL that the file was made with, or another file with --cursor-file.',
  );
}
