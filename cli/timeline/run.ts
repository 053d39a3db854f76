// Carries out `crm timeline`: a card with a time axis for people, or the entries as they came.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { hasTimeline, TIMELINE_KINDS, TIMELINE_RESOURCES } from '../../db/model/timelines.ts';
import { connect } from '../api/connect.ts';
import { wholeId } from '../api/find-id.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { checkedId, resourceNamed, resourcePath } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { FeedChange } from '../follow/change.ts';
import { Names } from '../follow/names.ts';
import { didYouMean } from '../nearest.ts';
import type { Config } from '../settings/config.ts';
import { limitOf } from '../settings/options.ts';
import { sinceMs } from '../settings/since.ts';
import { createPrinter } from '../terminal/output.ts';
import { pagedOutput } from '../terminal/pager.ts';
import { note, stdout } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { Axis, heading } from './card.ts';

export interface TimelineFlags {
  /** Separated by commas. */
  kinds?: string;
  since?: string;
  until?: string;
  scope?: string;
  limit?: number;
  all?: boolean;
}

const FIELDS = ['at', 'kind', 'record_type', 'record_id', 'title', 'detail', 'record'];

/** Prints entries up to the limit. */
export async function runTimeline(
  name: string,
  id: string,
  flags: TimelineFlags,
  config: Config,
): Promise<void> {
  const resource = resourceWithTimeline(name);
  const query = queryOf(resource, flags, Date.now());
  const given = checkedId(id);
  const client = await connect(config);
  const path = resourcePath(resource, await wholeId(client, resource.name, given));
  const names = new Names(client, new AbortController().signal);
  const isForPeople = config.output === 'table';
  const output = pagedOutput(config);
  const printer = createPrinter(config, { columns: FIELDS, allFields: FIELDS }, output);
  const layout = { columns: terminalWidth(stdout), isColored: config.isColored, nowMs: Date.now() };
  const axis = new Axis(names, layout);
  let hasHeading = false;
  let isEmpty = true;
  let hasMore = false;
  for await (const { records, nextCursor } of pagesOf(client, listAt(`${path}/timeline`, query), {
    limit: limitOf(flags),
  })) {
    hasMore = nextCursor !== null;
    if (!isForPeople) {
      await printer.print(records);
      continue;
    }
    if (!hasHeading) {
      const { body } = await client.request('GET', path);
      if (body.object === 'success') await output.write(heading(resource, body.data as Data, layout));
    }
    hasHeading = true;
    isEmpty &&= records.length === 0;
    await names.learn(records.flatMap(changeOf));
    await output.write(axis.lines(records));
  }
  if (isForPeople) await output.end();
  else await printer.end();
  if (isForPeople && isEmpty) note('No entries.');
  if (hasMore) note('There are older entries: add --limit N or --all.');
}

function resourceWithTimeline(name: string): Resource {
  const resource = resourceNamed(name);
  if (hasTimeline(resource.name)) return resource;
  throw usageError(`${name} have no timeline.`, `use one of: ${TIMELINE_RESOURCES.join(', ')}.`);
}

function queryOf(
  resource: Resource,
  { kinds, since, until, scope }: TimelineFlags,
  nowMs: number,
): Record<string, string | string[]> {
  if (scope !== undefined && resource !== companies)
    throw usageError(`--scope is for companies.`, 'remove it.');
  const instant = (text: string) => String(sinceMs(text, nowMs));
  return {
    ...(kinds !== undefined && { kinds: kindsIn(kinds) }),
    ...(since !== undefined && { since: instant(since) }),
    ...(until !== undefined && { until: instant(until) }),
    ...(scope !== undefined && { scope }),
  };
}

function kindsIn(text: string): string[] {
  const kinds = text.split(',').map((kind) => kind.trim());
  const known: readonly string[] = TIMELINE_KINDS;
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown === undefined) return kinds;
  throw usageError(
    `Unknown kind "${unknown}".${didYouMean(unknown, known)}`,
    `use one or more of: ${known.join(', ')}.`,
  );
}

// An update in the form of the log of changes, for the names of what it mentions.
function changeOf({ at, kind, record_type, record_id, detail, record }: Data): FeedChange[] {
  if (kind !== 'change') return [];
  const { before = null, after = null } = (detail ?? {}) as Data;
  const change = {
    at,
    action: 'updated',
    resource: record_type,
    record_id,
    before,
    after,
    link: null,
    record,
  };
  return [
    { ...change, sequence: null, actor: { type: 'key', id: null, user_id: null } } as unknown as FeedChange,
  ];
}
