// One search over records of several resources.
import { type TSchema, Type } from 'typebox';
import { exampleId } from '../../db/model/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { named } from '../../db/model/schemas.ts';
import {
  QUERY_CHARACTERS_MAX,
  QUERY_WORDS_MAX,
  queryOf,
  type SearchQuery,
} from '../../db/model/search-query.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { formatCount } from '../../db/model/text.ts';
import { mayRead } from '../access.ts';
import { ApiError, invalid, validationError } from '../errors.ts';
import type { Answer, QueryParameter, ReadCall, ReadOperation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { SEARCH_TIERS } from '../search/matches.ts';
import { SEARCH_EXAMINED_MAX, SEARCH_RECORDS_MAX, type SearchPosition } from '../search/request.ts';
import { searchRecords } from '../search/search.ts';
import { identityOf, PAGE_PARAMETERS } from './paging.ts';

/** The group of the search in the description. */
export const SEARCH_TAG = 'Search';

const PATH = '/api/v2/search';
const PAGE_MAX = 100;

const PARAMETERS: Record<string, QueryParameter> = {
  q: {
    type: 'text',
    isRequired: true,
    description: `The words to search for, at most ${QUERY_WORDS_MAX} in ${QUERY_CHARACTERS_MAX} characters; all must occur in a record.`,
    example: 'ada engines',
  },
  types: {
    type: SEARCHED_RESOURCES,
    timesMax: SEARCHED_RESOURCES.length,
    description: 'Only records of this resource. Send it several times for several resources.',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_MAX,
    initial: 20,
    description: 'Maximum number of records per page; a page of large records has fewer.',
  },
  cursor: {
    ...(PAGE_PARAMETERS.cursor as QueryParameter),
    description: 'The end_cursor of the previous page; use the same `q` and `types`.',
  },
};

const DESCRIPTION =
  'Searches contacts, companies, deals, notes, tasks, meetings, recordings, interactions and bookings for words, in every ' +
  'script and without regard to case and accents. The last word, of at least two characters, may be incomplete. ' +
  'Email addresses, domains and phone numbers are found whole and by their parts. Typing errors are not corrected.\n\n' +
  'The best matches come first, by `match.tier`: `identifier` if `q` as a whole is an email address, domain, phone ' +
  'number, external ID, `primary_id` or ID of the record; `name` if its name, title, addresses or domain have all words; ' +
  '`text` if they occur anywhere in it. Within a tier the newest come first. `match.field` is the field of the first hit: ' +
  '`custom.NAME` of your own fields, `transcript` of what was said. `match.snippet` is the part of it around the hit, as ' +
  'plain text.\n\n' +
  'Each resource needs the scope for reading it: without `types`, those that the key cannot read are left out. A record is ' +
  `found as soon as its write was answered. A request examines at most ${formatCount(SEARCH_EXAMINED_MAX)} entries of the index and ` +
  `${formatCount(SEARCH_RECORDS_MAX)} records: a page can have fewer records, or none, although \`has_next_page\` is true. After an upgrade ` +
  'from a version without search, the response is 503 until the index is built.';

/** The operation that searches. */
export function searchOperation(): ReadOperation {
  return {
    api: 'v2',
    tag: SEARCH_TAG,
    scopes: [],
    method: 'GET',
    path: PATH,
    id: 'searchRecords',
    summary: 'Search records',
    description: DESCRIPTION,
    isWrite: false,
    query: PARAMETERS,
    answer: resultSchema(),
    answerKind: 'list',
    successes: { 200: 'One page of results.' },
    errorStatuses: [422],
    run: runSearch,
  };
}

async function runSearch(call: ReadCall): Promise<Answer> {
  const { access, query, now } = call;
  const sought = soughtIn(call);
  const resources = resourcesIn(call);
  const cursors = await call.cursors.ofHidden({
    ...identityOf(call, PATH),
    // A position says something of records that another key may not see.
    query: { q: sought.text, types: resources.map(({ name }) => name), user: access.userId },
  });
  const after = typeof query.cursor === 'string' ? positionIn(cursors.open(query.cursor, now)) : null;
  const request = { query: sought, resources, after, limit: Number(query.limit) };
  const { items, positions, next } = await searchRecords(call, request);
  const cursorOf = (position: SearchPosition | undefined) =>
    cursors.issue(Buffer.from(JSON.stringify(position ?? null)));
  return {
    status: 200,
    object: 'list',
    data: items,
    hasNextPage: next !== null,
    cursorAfter: (index) => cursorOf(positions[index]),
    ...(next !== null && { endCursor: cursorOf(next) }),
  };
}

function soughtIn({ query: { q } }: ReadCall): SearchQuery {
  const read = queryOf(typeof q === 'string' ? q : undefined);
  if ('faults' in read) throw validationError(read.faults);
  return read.query;
}

function resourcesIn({ access, query: { types } }: ReadCall): Resource[] {
  const all = SEARCHED_RESOURCES.map(getResource);
  if (!Array.isArray(types)) {
    const readable = all.filter((resource) => mayRead(access, resource));
    if (readable.length > 0) return readable;
    throw new ApiError(
      'AUTH_INSUFFICIENT_SCOPE',
      `This request needs the scope for reading a resource that is searched, such as ${all[0]?.name}:read, but the API key does not have any.`,
    );
  }
  const named = all.filter(({ name }) => types.includes(name));
  for (const { name } of named) requireScope(access, `${name}:read`);
  return named;
}

function positionIn(content: Buffer | null): SearchPosition {
  if (content !== null) return JSON.parse(content.toString()) as SearchPosition;
  const message = 'must be the end_cursor of a page of the same search, with the same parameters';
  throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
}

function resultSchema(): TSchema {
  const match = Type.Object(
    {
      tier: Type.Enum([...SEARCH_TIERS], { description: 'How well it matches.', examples: ['name'] }),
      field: Type.String({ description: 'The field of the first hit.', examples: ['last_name'] }),
      snippet: Type.String({
        maxLength: 160,
        description: 'The part of that field around the hit, as plain text.',
        examples: ['Lovelace'],
      }),
    },
    { additionalProperties: false },
  );
  const result = Type.Object(
    {
      record_type: Type.Enum([...SEARCHED_RESOURCES], {
        description: 'The resource of the record.',
        examples: ['contacts'],
      }),
      record_id: Type.String({ description: 'ID of the record.', examples: [exampleId('contacts')] }),
      match,
      record: {
        ...Type.Object({}, { additionalProperties: true }),
        description: 'The record as lists show it.',
        examples: [{ id: exampleId('contacts'), first_name: 'Ada', last_name: 'Lovelace' }],
      },
    },
    { additionalProperties: false },
  );
  return named('SearchResult', result);
}
