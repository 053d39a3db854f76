// A series: its instances within the window, each with what an override changes in it.
import type { MeetingEntry, SeriesExtent } from '../../../db/ingest/meetings.ts';
import { DAY_MS } from '../../input/instant.ts';
import { formatCount } from '../../terminal/format.ts';
import type { FaultList } from '../entries.ts';
import type { CalendarEvent } from './event.ts';
import type { Rule } from './rule.ts';
import { type Expansion, expandRule, UnusableRuleError } from './rule-times.ts';
import { endOf, type Span } from './span.ts';
import { type Moment, momentAt, momentKey, startOfDay } from './values.ts';

// A series is ingested for this long: the days of it that lie nearest to today.
const WINDOW_DAYS = 400;
// Both ends belong to it.
const WINDOW_MS = WINDOW_DAYS * DAY_MS - 1;
export const HALF_WINDOW_MS = (WINDOW_DAYS / 2) * DAY_MS;
const INSTANCES_MAX = 10_000;
const YEAR_MS = 366 * DAY_MS;

export interface Series {
  entries: MeetingEntry[];
  extent: SeriesExtent;
}

/** What all series of a file are expanded with. */
export interface ExpansionContext {
  /** Unix milliseconds. */
  now: number;
  faults: FaultList;
  /** Rules that were found unusable, with the reason: in a file of thousands of them each would take its time. */
  unusable: Map<string, string>;
}

/** The meeting that an event tells, or an instance of it that starts at another moment or takes another time. */
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
 * The instances of a series that fall into the window around now.
 * @returns undefined, with the fault told, if the rule gives more than any calendar of meetings
 */
export function expandSeries(
  master: CalendarEvent,
  overrides: readonly CalendarEvent[],
  context: ExpansionContext,
): Series | undefined {
  const recurrences = recurrencesOf(master, context);
  if (recurrences === undefined) return undefined;
  const { from, to } = recurrences.extent;
  const changed = keyedOverrides(overrides, recurrences.moments);
  const ranges = overrides
    .filter((event) => event.isRange)
    .sort((a, b) => (a.recurrenceId?.instant ?? 0) - (b.recurrenceId?.instant ?? 0));
  const excluded = excludedBy(master);
  const spans = new Map(
    master.extraDates.map(({ moment, span }) => [momentKey(moment), span ?? master.span]),
  );
  const entries: MeetingEntry[] = [];
  for (const moment of withMoved(recurrences.moments, changed, from, to)) {
    if (excluded(moment)) continue;
    const key = momentKey(moment);
    const id = `${master.uid}/${key}`;
    const own = changed.get(key);
    const range = ranges.findLast((event) => (event.recurrenceId?.instant ?? 0) <= moment.instant);
    if (own !== undefined) entries.push(meetingEntry(own.event, id));
    else if (range !== undefined) entries.push(shiftedEntry(range, id, moment));
    else entries.push(meetingEntry(master, id, moment, spans.get(key)));
  }
  return { entries, extent: recurrences.extent };
}

// What lies beyond the window is not told, unless the series has no more there.
function recurrencesOf(
  master: CalendarEvent,
  context: ExpansionContext,
): { moments: Moment[]; extent: SeriesExtent } | undefined {
  const { start } = master;
  const { now, faults } = context;
  const earliest = now - HALF_WINDOW_MS;
  const horizon = Math.max(start.instant, earliest) + WINDOW_MS;
  const found = allMoments(master, start.zone.toWall(horizon), context);
  if (found === undefined) return undefined;
  const { moments, isWhole } = found;
  const last = isWhole ? (moments.at(-1)?.instant ?? start.instant) : Number.POSITIVE_INFINITY;
  const first = moments[0]?.instant ?? start.instant;
  const from = Math.max(first, Math.min(earliest, last - WINDOW_MS));
  const to = from + WINDOW_MS;
  const inside = moments.filter(({ instant }) => instant >= from && instant <= to);
  if (inside.length > INSTANCES_MAX) {
    faults.add(
      master.rules[0]?.line ?? master.line,
      `the series has more than ${formatCount(INSTANCES_MAX)} meetings in ${WINDOW_DAYS} days`,
    );
    return undefined;
  }
  const extent = {
    sequence: master.sequence,
    from: from <= first ? Number.NEGATIVE_INFINITY : from,
    to: last <= to ? Number.POSITIVE_INFINITY : to,
  };
  return { moments: inside, extent };
}

