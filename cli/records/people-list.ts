// `crm list` on a terminal: a table with names instead of IDs, which come with the pages.
import { childOf } from '../../db/model/links.ts';
import type { Resource } from '../../db/model/resource.ts';
import { INCLUDES_MAX, includesOf } from '../../db/model/resources/includes.ts';
import type { Client } from '../api/client.ts';
import { includedIn } from '../api/envelope.ts';
import type { ListRequest } from '../api/list-request.ts';
import { type Page, pagesOf } from '../api/pages.ts';
import { isTarget, parseTarget, resourceNamed } from '../api/target.ts';
import { isRefusal } from '../errors.ts';
import { Names } from '../follow/names.ts';
import { limitOf } from '../settings/options.ts';
import { type OutputSettings, parseFields } from '../terminal/output.ts';
import type { Output } from '../terminal/pager.ts';
import { type PeopleColumn, PeopleTable } from '../terminal/people-table.ts';
import { type RecordsOptions, recordsRequest } from '../where/records-request.ts';
import {
  chosenColumns,
  glanceColumns,
  nameInPlaceOf,
  type PeopleFacts,
  referenceNamed,
  type ShownRecord,
} from './people-columns.ts';

/** The flags of `crm list`. */
export interface ListFlags extends RecordsOptions {
  limit?: number;
  all?: boolean;
  envelope?: boolean;
  cursor?: string;
  /** Seconds; true for the usual ones. */
  watch?: number | true;
}

/** A list for people, checked. */
export interface PeopleList {
  what: string;
  flags: ListFlags;
  /** What its records are. */
  resource: Resource;
  /** `--fields`. */
  fields: readonly string[] | undefined;
  /** The names that its columns need. */
  shown: readonly string[];
}

/** The list, if its records are all of one resource; other lists have no names in their records. */
export function peopleList(what: string, flags: ListFlags): PeopleList | undefined {
  if (flags.api === 'v1') return undefined;
  const resource = isTarget(what) ? childResource(what) : resourceNamed(what);
  if (resource === undefined) return undefined;
  const { look } = recordsRequest(what, flags);
  const fields = parseFields(flags.fields, look.allFields);
  const shown = fields?.map((field) => nameInPlaceOf(field, resource)) ?? resource.glance;
  return { what, flags, resource, fields, shown };
}

function childResource(what: string): Resource | undefined {
  const { link } = parseTarget(what);
  const child = link && childOf(link);
  return child === undefined ? undefined : resourceNamed(child);
}

/** Prints the table, and resolves with the cursor of the next page. */
export async function printPeopleList(
  list: PeopleList,
  client: Client,
  output: Output,
  { isColored, width }: Pick<OutputSettings, 'isColored'> & { width: number },
): Promise<{ nextCursor: string | null; isEmpty: boolean }> {
  const names = new Names(client, new AbortController().signal);
  const facts: PeopleFacts = { resource: list.resource, names, nowMs: Date.now() };
  const table = new PeopleTable(columnsOf(list, facts), { width, isColored });
  let nextCursor: string | null = null;
  let isEmpty = true;
  for await (const page of peoplePages(list, client)) {
    nextCursor = page.nextCursor;
    if (page.records.length === 0) continue;
    isEmpty = false;
    const included = includedIn(page.response);
    const rows = page.records.map((record): ShownRecord => ({ record, included }));
    await names.learnMentioned(rows.flatMap((row) => mentionsIn(row, list)));
    await output.write(table.render(rows));
  }
  await output.end();
  return { nextCursor, isEmpty };
}

function columnsOf(
  { what, flags, fields, resource }: PeopleList,
  facts: PeopleFacts,
): PeopleColumn<ShownRecord>[] {
  const given = flags.include === undefined ? [] : flags.include.split(',').map((name) => name.trim());
  if (fields !== undefined) {
    const asked = given.filter((name) => !fields.includes(name));
    return chosenColumns([...fields, ...asked], facts);
  }
  const [first = 'name', ...others] = resource.glance;
  const linked = isTarget(what) ? ['linked_at', ...Object.keys(parseTarget(what).link?.fields ?? {})] : [];
  return glanceColumns([...new Set([first, ...given, ...linked, ...others])], facts);
}

/** The pages, with as many of the names as the key may read and the server can include. */
async function* peoplePages(list: PeopleList, client: Client): AsyncGenerator<Page> {
  const requests = requestsOf(list);
  const { cursor = null } = list.flags;
  for (const [index, request] of requests.entries()) {
    let isStarted = false;
    try {
      for await (const page of pagesOf(client, request, { cursor, limit: limitOf(list.flags) })) {
        isStarted = true;
        yield page;
      }
      return;
    } catch (error) {
      const isLast = index === requests.length - 1;
      if (isStarted || isLast || !(isRefusal(error, 403) || isRefusal(error, 422))) throw error;
    }
  }
}

/** The list with all names; for keys that cannot read some, with what needs no scope; for older servers, without. */
function requestsOf({ what, flags, resource, shown }: PeopleList): ListRequest[] {
  if (isTarget(what)) return [recordsRequest(what, flags)];
  const known = includesOf(resource);
  const given = flags.include === undefined ? [] : [flags.include];
  const room = INCLUDES_MAX - given.flatMap((names) => names.split(',')).length;
  const all = shown.filter((name) => Object.hasOwn(known, name) && !given.join().split(',').includes(name));
  const free = all.filter((name) => known[name]?.scope === null);
  const sets = [all, free, []].map((names) => [...given, ...names.slice(0, Math.max(0, room))].join(','));
  return [...new Set(sets)].map((include) =>
    recordsRequest(what, { ...flags, ...(include !== '' && { include }) }),
  );
}

// Those whose names the response does not include.
function mentionsIn(
  { record }: ShownRecord,
  { resource, shown }: PeopleList,
): { resource: string; id: string }[] {
  const includedIds = record.included_ids;
  return shown.flatMap((name) => {
    const reference = referenceNamed(name, resource);
    const id = reference && record[reference.field];
    const isIncluded = typeof includedIds === 'object' && includedIds !== null && name in includedIds;
    if (reference === undefined || typeof id !== 'string' || isIncluded) return [];
    return [{ resource: reference.resource, id }];
  });
}
