// The tools that only read: search, get, query, count and timeline.
import { Type } from 'typebox';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { findResource, getResource } from '../../db/model/resources/registry.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { singularOf } from '../../db/model/text.ts';
import { TIMELINE_KINDS, TIMELINE_RESOURCES } from '../../db/model/timelines.ts';
import { nameOf } from '../api/record-name.ts';
import { counted } from '../terminal/format.ts';
import { call } from './failures.ts';
import { filterToSend } from './filters.ts';
import { get } from './get-tool.ts';
import { instantOf } from './instants.ts';
import { pageText, recordLine, shortLine, shown, stepsToShow } from './results.ts';
import { queryFrom, type Service, servicePath } from './service.ts';
import type { Line } from './shorten.ts';
import {
  argumentsOf,
  CURSOR,
  INCLUDE,
  limitArgument,
  oneArgumentOf,
  READING,
  RESOURCE,
  someArgumentsOf,
  type Tool,
  textArgument,
  timeArgument,
} from './tool.ts';

const LIMIT_DEFAULT = 20;
const SEARCH_LIMIT_MAX = 100;
const PAGE_LIMIT_MAX = 200;
const FILTER = Type.Optional(
  Type.Unsafe<Data>({
    type: 'object',
    description:
      '{"field": value} or {"field": {"op": value}}, all of which must hold; {"and": [...]}, {"or": [...]}, {"not": {...}}. ' +
      'Ops, by the kind of field: eq ne in not_in lt lte gt gte between contains starts_with is_null; for links such as ' +
      '"companies", and for lists: has any_of is_null. Times: RFC 3339, a day, {"ago": "30d"} or {"ahead": "7d"}. Where an ID ' +
      'belongs, a name can be sent too: company, contact, owner (or "me"), pipeline, stage. Custom fields: ' +
      '"custom.NAME". Example: {"status": "open", "estimated_value": {"gte": 1000}, "or": [{"name": {"contains": "engine"}}, ' +
      '{"contacts": {"has": "ID"}}]}',
  }),
);

const search: Tool = {
  name: 'search',
  title: 'Search records',
  description:
    'Find records of all kinds by words, the last of which may be unfinished; by email, domain or telephone number, whole ' +
    'or in part; or by ID. All words must occur in the record. Typing errors are not forgiven: if nothing is found, try ' +
    'fewer words, the beginning of a word, or query with "contains".',
  input: argumentsOf({
    q: textArgument('At most 10 words'),
    types: Type.Optional(someArgumentsOf(SEARCHED_RESOURCES)),
    limit: Type.Optional(limitArgument(SEARCH_LIMIT_MAX)),
    cursor: Type.Optional(CURSOR),
  }),
  hints: READING,
  run: ({ limit = LIMIT_DEFAULT, ...given }, service) =>
    pageText({
      ...{ tool: 'search', what: 'results', limit: Number(limit) },
      ask: (size) => service.list('/api/v2/search', queryFrom({ ...given, limit: size })),
      line: foundLine,
      next: (first) =>
        first === undefined ? NOTHING_FOUND : stepsToShow(String(first.record_type), first.record_id),
    }),
};

const NOTHING_FOUND = [
  'try fewer words, or their beginnings; or query a field with {"contains": "part of a word"}.',
];

// Enough to tell records with the same name apart.
const FOUND_CHARACTERS = 160;

function foundLine({ record_type, record_id, match, record }: Data): Line {
  const values = (record ?? {}) as Data;
  const columns = findResource(String(record_type))?.columns ?? [];
  const few = withoutUnset(Object.fromEntries(columns.map((column) => [column, values[column]])));
  const name = nameOf(values);
  const facts = Object.entries(shown(few, String(record_type))).filter(
    ([column, value]) => !['id', 'created_at'].includes(column) && !name?.includes(String(value)),
  );
  return shortLine(
    withoutUnset({ record_type, record_id, match, name, ...Object.fromEntries(facts) }),
    FOUND_CHARACTERS,
  );
}

