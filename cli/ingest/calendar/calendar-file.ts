// iCalendar files: every event and every occurrence of a series becomes a meeting, every fault is reported with its line.
import type { MeetingEntry, MeetingGroup } from '../../../db/ingest/meetings.ts';
import { CliError } from '../../errors.ts';
import type { Findings } from '../entries.ts';
import { linesOf } from '../text-lines.ts';
import { type Block, BlockReader, textOf } from './blocks.ts';
import { type CalendarContext, type CalendarEvent, readEvent } from './event.ts';
import { FileBudget, HALF_WINDOW_MS } from './limits.ts';
import { type ExpansionContext, expandSeries, instanceId, meetingEntry } from './series.ts';
import { ZoneTable } from './zone-rules.ts';
import { findZone } from './zones.ts';

// Replies to an invitation are about one attendee only, not about the meeting.
const ANSWERS = new Set(['REPLY', 'COUNTER', 'DECLINECOUNTER', 'REFRESH']);
const EVERYTHING = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/**
 * Reads an iCalendar file. Series are expanded for the 400 days of them that are closest to `now` (Unix milliseconds).
 * Times without a zone use the calendar's X-WR-TIMEZONE, else UTC. Newer revisions of an event and definitions of zones
 * may follow anywhere in the file, so meetings are returned at its end, one series after another.
 */
export async function* readCalendar(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  findings: Findings,
  now: number,
  budget = new FileBudget(),
): AsyncGenerator<MeetingGroup> {
  const { faults } = findings;
  const context: ExpansionContext = { now, faults, budget, unusable: new Map() };
  const reader = new BlockReader(faults);
  for await (const lines of linesOf(chunks, name)) for (const line of lines) reader.push(line);
  reader.end();
  if (reader.calendars.length === 0) throw noCalendar(name);
  const byUid = Map.groupBy(
    reader.calendars.flatMap((calendar) => eventsOf(calendar, context)),
    ({ block }) => textOf(block, 'UID') ?? '',
  );
  const count = byUid.size;
  for (const [uid, blocks] of byUid) {
    const events = blocks.flatMap(({ block, context: own }) => readEvent(block, own, faults) ?? []);
    const group = faults.attempt(events[0]?.line ?? 1, () => groupOf(events, context));
    byUid.delete(uid);
    findings.share = 1 - byUid.size / count;
    if (group !== undefined) yield group;
  }
}

function noCalendar(name: string): CliError {
  return new CliError(`${name} is not an iCalendar file: the line BEGIN:VCALENDAR is missing.`, {
    nextSteps: ['export the calendar as iCalendar (.ics), or use JSON with --format json.'],
  });
}

/** An unread event, with the time zone and method of its calendar. */
interface EventBlock {
  block: Block;
  context: CalendarContext;
}

function eventsOf(calendar: Block, { faults, budget }: ExpansionContext): EventBlock[] {
  const method = textOf(calendar, 'METHOD')?.toUpperCase();
  if (method !== undefined && ANSWERS.has(method)) {
    faults.add(calendar.line, `the calendar is a reply (METHOD:${method}), which does not contain meetings`);
    return [];
  }
  const zoneName = textOf(calendar, 'X-WR-TIMEZONE') ?? '';
  const context: CalendarContext = {
    zones: new ZoneTable(calendar, budget),
    defaultZone: findZone(zoneName) ?? null,
    isCancelling: method === 'CANCEL',
  };
  // Removed, so that each can be freed once it is read.
  const blocks = calendar.blocks.splice(0).filter(({ name }) => name === 'VEVENT');
  return blocks.map((block) => ({ block, context }));
}

// All events of one UID: a meeting, or a series with its changed occurrences.
function groupOf(events: readonly CalendarEvent[], context: ExpansionContext): MeetingGroup | undefined {
  const latest = latestRevisions(events.filter((event) => event.isSound));
  const spared = events.flatMap((event) => (event.isSound ? [] : idOf(event)));
  const isSpared = new Set(spared);
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
  const entries = series.entries.filter(({ data }) => !isSpared.has(String(data.external_id)));
  return { uid, entries, spared, extent: series.extent };
}

// A single meeting, or an occurrence whose series is not in the file, as in an invitation to it alone.
function ownEntry(event: CalendarEvent): MeetingEntry {
  return meetingEntry(event, idOf(event));
}

function idOf({ uid, recurrenceId }: CalendarEvent): string {
  return recurrenceId === null ? uid : instanceId(uid, recurrenceId);
}

// If an event is in the file several times, its newest revision counts.
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
