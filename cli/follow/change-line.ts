// A change as a line for people: when, who, what.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { singularOf } from '../../db/model/text.ts';
import { shortIdOf } from '../input/short-id.ts';
import { relativeTime } from '../terminal/relative-time.ts';
import { toTheMinute } from '../terminal/table.ts';
import { neutralizeLine } from '../terminal/text.ts';
import type { FeedChange } from './change.ts';
import type { Names } from './names.ts';

export interface LineLayout {
  /** Of the terminal; Infinity without one. */
  columns: number;
  isColored: boolean;
  nowMs: number;
  /** Whether it says how long ago the change was, instead of when. */
  isRelative?: boolean;
  hasShortIds?: boolean;
  /** What became of the change where it was sent. */
  outcome?: { text: string; isGood: boolean };
}

const GAP = '  ';
const DATE_CHARACTERS = 'YYYY-MM-DD'.length;
const TIME_CHARACTERS = 'YYYY-MM-DD hh:mm:ss'.length;
const AGO_CHARACTERS = '30 days ago'.length;
const KEY_CHARACTERS = 6;
const WHO_CHARACTERS = 'key …'.length + KEY_CHARACTERS;
const OUTCOME_CHARACTERS = '200 (0.99 s)'.length;
const TEXT_CHARACTERS_MAX = 60;
// In less, who made a change is left out.
const COLUMNS_FOR_WHO = 60;

const COLORS: Readonly<Record<string, string>> = {
  ...{ created: '32', undeleted: '32', linked: '36', updated: '33', unlinked: '36', deleted: '31' },
};

/** The lines of a change, with a line break; wrapped to the terminal. */
export function changeLine(change: FeedChange, names: Pick<Names, 'of'>, layout: LineLayout): string {
  const { columns, isColored, nowMs, outcome, isRelative = false, hasShortIds = false } = layout;
  const at = change.at.replace('T', ' ').slice(0, TIME_CHARACTERS);
  const today = new Date(nowMs).toISOString().slice(0, DATE_CHARACTERS);
  const exact = at.startsWith(today) ? at.slice(DATE_CHARACTERS + 1) : at;
  const time = isRelative ? relativeTime(Date.parse(change.at), nowMs).padEnd(AGO_CHARACTERS) : exact;
  const lead = leadOf(change, layout);
  const head = time + GAP + lead;
  const what = neutralizeLine(whatOf(change, names));
  const id = GAP + (hasShortIds ? shortIdOf(change.record_id) : change.record_id);
  const hasRoom = head.length + Bun.stringWidth(what) + id.length <= columns;
  const room = Math.max(1, columns - head.length);
  const text = columns === Number.POSITIVE_INFINITY ? what : Bun.wrapAnsi(what, room, { hard: true });
  const body = text.replaceAll('\n', `\n${' '.repeat(head.length)}`);
  if (!isColored) return `${head}${body}${hasRoom ? id : ''}\n`;
  const colored = body.replace(change.action, (word) => paint(COLORS[change.action] ?? '39', word));
  const color = outcome === undefined ? '2' : outcome.isGood ? '32' : '31';
  return `${paint('2', time + GAP)}${paint(color, lead)}${colored}${hasRoom ? paint('2', id) : ''}\n`;
}

// What stands between the time and the change: what became of it, or who made it.
function leadOf(change: FeedChange, { columns, outcome }: LineLayout): string {
  if (outcome !== undefined) return outcome.text.padEnd(OUTCOME_CHARACTERS) + GAP;
  return columns < COLUMNS_FOR_WHO ? '' : whoOf(change).padEnd(WHO_CHARACTERS) + GAP;
}

function paint(code: string, text: string): string {
  return `\u001b[${code}m${text}\u001b[0m`;
}

function whoOf({ actor }: FeedChange): string {
  return actor.id === null ? actor.type : `key …${actor.id.slice(-KEY_CHARACTERS)}`;
}

function whatOf(change: FeedChange, names: Pick<Names, 'of'>): string {
  const { action, resource, record_id, before, after, link } = change;
  const named = (id: string) => cut(names.of(id) ?? shortIdOf(id));
  const subject = `${action} ${singularOf(resource)} ${named(record_id)}`;
  if (link !== null) {
    const word = action === 'unlinked' ? 'from' : 'to';
    return `${subject} ${word} ${singularOf(String(link.resource))} ${named(String(link.id))}`;
  }
  if (action !== 'updated') return subject;
  return `${subject}: ${differencesText(resource, before ?? {}, after ?? {}, names)}`;
}

/** The former and new values of the fields that differ, for people. */
export function differencesText(
  resource: string,
  before: Data,
  after: Data,
  names: Pick<Names, 'of'>,
): string {
  const fields = findResource(resource)?.fields ?? {};
  const all = differencesBetween(before, after);
  // Without what follows from the rest, such as when the stage changed.
  const written = all.filter(([name]) => fields[name]?.access !== 'read');
  const differences = (written.length > 0 ? written : all).map(
    ([name, ...values]) => `${fieldName(name)} ${values.map((value) => shown(value, names)).join(' → ')}`,
  );
  return differences.join(', ');
}

/** Name, former and new value of each field that differs, with those of `custom` one by one. */
function differencesBetween(before: Data, after: Data): [string, JsonValue, JsonValue][] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [from = null, to = null] = [before[name], after[name]];
    if (name !== 'custom' || !(isObject(from) || isObject(to))) return [[name, from, to]];
    const inner = differencesBetween(isObject(from) ? from : {}, isObject(to) ? to : {});
    return inner.map(([key, ...values]): [string, JsonValue, JsonValue] => [`custom.${key}`, ...values]);
  });
}

// `stage` for stage_id: the line shows the name.
function fieldName(name: string): string {
  return name.replace(/_id$/, '');
}

function shown(value: JsonValue, names: Pick<Names, 'of'>): string {
  if (value === null || value === '') return '(none)';
  return cut(
    typeof value === 'string' ? (names.of(value) ?? toTheMinute(shortIdOf(value))) : JSON.stringify(value),
  );
}

function cut(text: string): string {
  return text.length <= TEXT_CHARACTERS_MAX
    ? text
    : `${text.slice(0, TEXT_CHARACTERS_MAX - 1).toWellFormed()}…`;
}
