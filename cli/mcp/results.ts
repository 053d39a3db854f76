// Results as text: a JSON line for each record, without what is empty and with long texts cut, then what to call next.
import { instantText } from '../../db/model/instants.ts';
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import type { Included } from '../api/envelope.ts';
import { counted } from '../terminal/format.ts';
import { call } from './failures.ts';
import { jsonLine } from './lines.ts';
import type { ServicePage } from './service.ts';

/** How much of a text a page of records shows. */
export const PAGE_TEXT_CHARACTERS = 300;
// What a client shows of a result, and an assistant can take in, is limited.
const PAGE_CHARACTERS_MAX = 40_000;
const RECORD_CHARACTERS_MAX = 60_000;
const INCLUDED_CHARACTERS_MAX = 20_000;
const INCLUDED_TEXT_CHARACTERS = 100;

/**
 * A record on one line of JSON. Whatever a record contains stays within its line, so that it cannot pass for the words of
 * crm. Instants are shown as dates.
 */
export function recordLine(record: Data, resourceName: string, characters = PAGE_TEXT_CHARACTERS): string {
  return jsonLine(shown(record, resourceName, characters));
}

/** What a record has, without what is empty. */
export function shown(record: Data, resourceName: string, characters = PAGE_TEXT_CHARACTERS): Data {
  const fields = findResource(resourceName)?.fields ?? {};
  return Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => {
        const isInstant = fields[name]?.kind === 'instant' && typeof value === 'number';
        return [name, isInstant ? instantText(value) : cut(value, characters)];
      }),
  );
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

const CUT = '[cut, ';

function cut(value: JsonValue, characters: number): JsonValue {
  if (typeof value === 'string') {
    if (value.length <= characters) return value;
    return `${value.slice(0, characters).toWellFormed()}… ${CUT}${value.length} characters in all]`;
  }
  if (Array.isArray(value)) return value.map((item) => cut(item, characters));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, characters)]));
}

/** Whether a text of lines has something cut in it. */
export function hasCut(lines: readonly string[]): boolean {
  return lines.some((line) => line.includes(CUT));
}

/** A record with all its text, unless that is too long for a result. */
export function wholeRecord(record: Data, resourceName: string): string[] {
  const whole = recordLine(record, resourceName, Number.POSITIVE_INFINITY);
  if (whole.length <= RECORD_CHARACTERS_MAX) return [whole];
  const short = recordLine(record, resourceName, 1_000);
  return [short, `Long texts are cut. A person sees them whole with: crm get ${resourceName} ${record.id}`];
}

/** Lines of the included records, each with its resource, as far as there is room. */
export function includedLines(included: Included): string[] {
  const lines = Object.entries(included).flatMap(([name, records]) =>
    Object.values(records).map((record) => `${name} ${recordLine(record, name, INCLUDED_TEXT_CHARACTERS)}`),
  );
  if (lines.length === 0) return [];
  const shownLines = lines.slice(0, countWithin(lines, INCLUDED_CHARACTERS_MAX));
  const left = lines.length - shownLines.length;
  const more =
    left === 0 ? [] : [`${left} more are not shown here: get shows each, by its ID in included_ids.`];
  return ['Included:', ...shownLines, ...more];
}

/** What was done to a record, the record, and what to call next. */
export function writtenText(done: string, record: Data, resourceName: string, next: string[] = []): string {
  const line = recordLine(record, resourceName);
  const whole = hasCut([line])
    ? [`${call('get', { resource: resourceName, id: record.id })} shows it whole.`]
    : [];
  return [`${done}:`, line, ...[...whole, ...next].map((step) => `Next: ${step}`)].join('\n');
}

interface PageRequest {
  /** The tool, to say how to go on. */
  tool: string;
  /** What is listed, in the plural. */
  what: string;
  /** The size that was asked for. */
  limit: number;
  ask: (limit: number) => Promise<ServicePage>;
  line: (record: Data) => string;
  /** What to call next, given the first record; undefined if there is none at all. */
  next: (first: Data | undefined) => string[];
}

/** A page as text. A page that would be too long is asked for again, smaller, so that its cursor skips nothing. */
export async function pageText(request: PageRequest): Promise<string> {
  const { tool, what, limit, ask, line, next } = request;
  let page = await ask(limit);
  let lines = linesOf(page, line);
  const fitting = countWithin(lines.records, PAGE_CHARACTERS_MAX);
  if (fitting < lines.records.length) {
    page = await ask(fitting);
    lines = linesOf(page, line);
  }
  const { records, nextCursor } = page;
  const [first] = records;
  const more = nextCursor === null ? '' : ', and there can be more';
  const all = [...lines.records, ...lines.included];
  return [
    `${records.length === 0 ? `No ${what}` : counted(records.length, singularOf(what), what)}${more}.`,
    ...all,
    ...(hasCut(all) ? ['Texts marked "[cut" are shortened here: get shows them whole.'] : []),
    ...(nextCursor === null
      ? []
      : [`Next page: ${tool} with the same arguments and "cursor": ${JSON.stringify(nextCursor)}`]),
    ...(first === undefined && nextCursor !== null ? [] : next(first)).map((step) => `Next: ${step}`),
  ].join('\n');
}

function linesOf({ records, included }: ServicePage, line: (record: Data) => string) {
  return { records: records.map(line), included: includedLines(included) };
}

/** How many lines fit, at least one. */
function countWithin(lines: readonly string[], characters: number): number {
  let left = characters;
  const over = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return over < 0 ? lines.length : Math.max(1, over);
}

/** How to see a record that is listed. */
export function stepsToShow(resource: string, id: JsonValue | undefined): string[] {
  const given = { resource, id };
  const steps = [`${call('get', given)} shows it whole.`];
  return hasTimeline(resource) ? [...steps, `${call('timeline', given)} shows what happened.`] : steps;
}
