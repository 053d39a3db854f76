// Expands a series: its occurrences within the window, each with its overrides.
import type { MeetingEntry, SeriesExtent } from '../../../db/ingest/meetings.ts';
import { DAY_MS } from '../../input/instant.ts';
import { type FaultList, quoted } from '../entries.ts';
import type { CalendarEvent } from './event.ts';
import { type FileBudget, HALF_WINDOW_MS, INSTANCES_MAX, SERIES_WINDOW_MS, WINDOW_DAYS } from './limits.ts';
import type { Rule } from './rule.ts';
import { type Expansion, expandRule, tooDenseError, UnusableRuleError } from './rule-times.ts';
import { endOf, type Span } from './span.ts';
import { lastUntil, MOMENT_KINDS, type Moment, momentAt, momentKey, startOfDay } from './values.ts';

const YEAR_MS = 366 * DAY_MS;
// The largest offset from UTC that TZOFFSETTO can express.
const CLOCKS_APART_MS = 5 * DAY_MS;

export interface Series {
  entries: MeetingEntry[];
  extent: SeriesExtent;
}

/** The context of all series of a file. */
export interface ExpansionContext {
  /** Unix milliseconds. */
  now: number;
  faults: FaultList;
  budget: FileBudget;
  /** Unusable rules with the reason, so that repeated ones in a large file are not checked again. */
  unusable: Map<string, string>;
}

/** The meeting of an event, or an occurrence of it with another start or duration. */
export function meetingEntry(
  event: CalendarEvent,
  externalId: string,
  start: Moment = event.start,
  span: Span = event.span,
): MeetingEntry {
  const times = { start_time: start.instant, end_time: endOf(start, span) };
  return {
    line: event.line,
    sequence: event.sequence,
    data: { external_id: externalId, ...event.data, ...times },
  };
}

/** `UID/RECURRENCE-ID`. */
export function instanceId(uid: string, recurrence: Moment): string {
  return `${uid}/${momentKey(recurrence)}`;
}

/**
 * The occurrences of a series within the window around now; reports if there are none.
 * @returns undefined, with a reported fault, if the rule has more occurrences than any calendar of meetings
 */
export function expandSeries(
  master: CalendarEvent,
  overrides: readonly CalendarEvent[],
  context: ExpansionContext,
): Series | undefined {
  try {
    return seriesOf(master, overrides, context);
  } catch (error) {
    if (!(error instanceof UnusableRuleError)) throw error;
    const { line } = error.rule ?? master.rules[0] ?? master;
    context.faults.add(line, `${error.message} (UID ${quoted(master.uid)})`);
    return undefined;
  }
}

function seriesOf(
  master: CalendarEvent,
  overrides: readonly CalendarEvent[],
  context: ExpansionContext,
): Series {
  const { moments, extent } = recurrencesOf(master, context);
  const changed = keyedOverrides(overrides, moments);
  const rangeStart = ({ recurrenceId }: CalendarEvent): number => recurrenceId?.instant ?? 0;
  const ranges = overrides.filter((event) => event.isRange).sort((a, b) => rangeStart(a) - rangeStart(b));
  const excluded = excludedBy(master);
  const spans = new Map(
    master.extraDates.map(({ moment, span }) => [momentKey(moment), span ?? master.span]),
  );
  const entries: MeetingEntry[] = [];
  for (const moment of withMoved(moments, changed, extent)) {
    if (excluded(moment)) continue;
    const key = momentKey(moment);
    const id = `${master.uid}/${key}`;
    const own = changed.get(key);
    const range = lastUntil(ranges, moment.instant, rangeStart);
    if (own !== undefined) entries.push(meetingEntry(own.event, id));
    else if (range !== undefined) entries.push(shiftedEntry(range, id, moment));
    else entries.push(meetingEntry(master, id, moment, spans.get(key)));
  }
  if (entries.length === 0) {
    const which = `the ${WINDOW_DAYS} days closest to today`;
    context.faults.tell(master.line, `the series ${quoted(master.uid)} has no meetings in ${which}`);
  }
  return { entries, extent };
}

