// The feed of changes as a stream of server-sent events.

import type { PlacedLog } from '../../db/changes/log-state.ts';
import type { ChangeRange } from '../../db/changes/queries.ts';
import type { Data } from '../../db/model/json.ts';
import type { EventFeed, EventPage, ReadCall, StreamCall, StreamOperation } from '../operation.ts';
import { HELD_LIMITS } from '../quotas/held-requests.ts';
import { getKeptLog, readFeed } from '../records/change-feed.ts';
import type { FeedPlace } from '../signing/feed-cursors.ts';
import { changeSchema } from './change-schemas.ts';
import {
  CHANGES_PATH,
  CHANGES_TAG,
  cursorsOf,
  FEED_PARAMETERS,
  feedPlaceOf,
  filtersOf,
  rangeAfter,
  rangeFrom,
} from './feed-requests.ts';
import { SharedPages } from './shared-pages.ts';

const PAGE_CHANGES_MAX = 100;
// Until it is known how large they are.
const PAGE_CHANGES_FIRST = 20;
// What a client that reads slowly has the server keep.
const PAGE_BYTES = 1024 * 1024;

const DESCRIPTION = `The changes of \`/changes\` as server-sent events, each as
soon as it is committed. The stream stays open. Each event is \`event: change\`; its \`data\` is one change on one line, as in
\`/changes\`, and its \`id\` is a cursor:

\`\`\`
event: change
id: k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U
data: {"object":"change","sequence":48213,"action":"created",…}
\`\`\`

After a lost connection, send the last \`id\` as \`Last-Event-ID\` to continue after it, with the same parameters; \`start\` is then
ignored. Clients for server-sent events that can set headers do that on their own, one second later, as \`retry\` asks; the
\`EventSource\` of browsers cannot send the key. An \`end_cursor\` of
\`/changes\` with the same filters works as well. Every 15 s the stream has a comment, with an \`id\` but no event.

The key is checked every 15 s. If it was revoked, has expired, has other scopes, or must not be used from this address any
more, the last event is \`event: error\` with the envelope of that error, and the stream ends. The same happens if the changes that come next
are no longer kept, or if a backup was restored: copy the records again. When the server stops, the stream ends
after a whole event, without an error. A client that reads slowly gets the changes later; one that reads nothing for a minute
is disconnected.

A stream counts as one request, when it begins. A key can have ${HELD_LIMITS.key} streams and requests with \`wait\` at once, an organization
${HELD_LIMITS.organization}; above that, the response is 429.

Requires the same scopes as \`/changes\`.`;

/** The operation that streams changes. */
export function streamOperation(): StreamOperation {
  const pages = new SharedPages<StreamPage>();
  return {
    api: 'v2',
    tag: CHANGES_TAG,
    scopes: [],
    method: 'GET',
    path: `${CHANGES_PATH}/stream`,
    id: 'streamChanges',
    summary: 'Stream changes',
    description: DESCRIPTION,
    isWrite: false,
    query: FEED_PARAMETERS,
    answer: changeSchema(),
    answerKind: 'stream',
    successes: { 200: 'A stream of events that does not end by itself.' },
    errorStatuses: [404, 422],
    run: (call) => runStream(call, pages),
  };
}

async function runStream(call: StreamCall, pages: SharedPages<StreamPage>): Promise<EventFeed> {
  const { access, query, lastEventId, now } = call;
  const filters = filtersOf(access, query);
  const cursors = await cursorsOf(call, filters, 'asc');
  const last = cursors.open(lastEventId ?? undefined, now, 'Last-Event-ID');
  const log = await getKeptLog(call, last?.sequence);
  // A place that is not kept any more is reported as in the midst of a stream.
  const place = last ?? feedPlaceOf(log, (await rangeFrom(call, log, 'asc')).from - 1, []);
  return new ChangeEvents(call, place, pages);
}

interface StreamPage {
  events: EventPage['events'];
  /** Of the events' data. */
  bytes: number;
  /** Up to where the log was read. */
  end: FeedPlace;
}

class ChangeEvents implements EventFeed {
  readonly event = 'change';
  readonly #call: ReadCall;
  readonly #pages: SharedPages<StreamPage>;
  /** The same for streams that show the same. */
  readonly #name: string;
  #place: FeedPlace;
  #limit = PAGE_CHANGES_FIRST;

  constructor(call: ReadCall, place: FeedPlace, pages: SharedPages<StreamPage>) {
    this.#call = call;
    this.#place = place;
    this.#pages = pages;
    const { orgNumber, userId, scopes } = call.access;
    const { start: _, ...query } = call.query;
    this.#name = JSON.stringify([orgNumber, userId, [...scopes].sort(), query]);
  }

  async read(): Promise<EventPage> {
    const log = await getKeptLog(this.#call, this.#place.sequence);
    const range = rangeAfter(log, 'asc', this.#place, 'Last-Event-ID');
    const [place, limit] = [this.#place, this.#limit];
    // Every write that a page could show also adds to the log.
    const name = JSON.stringify([this.#name, place, range.to, limit]);
    const page = await this.#pages.share(name, () => readPage(this.#call, log, { place, range, limit }));
    const { events, bytes, end } = page;
    if (bytes > 0) this.#limit = limitAfter(events.length, bytes);
    this.#place = end;
    return { events, caughtUpAt: end.sequence >= log.last ? log.last : null };
  }

  async place(): Promise<string> {
    const call = this.#call;
    const cursors = await cursorsOf(call, filtersOf(call.access, call.query), 'asc');
    return cursors.issue(this.#place);
  }
}

async function readPage(
  call: ReadCall,
  log: PlacedLog,
  { place, range, limit }: { place: FeedPlace; range: ChangeRange; limit: number },
): Promise<StreamPage> {
  const filters = filtersOf(call.access, call.query);
  // Again for each page, because the secret that signs can change.
  const cursors = await cursorsOf(call, filters, 'asc');
  const page = await readFeed(call, { filters, direction: 'asc', range, limit });
  const { texts, bytes } = textsThatFit(page.items);
  const { epoch } = log;
  const events = page.places
    .slice(0, texts.length)
    .map((one, index) => ({ id: cursors.issue({ ...one, epoch }), data: texts[index] ?? '' }));
  const cutAt = texts.length < page.items.length ? page.places[texts.length - 1] : undefined;
  const end =
    cutAt === undefined ? feedPlaceOf(log, page.rest.from - 1, [place, ...page.places]) : { ...cutAt, epoch };
  return { events, bytes, end };
}

// Includes the one that exceeds the limit; the others are read again.
function textsThatFit(items: readonly Data[]): { texts: string[]; bytes: number } {
  const texts: string[] = [];
  let bytes = 0;
  for (const item of items) {
    if (bytes > PAGE_BYTES) break;
    const text = JSON.stringify(item);
    bytes += Buffer.byteLength(text);
    texts.push(text);
  }
  return { texts, bytes };
}

// As many as fit if they are as large as the last, so that little is read twice.
function limitAfter(count: number, bytes: number): number {
  return Math.min(PAGE_CHANGES_MAX, Math.ceil((count * PAGE_BYTES) / bytes));
}
