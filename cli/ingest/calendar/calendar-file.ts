// iCalendar files: every event and every instance of a series becomes a meeting, every fault is told with its line.
import type { MeetingEntry, MeetingGroup } from '../../../db/ingest/meetings.ts';
import { CliError } from '../../errors.ts';
import { FaultList, type Parsed } from '../entries.ts';
import { splitLines } from '../text-lines.ts';
import { type Block, readBlocks, textOf, unfold } from './blocks.ts';
import { type CalendarContext, type CalendarEvent, readEvent } from './event.ts';
import { type ExpansionContext, expandSeries, HALF_WINDOW_MS, instanceId, meetingEntry } from './series.ts';
import { ZoneTable } from './zone-rules.ts';
import { findZone } from './zones.ts';

// Answers to an invitation: they speak of one attendee only and say nothing of the meeting itself.
const ANSWERS = new Set(['REPLY', 'COUNTER', 'DECLINECOUNTER', 'REFRESH']);
const EVERYTHING = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/**
 * Reads an iCalendar file. Series are expanded for the 400 days of them that lie nearest to `now` (Unix milliseconds).
 * Times without a zone are taken in the calendar's X-WR-TIMEZONE, else in UTC.
 * @throws CliError if the file is no calendar at all
 */
export function parseCalendar(bytes: Uint8Array, name: string, now: number): Parsed<MeetingGroup> {
  const faults = new FaultList();
  const calendars = readBlocks(unfold(splitLines(bytes, name)), faults);
  if (calendars.length === 0) throw noCalendar(name);
  const byUid = new Map<string, CalendarEvent[]>();
  for (const calendar of calendars) {
    for (const event of eventsOf(calendar, faults)) {
      const events = byUid.get(event.uid);
      if (events === undefined) byUid.set(event.uid, [event]);
      else events.push(event);
    }
  }
  const context: ExpansionContext = { now, faults, unusable: new Map() };
  const entries = [...byUid.values()].flatMap(
    (events) => faults.attempt(events[0]?.line ?? 1, () => groupOf(events, context)) ?? [],
  );
  const inOrder = faults.faults.sort((a, b) => a.line - b.line);
  return { entries, faults: inOrder, ignored: 0 };
}

function noCalendar(name: string): CliError {
  return new CliError(`${name} is no iCalendar file: it has no line BEGIN:VCALENDAR.`, {
    nextSteps: ['export the calendar as iCalendar (.ics), or give JSON with --format json.'],
  });
}

function eventsOf(calendar: Block, faults: FaultList): CalendarEvent[] {
  const method = textOf(calendar, 'METHOD')?.toUpperCase();
  if (method !== undefined && ANSWERS.has(method)) {
    faults.add(calendar.line, `the calendar is an answer (METHOD:${method}), which tells no meetings`);
    return [];
  }
  const zoneName = textOf(calendar, 'X-WR-TIMEZONE') ?? '';
  const context: CalendarContext = {
    zones: new ZoneTable(calendar),
    defaultZone: findZone(zoneName) ?? null,
    isCancelling: method === 'CANCEL',
  };
  const blocks = calendar.blocks.filter((block) => block.name === 'VEVENT');
  return blocks.flatMap((block) => readEvent(block, context, faults) ?? []);
}

// All events of one UID: a meeting, or a series with the instances that were changed.
function groupOf(events: readonly CalendarEvent[], context: ExpansionContext): MeetingGroup | undefined {
  const latest = latestRevisions(events.filter((event) => event.isSound));
  const spared = events.flatMap((event) => (event.isSound ? [] : idOf(event)));
  const master = latest.find((event) => event.recurrenceId === null);
  const overrides = latest.filter((event) => event.recurrenceId !== null);
  const uid = events[0]?.uid ?? '';
  if (latest.length === 0) return undefined;
  if (master === undefined) return { uid, entries: overrides.map(ownEntry), spared, extent: null };
  const { sequence } = master;
  if (master.isCancelled) {
    return { uid, entries: [ownEntry(master)], spared, extent: { sequence, ...EVERYTHING } };
  }
  if (master.rules.length === 0 && master.extraDates.length === 0) {
    const extent = { sequence, from: context.now - HALF_WINDOW_MS, to: Number.POSITIVE_INFINITY };
    return { uid, entries: [master, ...overrides].map(ownEntry), spared, extent };
  }
  const series = expandSeries(master, overrides, context);
  if (series === undefined) return undefined;
  const entries = series.entries.filter(({ data }) => !spared.includes(String(data.external_id)));
  return { uid, entries, spared, extent: series.extent };
}

// As it is told: a meeting, or an instance whose series is not in the file, as in an invitation to it alone.
function ownEntry(event: CalendarEvent): MeetingEntry {
  return meetingEntry(event, idOf(event));
}

function idOf({ uid, recurrenceId }: CalendarEvent): string {
  return recurrenceId === null ? uid : instanceId(uid, recurrenceId);
}

// Where an event stands in the file several times, its newest revision counts.
function latestRevisions(events: readonly CalendarEvent[]): CalendarEvent[] {
  const latest = new Map<string, CalendarEvent>();
  for (const event of events) {
    const key = idOf(event);
    const other = latest.get(key);
    const isOlder =
      other !== undefined &&
      (event.sequence < other.sequence || (event.sequence === other.sequence && event.stamp < other.stamp));
    if (!isOlder) latest.set(key, event);
  }
  return [...latest.values()];
}
