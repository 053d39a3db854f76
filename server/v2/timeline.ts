// The timeline of a contact, company or deal, as a sub-resource.
import { type TSchema, Type } from 'typebox';
import { exampleId } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import { formatCount, withArticle } from '../../db/model/text.ts';
import { TIMELINE_KINDS, type TimelineKind } from '../../db/model/timelines.ts';
import type { TimelinePlace } from '../../db/timeline/pages.ts';
import { requireFilled } from '../backfills.ts';
import { invalid } from '../errors.ts';
import type { Answer, QueryParameter, ReadCall, ReadOperation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { readTimeline, TIMELINE_EXAMINED_MAX } from '../records/timeline.ts';
import { kindResource } from '../records/timeline-items.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';
import { identityOf, PAGE_PARAMETERS } from './paging.ts';

/** The name of the part of the database with the timelines, in `FILLERS`. */
const PART = 'timeline';

const PARAMETERS: Record<string, QueryParameter> = {
  ...PAGE_PARAMETERS,
  kinds: {
    type: TIMELINE_KINDS,
    timesMax: TIMELINE_KINDS.length,
    description: 'Only entries of this kind. Send it several times for several kinds.',
  },
  since: {
    type: 'instant',
    description: 'Only entries at or after this time, in RFC 3339 or Unix milliseconds.',
  },
  until: { type: 'instant', description: 'Only entries before this time, in RFC 3339 or Unix milliseconds.' },
};

const SCOPE: QueryParameter = {
  type: ['all', 'own'],
  initial: 'all',
  description: '`own` leaves out what shows only through contacts and deals of the company.',
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  contacts:
    'Its interactions, notes and tasks, its deals with their changes of stage, and the meetings and bookings of its ' +
    'addresses, whenever the contact got them.',
  companies:
    'Its interactions, notes, tasks, deals and meetings. With `scope=all`, the default, also what was written to its ' +
    'contacts and deals, their changes included: what is on the timeline of a contact or deal is also on that of the company ' +
    'that it had at the time. Meetings and bookings are those that were stored when ' +
    "one of its contacts had an attendee's address.",
  deals: 'Its creation and changes of stage, its notes, tasks and meetings.',
};

const COMMON =
  `An entry is at the date of an interaction, the start of a meeting or booking, the creation of a note, task or deal, and ` +
  'the time of a change. A task that is done has another entry at `done_at`, with `{"is_done": true}` as its `detail`. ' +
  '`detail` of a stage has the names `from` and `to`, as they were then; that of a change has `before` and `after`; that of a ' +
  'meeting has `recording_ids`; otherwise it is null. `record` is the record as it is now. Changes are listed as long as the ' +
  'log keeps them, 30 days unless the operator decides otherwise.\n\n' +
  'What is deleted or unlinked is gone; an undelete brings it back where it was. Each kind needs the scope for reading its ' +
  'records: without `kinds`, those that the key cannot read are left out.\n\n' +
  `A request examines at most ${formatCount(TIMELINE_EXAMINED_MAX)} entries, and a user-bound key may not see all of them: a page can have fewer ` +
  'entries, or none, although `has_next_page` is true. After an upgrade from a version without timelines, the response is ' +
  '503 until they are built.';

/** The operation that lists what happened to a record. */
export function timelineOperation(resource: Resource): ReadOperation {
  const { name, singular } = resource;
  return {
    api: 'v2',
    tag: titleOf(resource),
    scopes: [`${name}:read`],
    method: 'GET',
    path: `${pathOf(resource)}/{id}/timeline`,
    id: `get${capitalized(singular)}Timeline`,
    summary: `Get the timeline of ${withArticle(singular)}`,
    description: `What happened to the ${singular}, or will, newest first. ${DESCRIPTIONS[name]}\n\n${COMMON}`,
    isWrite: false,
    query: resource === companies ? { ...PARAMETERS, scope: SCOPE } : PARAMETERS,
    answer: entrySchema(),
    answerKind: 'list',
    successes: { 200: 'One page of the timeline.' },
    errorStatuses: [404, 422],
    run: (call) => runTimeline(call, resource),
  };
}

async function runTimeline(call: ReadCall, resource: Resource): Promise<Answer> {
  const { access, params, query, now } = call;
  const { id = '' } = params;
  const kinds = kindsIn(call);
  const cursors = await call.cursors.ofHidden(identityOf(call, `${pathOf(resource)}/${id}/timeline`));
  const after = typeof query.cursor === 'string' ? placeIn(cursors.open(query.cursor, now)) : null;
  const filled = requireFilled(call.db, access.orgNumber, PART);
  // At once, as each statement can be a way to a server and back.
  const page = readTimeline(call, resource, id, {
    ...{ kinds, after, limit: Number(query.limit), isOwnOnly: query.scope === 'own' },
    since: instantIn(query.since),
    until: instantIn(query.until),
  });
  // If timelines are not filled in, nobody waits for it.
  page.catch(() => undefined);
  await filled;
  const { items, places, next } = await page;
  const cursorOf = (place: TimelinePlace | undefined) =>
    cursors.issue(Buffer.from(JSON.stringify(place ?? null)));
  return {
    status: 200,
    object: 'list',
    data: items,
    hasNextPage: next !== null,
    cursorAfter: (index) => cursorOf(places[index]),
    ...(next !== null && { endCursor: cursorOf(next) }),
  };
}

// Null for all that the key can read.
function kindsIn({ access, query: { kinds } }: ReadCall): TimelineKind[] | null {
  if (!Array.isArray(kinds)) return null;
  const named = TIMELINE_KINDS.filter((kind) => kinds.includes(kind));
  for (const kind of named) if (kind !== 'change') requireScope(access, `${kindResource(kind).name}:read`);
  return named;
}

function placeIn(content: Buffer | null): TimelinePlace {
  if (content !== null) return JSON.parse(content.toString()) as TimelinePlace;
  const message = 'must be the end_cursor of a page of the same timeline, with the same parameters';
  throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
}

function instantIn(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

function entrySchema(): TSchema {
  const open = Type.Object({}, { additionalProperties: true });
  const entry = Type.Object(
    {
      at: Type.String({ format: 'date-time', description: 'When it happened, or will.' }),
      kind: Type.Enum([...TIMELINE_KINDS], { examples: ['note'] }),
      record_type: Type.Enum(
        RESOURCES.map(({ name }) => name),
        { description: 'The resource of the record that it is about.', examples: ['notes'] },
      ),
      record_id: Type.String({ description: 'ID of that record.', examples: [exampleId('notes')] }),
      title: {
        ...nullable(Type.String()),
        description: 'The title or name of the record.',
        examples: ['First meeting'],
      },
      detail: {
        ...nullable(open),
        description: 'What else there is to say; null for most.',
        examples: [null],
      },
      record: {
        ...open,
        description: 'The record as lists show it.',
        examples: [{ id: exampleId('notes'), title: 'First meeting' }],
      },
    },
    { additionalProperties: false },
  );
  return named('TimelineEntry', entry);
}
