// `crm get` on a terminal: a card with the values of a record, what it is linked to, and what happened last.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { RELATED_MAX, type Resource } from '../../db/model/resource.ts';
import { INCLUDES_MAX, type Include, includesOf } from '../../db/model/resources/includes.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import type { Client } from '../api/client.ts';
import { type Included, includedIn, pageOf, recordOf } from '../api/envelope.ts';
import { nameOf } from '../api/record-name.ts';
import { isRefusal } from '../errors.ts';
import { Names } from '../follow/names.ts';
import { shortIdOf } from '../input/short-id.ts';
import { relativeTime } from '../terminal/relative-time.ts';
import { renderRecord, toTheMinute } from '../terminal/table.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { Axis, type CardLayout, heading } from '../timeline/card.ts';
import { INCLUDED_IDS } from './included.ts';
import { valueText } from './people-columns.ts';

const LATEST = 5;

/** The card of the record at a path, with all that the key may read of what belongs to it. */
export async function cardAt(
  path: string,
  { resource, client, layout }: { resource: Resource; client: Client; layout: CardLayout },
): Promise<string> {
  const includes = Object.values(includesOf(resource));
  const [first, ...others] = piecesOf(includes);
  const whole = await recordWith(client, path, first ?? []);
  const rest = await Promise.all(others.map((some) => recordWith(client, path, some)));
  const all = [whole, ...rest];
  const shown: CardRecord = {
    record: {
      ...whole.record,
      [INCLUDED_IDS]: Object.assign({}, ...all.map(({ record }) => record[INCLUDED_IDS])),
    },
    included: merged(all.map(({ included }) => included)),
  };
  const latest = await latestOf(client, path, resource);
  return cardText(shown, resource, layout) + latestText(latest, client, layout);
}

/** The card of a record about which nothing else was asked. */
export function cardText(shown: CardRecord, resource: Resource, layout: CardLayout): string {
  const lines = { ...valueLines(shown, resource, layout), ...linkLines(shown, resource) };
  const { columns, isColored } = layout;
  return (
    heading(resource, shown.record, layout) +
    renderRecord(lines, { fields: Object.keys(lines), columns, isColored })
  );
}

interface CardRecord {
  record: Data;
  included: Included;
}

function piecesOf(includes: readonly Include[]): Include[][] {
  const count = Math.ceil(includes.length / INCLUDES_MAX);
  return Array.from({ length: count }, (_, at) => includes.slice(at * INCLUDES_MAX, (at + 1) * INCLUDES_MAX));
}

// With what needs no scope, where the key may not read the rest; without, if the server is too old to include anything.
async function recordWith(client: Client, path: string, includes: readonly Include[]): Promise<CardRecord> {
  const free = includes.filter(({ scope }) => scope === null);
  for (const some of [includes, free]) {
    try {
      const include = some.map(({ name }) => name);
      const response = await client.request('GET', path, { query: { include } });
      return { record: recordOf(response), included: includedIn(response) };
    } catch (error) {
      if (some.length === 0 || !(isRefusal(error, 403) || isRefusal(error, 422))) throw error;
    }
  }
  const response = await client.request('GET', path);
  return { record: recordOf(response), included: {} };
}

function merged(all: readonly Included[]): Included {
  const groups = new Set(all.flatMap((included) => Object.keys(included)));
  return Object.fromEntries(
    [...groups].map((group) => [group, Object.assign({}, ...all.map((included) => included[group]))]),
  );
}

function valueLines({ record, included }: CardRecord, resource: Resource, { nowMs }: CardLayout): Data {
  const lines: Data = {};
  for (const [name, value] of Object.entries(record)) {
    if (name === 'id' || name === INCLUDED_IDS || isNothing(value)) continue;
    if (name === 'custom' && isObject(value))
      for (const [key, one] of Object.entries(value)) lines[`custom.${key}`] = one;
    else {
      const { text, label } = valueLine(name, value, { record, included }, resource, nowMs);
      lines[label] = text;
    }
  }
  return { ...lines, id: record.id ?? null };
}

function valueLine(
  name: string,
  value: JsonValue,
  { record, included }: CardRecord,
  resource: Resource,
  nowMs: number,
): { label: string; text: string } {
  const { kind, references } = resource.fields[name] ?? {};
  if (kind === 'reference' && references && typeof value === 'string') {
    const other = included[references]?.[value];
    const id = references === 'users' || references === 'stages' ? '' : shortIdOf(value);
    const known = other === undefined ? [id || value] : [neutralizeLine(nameOf(other) ?? ''), id];
    return { label: name.replace(/_id$/, ''), text: known.filter((part) => part !== '').join('  ') };
  }
  if (kind === 'timestamp' || kind === 'instant') {
    const at = new Date(typeof value === 'number' ? value : String(value));
    return { label: name, text: `${toTheMinute(at.toISOString())}  (${relativeTime(at.getTime(), nowMs)})` };
  }
  return {
    label: name,
    text: typeof value === 'string' ? value : valueText(name, value, record, { resource, nowMs }),
  };
}

function isNothing(value: JsonValue): boolean {
  return (
    value === null ||
    value === '' ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

// What the record is linked to, one on a line, with the ID to get it by.
function linkLines({ record, included }: CardRecord, resource: Resource): Data {
  const ids = record[INCLUDED_IDS];
  const lines: Data = {};
  for (const { name, group } of Object.values(includesOf(resource))) {
    const all = isObject(ids) && Array.isArray(ids[name]) ? ids[name].map(String) : [];
    // What the record refers to itself stands above.
    if (name !== group || all.length === 0) continue;
    const texts = all.map((id) => {
      const called = neutralizeLine(nameOf(included[group]?.[id] ?? {}) ?? '');
      return `${called}  ${shortIdOf(id)}`.trimStart();
    });
    lines[name] = [...texts, ...(all.length === RELATED_MAX ? [`(the newest ${RELATED_MAX})`] : [])].join(
      '\n',
    );
  }
  return lines;
}

// None where there is no timeline, or the key may not read it.
async function latestOf(client: Client, path: string, resource: Resource): Promise<Data[]> {
  if (!hasTimeline(resource.name)) return [];
  try {
    const query = { limit: String(LATEST) };
    return pageOf(await client.request('GET', `${path}/timeline`, { query })).records;
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
}

function latestText(entries: readonly Data[], client: Client, layout: CardLayout): string {
  if (entries.length === 0) return '';
  const names = new Names(client, new AbortController().signal);
  const title = layout.isColored ? '\u001b[1mLatest\u001b[22m' : 'Latest';
  return `\n${title}\n${new Axis(names, layout).lines(entries)}`;
}