// Occurrences outside the window are skipped, unless the series has too few on one side.
function recurrencesOf(
  master: CalendarEvent,
  context: ExpansionContext,
): { moments: Moment[]; extent: SeriesExtent } {
  const { start } = master;
  const { now, budget } = context;
  const earliest = now - HALF_WINDOW_MS;
  const horizon = Math.max(start.instant, earliest) + SERIES_WINDOW_MS;
  const { walls, isWhole } = allWalls(master, start.zone.toWall(horizon), context);
  const at = (wall: number): Moment => momentAt(start.kind, wall, start.zone);
  const extra = master.extraDates.map(({ moment }) => moment);
  const ends = [start, ...extra, ...[...walls.slice(0, 1), ...walls.slice(-1)].map(at)];
  const first = Math.min(...ends.map(({ instant }) => instant));
  const last = isWhole ? Math.max(...ends.map(({ instant }) => instant)) : Number.POSITIVE_INFINITY;
  const from = Math.max(first, Math.min(earliest, last - SERIES_WINDOW_MS));
  const to = from + SERIES_WINDOW_MS;
  // Only those near the window are converted to instants, which is much slower than finding them.
  const near = walls.filter((wall) => wall >= from - CLOCKS_APART_MS && wall <= to + CLOCKS_APART_MS).map(at);
  const byKey = new Map([start, ...extra, ...near].map((moment) => [momentKey(moment), moment]));
  const inside = [...byKey.values()]
    .filter(({ instant }) => instant >= from && instant <= to)
    .sort((a, b) => a.instant - b.instant);
  if (inside.length > INSTANCES_MAX) throw tooDenseError();
  if (!budget.takeInstances(inside.length)) throw tooManyInFile();
  const extent = {
    sequence: master.sequence,
    from: from <= first ? Number.NEGATIVE_INFINITY : from,
    to: last <= to ? Number.POSITIVE_INFINITY : to,
  };
  return { moments: inside, extent };
}

function tooManyInFile(): UnusableRuleError {
  const message =
    'the series has too many meetings after the earlier series in this file; put the event into a separate file';
  return new UnusableRuleError(message);
}

// The occurrences of the rules, in order, without duplicates.
function allWalls(
  { rules, start }: CalendarEvent,
  lastWall: number,
  context: ExpansionContext,
): { walls: number[]; isWhole: boolean } {
  const walls = new Set<number>();
  let isWhole = true;
  for (const rule of rules) {
    const expansion = expandKnown(rule, start.wall, lastWall, context);
    isWhole &&= expansion.isWhole;
    for (const wall of expansion.walls) walls.add(wall);
  }
  return { walls: [...walls].sort((a, b) => a - b), isWhole };
}

function expandKnown(
  rule: Rule,
  startWall: number,
  lastWall: number,
  { unusable, budget }: ExpansionContext,
): Expansion {
  const same = JSON.stringify({ ...rule, line: 0 });
  const [ofYear, ofStart] = [`${Math.floor(startWall / YEAR_MS)} ${same}`, `at ${startWall} ${same}`];
  const reason = unusable.get(ofYear) ?? unusable.get(ofStart);
  if (reason !== undefined) throw new UnusableRuleError(reason, rule);
  try {
    return expandRule(rule, startWall, lastWall, budget);
  } catch (error) {
    if (!(error instanceof UnusableRuleError)) throw error;
    unusable.set(error.isOfStart ? ofStart : ofYear, error.message);
    throw new UnusableRuleError(error.message, rule);
  }
}

type Override = { event: CalendarEvent; moment: Moment };

// By the key of the changed occurrence; an override with only a date means the occurrence of that day.
function keyedOverrides(
  overrides: readonly CalendarEvent[],
  moments: readonly Moment[],
): Map<string, Override> {
  const byKey = new Map(moments.map((moment) => [momentKey(moment), moment]));
  const dayKey = (kind: Moment['kind'], wall: number): string => `${kind} ${startOfDay(wall)}`;
  const byDay = new Map(moments.toReversed().map((moment) => [dayKey(moment.kind, moment.wall), moment]));
  const keyed = new Map<string, Override>();
  for (const event of overrides) {
    const id = event.recurrenceId;
    if (id === null) continue;
    const [ofDay] = MOMENT_KINDS.flatMap((kind) =>
      kind === id.kind ? [] : (byDay.get(dayKey(kind, id.wall)) ?? []),
    );
    const moment = byKey.get(momentKey(id)) ?? ofDay ?? id;
    keyed.set(momentKey(moment), { event, moment });
  }
  return keyed;
}

// Overrides of occurrences that the rule does not include (any more) are still meetings.
function withMoved(
  moments: readonly Moment[],
  changed: ReadonlyMap<string, Override>,
  { from, to }: Pick<SeriesExtent, 'from' | 'to'>,
): Moment[] {
  const known = new Set(moments.map(momentKey));
  const moved = [...changed].filter(
    ([key, { moment }]) => !known.has(key) && moment.instant >= from && moment.instant <= to,
  );
  return [...moments, ...moved.map(([, { moment }]) => moment)];
}

function excludedBy(master: CalendarEvent): (moment: Moment) => boolean {
  const keys = new Set(master.excludedDates.map(momentKey));
  const days = new Set(
    master.excludedDates.filter(({ kind }) => kind === 'date').map(({ wall }) => startOfDay(wall)),
  );
  return (moment) => keys.has(momentKey(moment)) || days.has(startOfDay(moment.wall));
}

// This and future: moved by the same time as the changed occurrence, with the other changes of the override.
function shiftedEntry(range: CalendarEvent, id: string, moment: Moment): MeetingEntry {
  const shift = range.start.wall - (range.recurrenceId?.wall ?? range.start.wall);
  return meetingEntry(range, id, momentAt(range.start.kind, moment.wall + shift, range.start.zone));
}