const query: Tool = {
  name: 'query',
  title: 'Query records',
  description:
    'List the records of a resource that pass a filter, in the order you choose. describe lists the fields with their ops, ' +
    'and the sort orders.',
  input: argumentsOf({
    resource: RESOURCE,
    filter: FILTER,
    sort_by: Type.Optional(textArgument('Default: created_at')),
    sort_direction: Type.Optional(oneArgumentOf(['desc', 'asc'])),
    limit: Type.Optional(limitArgument(PAGE_LIMIT_MAX)),
    cursor: Type.Optional(CURSOR),
    fields: Type.Optional(Type.Array(Type.String(), { description: 'Show only these; id is always shown' })),
    include: INCLUDE,
  }),
  hints: READING,
  run: async ({ resource, limit = LIMIT_DEFAULT, ...given }, service) => {
    const name = String(resource);
    const body = await withFilter(given, name, service);
    return pageText({
      ...{ tool: 'query', what: name, limit: Number(limit) },
      ask: (size) => service.query(`${servicePath(name)}/query`, { ...body, limit: size }),
      line: (record) => recordLine(record, name),
      next: (first) => {
        if (first !== undefined) return stepsToShow(name, first.id);
        return given.filter === undefined ? [] : NOTHING_PASSES;
      },
    });
  },
};

const NOTHING_PASSES = ['try fewer conditions, {"contains": "part of a word"}, or search.'];

/** What is given, with the filter that the server takes. */
async function withFilter(given: Data, resource: string, service: Service): Promise<Data> {
  const filter = await filterToSend(given.filter, getResource(resource), service);
  return { ...given, ...(filter !== undefined && { filter }) };
}

const count: Tool = {
  name: 'count',
  title: 'Count records',
  description: 'Count the records of a resource that pass a filter; without a filter, all.',
  input: argumentsOf({
    resource: RESOURCE,
    filter: Type.Optional(Type.Unsafe<Data>({ type: 'object', description: 'As in query' })),
  }),
  hints: READING,
  run: async ({ resource, ...given }, service) => {
    const name = String(resource);
    const body = await withFilter(given, name, service);
    const { count: found, is_exact } = await service.lookUp(`${servicePath(name)}/count`, body);
    const number = counted(Number(found), singularOf(name), name);
    if (is_exact === true)
      return found === 0 ? number : `${number}\nNext: query with the same filter lists them.`;
    return `At least ${number}: there are too many to count all. A narrower filter can be counted.`;
  },
};

const timeline: Tool = {
  name: 'timeline',
  title: 'Show what happened',
  description:
    'What happened to a contact, company or deal, and what is planned, newest first: interactions, meetings, bookings, notes, ' +
    'tasks, deals, changes of stage and updates. The timeline of a company has those of its contacts and deals too.',
  input: argumentsOf({
    resource: oneArgumentOf(TIMELINE_RESOURCES),
    id: textArgument(),
    kinds: Type.Optional(someArgumentsOf(TIMELINE_KINDS, 'Default: all')),
    since: Type.Optional(timeArgument()),
    until: Type.Optional(timeArgument('; excluded')),
    scope: Type.Optional(
      oneArgumentOf(['all', 'own'], 'Of a company: own leaves out its contacts and deals'),
    ),
    limit: Type.Optional(limitArgument(PAGE_LIMIT_MAX)),
    cursor: Type.Optional(CURSOR),
  }),
  hints: READING,
  run: ({ resource, id, limit = LIMIT_DEFAULT, since, until, ...given }, service) => {
    const path = `${servicePath(String(resource), id)}/timeline`;
    const times = {
      ...(since !== undefined && { since: instantOf(since, 'since') }),
      ...(until !== undefined && { until: instantOf(until, 'until') }),
    };
    return pageText({
      ...{ tool: 'timeline', what: 'entries', limit: Number(limit) },
      ask: (size) => service.list(path, queryFrom({ ...given, ...times, limit: size })),
      line: (entry) => entryLine(entry, id),
      next: (first) =>
        first === undefined
          ? []
          : [`${call('get', { resource: first.record_type, id: first.record_id })} shows it whole.`],
    });
  },
};

/** An entry, with of its record what the entry does not say itself; without it if it is the one that was asked for. */
function entryLine({ record, ...entry }: Data, asked: JsonValue | undefined): Line {
  const type = String(entry.record_type);
  if (record === null || entry.record_id === asked) return shortLine(shown(entry, type));
  const values = (record ?? {}) as Data;
  const {
    id: _id,
    created_at: _created,
    updated_at: _updated,
    created_by: _by,
    title,
    name,
    ...rest
  } = values;
  const own = { ...rest, ...(title !== entry.title && { title }), ...(name !== entry.title && { name }) };
  return shortLine({ ...shown(entry, type), record: shown(withoutUnset(own), type) });
}

function withoutUnset(values: { [name: string]: JsonValue | undefined }): Data {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export const READ_TOOLS: readonly Tool[] = [search, get, query, count, timeline];
