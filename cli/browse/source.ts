// Where the browser reads records from, and writes them to: the server, page by page.
import { type Data, isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { INCLUDES_MAX, type Include, includesOf } from '../../db/model/resources/includes.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { updateFields } from '../api/body.ts';
import type { Client } from '../api/client.ts';
import { type ApiResponse, includedIn, recordOf } from '../api/envelope.ts';
import { wholeId } from '../api/find-id.ts';
import { IdFinder, isMissing } from '../api/id-finder.ts';
import { listAt, type Page, type Pageable } from '../api/pages.ts';
import { nameOf } from '../api/record-name.ts';
import { resourcePath } from '../api/target.ts';
import { givenValues, namedFields } from '../api/values.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';
import { filterOfWhere } from '../where/filter.ts';
import { recordsRequest } from '../where/records-request.ts';
import { ScrolledList } from './scrolled-list.ts';

/** What a list shows, and in which order. */
export interface ShownQuery {
  /** A condition as --where takes it, or words to search for; empty for all records. */
  text: string;
  /** Null for the newest first. */
  sortBy: string | null;
  direction: 'asc' | 'desc';
}

/** A record that another one is linked to. */
export interface Linked {
  /** What the link is called: `company`, `contacts`. */
  name: string;
  /** Null for users and stages, which cannot be opened. */
  resource: Resource | null;
  id: string;
  text: string;
}

/** A record with everything around it. */
export interface Card {
  resource: Resource;
  record: Data;
  linked: readonly Linked[];
  etag: string | undefined;
}

const CONDITION = /[=<>]|\b(?:is|in|has|between|contains|starts_with)\b/;

/** Reads and writes with one key, within its scopes. */
export class BrowserSource {
  readonly #client: Client;
  readonly #scopes: readonly string[];
  readonly #names = new Map<string, string>();

  constructor(client: Client, scopes: readonly string[]) {
    this.#client = client;
    this.#scopes = scopes;
  }

  /** The resources that the key can list. */
  get resources(): Resource[] {
    return RESOURCES.filter((one) => one.verbs.includes('list') && this.#has(`${one.name}:read`));
  }

  /** A list of records; throws a CliError if the text is not a condition that the resource has. */
  list(resource: Resource, { text, sortBy, direction }: ShownQuery): ScrolledList {
    if (isSearch(resource, text))
      return new ScrolledList(this.#client, searchOf(resource, text), this.#names);
    if (text !== '') filterOfWhere(resource, text);
    const include = this.#includes(resource, true).map(({ name }) => name);
    const request = recordsRequest(resource.name, {
      api: 'v2',
      ...(text !== '' && { where: text }),
      ...(sortBy !== null && { sortBy, sortDirection: direction }),
      ...(include.length > 0 && { include: include.slice(0, INCLUDES_MAX).join(',') }),
    });
    return new ScrolledList(this.#client, request, this.#names);
  }

  /** A record with what it is linked to. */
  async card(resource: Resource, id: string): Promise<Card> {
    const path = resourcePath(resource, id);
    const includes = [...this.#includes(resource, true), ...this.#includes(resource, false)];
    const groups = Array.from({ length: Math.max(1, Math.ceil(includes.length / INCLUDES_MAX)) }, (_, at) =>
      includes.slice(at * INCLUDES_MAX, (at + 1) * INCLUDES_MAX),
    );
    const responses = await Promise.all(
      groups.map((group) =>
        this.#client.request('GET', path, { query: { include: group.map(({ name }) => name) } }),
      ),
    );
    const [first] = responses;
    if (first === undefined) throw new Error('no response');
    const { included_ids: _, ...record } = recordOf(first);
    const linked = responses.flatMap((response, at) => linkedIn(response, groups[at] ?? []));
    // Only without includes does a response have the version of the record alone.
    const plain = includes.length === 0 ? first : await this.#client.request('GET', path);
    return { resource, record, linked, etag: plain.headers.get('etag') ?? undefined };
  }

  /** Whether the key may change records of the resource. */
  canUpdate(resource: Resource): boolean {
    return resource.verbs.includes('update') && this.#has(`${resource.name}:write`);
  }

  /** Sets a field of the record as it was read, a reference by a name; throws a CliError if the text does not fit or the record has changed. */
  async update({ resource, record, etag }: Card, field: string, text: string): Promise<void> {
    const fields = updateFields(resource);
    const [kind] = [...namedFields(fields)].find(([, one]) => one === field) ?? [];
    const isNamed = kind !== undefined && text !== '' && !isOurId(text);
    const values = givenValues([`${isNamed ? kind : field}=${text}`], fields);
    const body = await values.found(new IdFinder(this.#client), async () => String(record.pipeline_id));
    const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
    await this.#client.request('PATCH', resourcePath(resource, String(record.id)), { body, headers });
  }

  #includes(resource: Resource, isSingle: boolean): Include[] {
    return Object.values(includesOf(resource)).filter(
      ({ ways, scope }) =>
        ways.every(({ kind }) => kind === 'own') === isSingle && (scope === null || this.#has(scope)),
    );
  }

  #has(scope: string): boolean {
    return this.#scopes.includes(scope);
  }
}

/** Whether a text is words to search for, and not a condition. */
export function isSearch({ name }: Resource, text: string): boolean {
  return text !== '' && !CONDITION.test(text) && SEARCHED_RESOURCES.some((one) => one === name);
}

/** The record whose short ID a text is, if there is one: words can look like short IDs. */
async function recordNamed(client: Client, name: string, text: string): Promise<Page | undefined> {
  const range = idRangeOf(text);
  if (range === undefined || range.fromMs !== range.untilMs) return undefined;
  try {
    const id = await wholeId(client, name, text);
    const response = await client.request('GET', resourcePath({ name }, id));
    return { records: [recordOf(response)], nextCursor: null, response };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
}

/** What is found in a resource, as a list of its records. */
function searchOf({ name }: Resource, text: string): Pageable {
  const found = listAt('/api/v2/search', { q: text, types: name });
  return {
    pageSizeMax: 100,
    page: async (...asked): Promise<Page> => {
      const [client, cursor] = asked;
      const named = cursor === null ? await recordNamed(client, name, text) : undefined;
      if (named !== undefined) return named;
      const page = await found.page(...asked);
      return { ...page, records: page.records.flatMap(({ record }) => (isObject(record) ? [record] : [])) };
    },
  };
}

function linkedIn(response: ApiResponse, includes: readonly Include[]): Linked[] {
  const ids = recordOf(response).included_ids;
  const included = includedIn(response);
  return includes.flatMap(({ name, group, resource }) => {
    const some = isObject(ids) ? ids[name] : undefined;
    if (!Array.isArray(some)) return [];
    return some
      .map(String)
      .map((id) => ({ name, resource, id, text: nameOf(included[group]?.[id] ?? {}) ?? id }));
  });
}
