// Generates what calendars, call recorders and schedulers would deliver: meetings, recordings and bookings.
import type { Data } from '../../../db/model/json.ts';
import { DAY_MS } from '../../input/instant.ts';
import texts from './calendar.json' with { type: 'json' };
import conversations from './conversations.json' with { type: 'json' };
import { workingHour } from './days.ts';
import type { DemoContact } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { colleaguesOf, type DemoDeal, fillIn } from './sales.ts';
import type { DemoUser } from './types.ts';

const CALENDAR = 'calendar.example';
const MINUTE_MS = 60_000;

/** What was said: `U` is ours, `T` is theirs, `S` a second person of theirs; `{…}` is filled in from the deal. */
type Conversation = (typeof conversations)[number];

interface DemoMeeting {
  readonly entry: Data;
  readonly externalId: string;
  readonly start: number;
  readonly deal: DemoDeal;
  readonly speakers: readonly Person[];
}
interface Person {
  readonly name: string;
  readonly email: string;
}

/** The read-only records; the first meetings are recorded, two of them without a transcript. */
export function makeCalendar(
  counts: { meetings: number; recordings: number; bookings: number },
  deals: readonly DemoDeal[],
  contacts: readonly DemoContact[],
  today: number,
): { meetings: Data[]; recordings: Data[]; bookings: Data[] } {
  const random = createRandom('calendar');
  // A conversation needs two people on their side.
  const sociable = deals.filter((deal) => colleaguesOf(deal, contacts).length > 0);
  const meetings = Array.from({ length: counts.meetings }, (_, index) =>
    makeMeeting({ index, counts, deal: random.pick(sociable), contacts, today, random }),
  );
  const recorded = meetings.slice(0, counts.recordings);
  return {
    meetings: meetings.map(({ entry }) => entry),
    recordings: recorded.map((meeting, index) => makeRecording(meeting, index, counts.recordings, random)),
    bookings: Array.from({ length: counts.bookings }, (_, index) =>
      makeBooking(index, random.pick(deals), today, random),
    ),
  };
}

interface MeetingPlan {
  readonly index: number;
  readonly counts: { meetings: number; recordings: number };
  readonly deal: DemoDeal;
  readonly contacts: readonly DemoContact[];
  readonly today: number;
  readonly random: Random;
}

function makeMeeting({ index, counts, deal, contacts, today, random }: MeetingPlan): DemoMeeting {
  // Two thirds of the meetings are in the past, recorded ones always.
  const past = index < Math.max(counts.recordings, (counts.meetings * 2) / 3);
  const start = workingHour(
    today + (past ? -random.integer(4, 120) : random.integer(4, 40)) * DAY_MS,
    random,
  );
  const isRecorded = index < counts.recordings;
  const conversation = conversationOf(index);
  const subject = random.pick(texts.meetings);
  const owner = person(deal.company.owner);
  const colleagues = random.sample(colleaguesOf(deal, contacts), random.integer(1, 2));
  const theirs = [deal.contact, ...colleagues].map(person);
  const externalId = `demo-meeting-${index + 1}@${CALENDAR}`;
  const entry = {
    external_id: externalId,
    title: isRecorded ? `${conversation.title}: ${deal.company.shortName}` : fillIn(subject.title, deal),
    description: isRecorded ? `About ${deal.name}.` : fillIn(subject.description, deal),
    location: isRecorded ? 'Video call' : random.pick(texts.locations),
    ...{ start_time: start, end_time: start + random.pick([30, 45, 60]) * MINUTE_MS },
    timezone: deal.company.country.timezone,
    status: isRecorded
      ? 'confirmed'
      : random.weighted([
          ['confirmed', 8],
          ['tentative', past ? 0 : 2],
          ['cancelled', 1],
        ] as const),
    organizer: { ...owner },
    attendees: [owner, ...theirs].map((attendee) => ({ ...attendee })),
    ...{ deal_id: deal.key, company_id: deal.company.key },
  };
  return { entry, externalId, start, deal, speakers: [owner, ...theirs] };
}

function person({ name, email }: DemoUser | DemoContact): Person {
  return { name, email };
}

function conversationOf(index: number): Conversation {
  return conversations[index % conversations.length] as Conversation;
}

function makeRecording(meeting: DemoMeeting, index: number, count: number, random: Random): Data {
  const segments = speak(conversationOf(index), meeting, random);
  const duration = Math.ceil(Number(segments.at(-1)?.end_time ?? 0)) + random.integer(2, 6);
  return {
    external_id: `demo-recording-${index + 1}`,
    meeting_external_id: meeting.externalId,
    title: String(meeting.entry.title),
    started_at: meeting.start + random.integer(20, 200) * 1_000,
    duration_seconds: duration,
    language: 'en',
    // The last one is still being transcribed, the one before had its microphones off.
    segments: index === count - 1 ? null : index === count - 2 ? [] : segments,
  };
}

/** The lines of a conversation as transcript segments, timed at the pace of speech, in seconds. */
function speak(conversation: Conversation, meeting: DemoMeeting, random: Random): Data[] {
  const [ours, theirs, second] = meeting.speakers;
  const speakers: Record<string, Person | undefined> = { U: ours, T: theirs, S: second };
  let clock = random.integer(5, 25) / 10;
  return conversation.lines.map((line) => {
    const speaker = speakers[line.slice(0, 1)];
    const speech = fillIn(line.slice(3), meeting.deal);
    const start = clock;
    const end = start + speech.split(' ').length / (2.3 + random.next() * 0.6);
    clock = end + 0.2 + random.next() * 1.6;
    return {
      speaker: { name: speaker?.name ?? null, email: speaker?.email ?? null },
      ...{ start_time: toTenths(start), end_time: toTenths(end), speech },
    };
  });
}

function toTenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

function makeBooking(index: number, deal: DemoDeal, today: number, random: Random): Data {
  const { title, description } = random.pick(texts.bookings);
  const start = workingHour(today + random.integer(-50, 25) * DAY_MS, random);
  const status = random.weighted([
    ['booked', 7],
    ['rescheduled', 2],
    ['cancelled', 2],
  ] as const);
  return {
    external_id: `demo-booking-${index + 1}`,
    ...{ title, description, status },
    ...{ start_time: start, end_time: start + 30 * MINUTE_MS, timezone: deal.company.country.timezone },
    organizer: { ...person(deal.company.owner) },
    attendee: { ...person(deal.contact) },
    guests: random.chance(0.2) ? [`front.desk@${deal.company.domain}`] : [],
    cancellation_reason: status === 'cancelled' ? random.pick(texts.cancellationReasons) : null,
  };
}
