// Results as text: a JSON line for each record, without what is empty and as short as results are, then what to call next.
import { instantText } from '../../db/model/instants.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import type { Included } from '../api/envelope.ts';
import { counted } from '../terminal/format.ts';
import { call } from './failures.ts';
import type { ServicePage } from './service.ts';
import { type Line, lineWithin } from './shorten.ts';

// What a client shows of a result, and an assistant can take in, is limited.
const ROOM = 40_000;
const INCLUDED_ROOM = 12_000;
// For the words of crm around records.
const WORDS_ROOM = 1_000;
const LINE_ROOM = 8_000;
const PAGE_TEXT_CHARACTERS = 300;
const INCLUDED_TEXT_CHARACTERS = 100;

/** The room for what one record has beside other lines. */
export function roomBeside(lines: readonly string[]): number {
  return ROOM - WORDS_ROOM - charactersIn(lines);
}

/**
 * A record on one line of JSON, in short. Whatever a record contains stays within its line, so that it cannot pass for
 * the words of crm.
 */
export function recordLine(record: Data, resourceName: string): Line {
  return shortLine(shown(record, resourceName));
}

/** Values on one line among others. */
export function shortLine(values: Data, textCharacters = PAGE_TEXT_CHARACTERS): Line {
  return lineWithin(values, LINE_ROOM, textCharacters);
}

// Links with a token in them, which no tool can follow.
const LEFT_OUT: ReadonlySet<string> = new Set(['transcript_url']);

/** Whether results show a field. */
export function isInResults(field: string): boolean {
  return !LEFT_OUT.has(field);
}

/** What a record has, without what is empty, with instants as dates. */
export function shown(record: Data, resourceName: string): Data {
  const fields = findResource(resourceName)?.fields ?? {};
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name, value]) => !isEmpty(value) && isInResults(name))
      .map(([name, value]) => {
        const isInstant = fields[name]?.kind === 'instant' && typeof value === 'number';
        return [name, isInstant ? instantText(value) : value];
      }),
  );
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Lines of the included records, each with its resource, as far as there is room. */
export function includedLines(included: Included): string[] {
  const lines = Object.entries(included).flatMap(([name, records]) =>
    Object.values(records).map(
      (record) => `${name} ${shortLine(shown(record, name), INCLUDED_TEXT_CHARACTERS).text}`,
    ),
  );
  if (lines.length === 0) return [];
  return ['Included:', ...linesWithin(lines, INCLUDED_ROOM, 'get shows each, by its ID in included_ids.')];
}

/** As many lines as there is room for, and how many there are more. */
export function linesWithin(lines: readonly string[], room: number, way: string): string[] {
  const some = lines.slice(0, countWithin(lines, room));
  const left = lines.length - some.length;
  return left === 0 ? some : [...some, `${left} more are not shown here: ${way}`];
}

/** What was done to a record, the record, and what to call next. */
export function writtenText(done: string, record: Data, resourceName: string, next: string[] = []): string {
  const { text, cuts } = recordLine(record, resourceName);
  const whole =
    cuts.length > 0 ? [`${call('get', { resource: resourceName, id: record.id })} shows more of it.`] : [];
  return [`${done}:`, text, ...[...whole, ...next].map((step) => `Next: ${step}`)].join('\n');
}

interface PageRequest {
  /** The tool, to say how to go on. */
  tool: string;
  /** What is listed, in the plural. */
  what: string;
  /** The size that was asked for. */
  limit: number;
  ask: (limit: number) => Promise<ServicePage>;
  line: (record: Data) => Line;
  /** What to call next, given the first record; undefined if there is none at all. */
  next: (first: Data | undefined) => string[];
}

/** A page as text. A page that would be too long is asked for again, smaller, so that its cursor skips nothing. */
export async function pageText(request: PageRequest): Promise<string> {
  const { tool, what, limit, ask, line, next } = request;
  let page = await ask(limit);
  let lines = linesOf(page, line);
  const fitting = countWithin(lines.records, roomBeside(lines.included));
  if (fitting < lines.records.length) {
    page = await ask(fitting);
    lines = linesOf(page, line);
  }
  const { records, nextCursor } = page;
  const [first] = records;
  const more = nextCursor === null ? '' : ', and there can be more';
  return [
    `${records.length === 0 ? `No ${what}` : counted(records.length, singularOf(what), what)}${more}.`,
    ...lines.records,
    ...lines.included,
    ...(lines.isCut ? ['What is marked "[cut" is shortened here: get shows more of it.'] : []),
    ...(nextCursor === null
      ? []
      : [`Next page: ${tool} with the same arguments and "cursor": ${JSON.stringify(nextCursor)}`]),
    ...(first === undefined && nextCursor !== null ? [] : next(first)).map((step) => `Next: ${step}`),
  ].join('\n');
}

function linesOf({ records, included }: ServicePage, line: (record: Data) => Line) {
  const lines = records.map(line);
  return {
    records: lines.map(({ text }) => text),
    isCut: lines.some(({ cuts }) => cuts.length > 0),
    included: includedLines(included),
  };
}

function charactersIn(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
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
