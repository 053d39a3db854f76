// The feed of changes: every create, update, delete, link and unlink of the organization, in order.

import type { ChangeRange } from '../../db/changes/queries.ts';
import { formatCount } from '../../db/model/text.ts';
import type { Direction } from '../../db/tables/list-query.ts';
import { invalid } from '../errors.ts';
import type { Answer, Operation, QueryParameter, ReadCall, ReadOperation } from '../operation.ts';
import { HELD_LIMITS } from '../quotas/held-requests.ts';
import { EXAMINED_MAX, getKeptLog, readFeed, restAfter } from '../records/change-feed.ts';
import { changeSchema, feedPageInfoSchema } from './change-schemas.ts';
import { streamOperation } from './change-stream.ts';
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
import { PAGE_PARAMETERS } from './paging.ts';

const WAIT_SECONDS_MAX = 25;

const QUERY: Record<string, QueryParameter> = {
  ...PAGE_PARAMETERS,
  ...FEED_PARAMETERS,
  sort_direction: {
    type: ['asc', 'desc'],
    initial: 'asc',
    description: '`asc` follows the log; `desc` reads back from `start`, whose default is then `now`.',
  },
  wait: {
    type: 'integer',
    minimum: 0,
    maximum: WAIT_SECONDS_MAX,
    description:
      'Seconds to wait for the first change if there is none; `asc` only. The response is sent as soon as there is one.',
    example: WAIT_SECONDS_MAX,
  },
};

/** The operations on the log of changes. */
export function changeOperations(): Operation[] {
  return [list(), streamOperation()];
}

const DESCRIPTION = `Every create, update, delete, undelete, link and unlink leaves one change, in the transaction of the write itself, whether a key made it or
an operator's command. The log has no gaps. A write can cause further changes, such as the references that a delete clears: these
come right after it, with its sequence number as their \`cause\`.

\`before\` and \`after\` have the fields that an update changed; \`before\` of a delete is the whole record. \`record\` is the
record as it is **now**, or null if it no longer exists: a client that stores \`record\` for each change ends with an exact copy.
Fields that the service computes from other records leave no change by themselves: \`last_interaction_at\` (and \`updated_at\` with it),
\`contact_ids\` and \`company_ids\` of interactions, \`member_count\`, \`recording_ids\`, the \`contact_id\` of attendees. Neither do external IDs.

\`end_cursor\` is always a string, also for an empty page: send it later as \`cursor\` to get what has happened since.
\`has_next_page\` is false once there is nothing more. A request examines at most ${formatCount(EXAMINED_MAX)} changes, so with filters a page can be
empty although \`has_next_page\` is true. \`oldest\` and \`head\` are the first and last sequence numbers of the log.

With \`wait\`, a request that finds nothing is held until there is a change. If there is none within that many seconds, the
response is an empty page. Changes arrive within milliseconds, those made by other processes within a second. A key can have
${HELD_LIMITS.key} such requests at once, an organization ${HELD_LIMITS.organization}; above that, the response is 429.

Changes are kept for 30 days unless the operator decides otherwise. A \`cursor\` or \`start\` from before that time, or from before
a backup was restored, returns 422: copy the records again. If the operator keeps no changes, this path returns 404.

To copy an organization exactly: get the \`end_cursor\` of \`start=now\`, read all lists, then follow the log from that cursor.

A user-bound key sees what its user could see at the time: a record that leaves its sight is \`deleted\`, one that comes into it
is \`created\` and may have links that are not in the log; list these. It gets no sequence numbers.

Requires the \`read\` scope of each \`resource\`; without \`resource\`, the response has the changes of every resource that the key
can read. Links also need the scopes for listing them.`;

function list(): ReadOperation {
  return {
    api: 'v2',
    tag: CHANGES_TAG,
    scopes: [],
    method: 'GET',
    path: CHANGES_PATH,
    id: 'listChanges',
    summary: 'List changes',
    description: DESCRIPTION,
    isWrite: false,
    query: QUERY,
    answer: changeSchema(),
    answerKind: 'list',
    pageInfo: feedPageInfoSchema(),
    successes: { 200: 'One page of changes.' },
    errorStatuses: [404, 422],
    run: runList,
  };
}

async function runList(call: ReadCall): Promise<Answer> {
  const { access, query, now } = call;
  const filters = filtersOf(access, query);
  const direction: Direction = query.sort_direction === 'desc' ? 'desc' : 'asc';
  const { limit, cursor, start, wait } = query;
  if (wait !== undefined && direction === 'desc')
    throw invalid('wait', 'can only be used with sort_direction=asc');
  const cursors = await cursorsOf(call, filters, direction);
  const place = cursors.open(cursor, now);
  if (place !== null && start !== undefined) throw invalid('start', 'cannot be combined with cursor');
  const until = performance.now() + Number(wait ?? 0) * 1_000;
  let log = await getKeptLog(call, place?.sequence);
  let range =
    place === null ? await rangeFrom(call, log, direction) : rangeAfter(log, direction, place, 'cursor');
  const read = () => readFeed(call, { filters, direction, range, limit: Number(limit) });
  let page = await read();
  while (wait !== undefined && page.items.length === 0 && isOver(page.rest)) {
    if (!(await call.wait(log.last, until))) break;
    // From where it has read already: what came could all be hidden by the filters, or from the key.
    const reached = feedPlaceOf(log, page.rest.from - 1, [place]);
    log = await getKeptLog(call, reached.sequence);
    range = rangeAfter(log, direction, reached, place === null ? 'start' : 'cursor');
    page = await read();
  }
  const cursorOf = (left: ChangeRange) => {
    const sequence = direction === 'asc' ? left.from - 1 : left.to + 1;
    return cursors.issue(feedPlaceOf(log, sequence, [place, ...page.places]));
  };
  const isOpen = access.userId === null;
  return {
    status: 200,
    object: 'list',
    data: page.items,
    hasNextPage: !isOver(page.rest),
    cursorAfter: (index) => cursorOf(restAfter(range, page.places[index]?.sequence ?? 0, direction)),
    endCursor: cursorOf(page.rest),
    pageInfo: {
      oldest: isOpen && log.first <= log.last ? log.first : null,
      head: isOpen && log.last > 0 ? log.last : null,
    },
  };
}

function isOver({ from, to }: ChangeRange): boolean {
  return from > to;
}