function allMoments(
  master: CalendarEvent,
  lastWall: number,
  context: ExpansionContext,
): { moments: Moment[]; isWhole: boolean } | undefined {
  const { start } = master;
  const extra = master.extraDates.map(({ moment }) => moment);
  const moments = new Map([start, ...extra].map((moment) => [momentKey(moment), moment]));
  let isWhole = true;
  for (const rule of master.rules) {
    const expansion = expandOrRefuse(rule, start.wall, lastWall, context);
    if (expansion === undefined) return undefined;
    isWhole &&= expansion.isWhole;
    for (const wall of expansion.walls) {
      const moment = momentAt(start.kind, wall, start.zone);
      moments.set(momentKey(moment), moment);
    }
  }
  return { moments: [...moments.values()].sort((a, b) => a.instant - b.instant), isWhole };
}

function expandOrRefuse(
  rule: Rule,
  startWall: number,
  lastWall: number,
  { faults, unusable }: ExpansionContext,
): Expansion | undefined {
  const key = `${Math.floor(startWall / YEAR_MS)} ${JSON.stringify({ ...rule, line: 0 })}`;
  const reason = unusable.get(key);
  if (reason !== undefined) {
    faults.add(rule.line, reason);
    return undefined;
  }
  try {
    return expandRule(rule, startWall, lastWall);
  } catch (error) {
    if (!(error instanceof UnusableRuleError)) throw error;
    unusable.set(key, error.message);
    faults.add(rule.line, error.message);
    return undefined;
  }
}

type Override = { event: CalendarEvent; moment: Moment };

// By the key of the instance that each changes; one that names only the day means the instance of that day.
function keyedOverrides(
  overrides: readonly CalendarEvent[],
  moments: readonly Moment[],
): Map<string, Override> {
  const byKey = new Map(moments.map((moment) => [momentKey(moment), moment]));
  const keyed = new Map<string, Override>();
  for (const event of overrides) {
    const id = event.recurrenceId;
    if (id === null) continue;
    const ofDay = (one: Moment): boolean => one.kind !== id.kind && isSameDay(one, id);
    const moment = byKey.get(momentKey(id)) ?? moments.find(ofDay) ?? id;
    keyed.set(momentKey(moment), { event, moment });
  }
  return keyed;
}

// Overrides of instances that the rule does not give (any more) still are meetings.
function withMoved(
  moments: readonly Moment[],
  changed: ReadonlyMap<string, Override>,
  from: number,
  to: number,
): Moment[] {
  const known = new Set(moments.map(momentKey));
  const moved = [...changed].filter(
    ([key, { moment }]) => !known.has(key) && moment.instant >= from && moment.instant <= to,
  );
  return [...moments, ...moved.map(([, { moment }]) => moment)];
}

function excludedBy(master: CalendarEvent): (moment: Moment) => boolean {
  const keys = new Set(master.excludedDates.map(momentKey));
  const days = master.excludedDates.filter(({ kind }) => kind === 'date');
  return (moment) => keys.has(momentKey(moment)) || days.some((day) => isSameDay(day, moment));
}

function isSameDay(a: Moment, b: Moment): boolean {
  return startOfDay(a.wall) === startOfDay(b.wall);
}

// This and future: moved as far as the instance that the override names, and otherwise as the override says.
function shiftedEntry(range: CalendarEvent, id: string, moment: Moment): MeetingEntry {
  const shift = range.start.wall - (range.recurrenceId?.wall ?? range.start.wall);
  return meetingEntry(range, id, momentAt(range.start.kind, moment.wall + shift, range.start.zone));
}
