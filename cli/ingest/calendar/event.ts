// Reads a VEVENT: its fields, its time, and its series.
import { enumFault } from '../../../db/model/faults.ts';
import { LONG_TEXT_CHARACTERS_MAX, NAME_CHARACTERS_MAX } from '../../../db/model/fields.ts';
import type { Data } from '../../../db/model/json.ts';
import { FaultList, quoted } from '../entries.ts';
import { type Person, uniquePeople } from '../people.ts';
import type { Block } from './blocks.ts';
import { type Property, parseProperty, textValue } from './property.ts';
import { type Rule, readRule } from './rule.ts';
import { defaultSpan, endOf, isForward, readDuration, type Span, spanBetween } from './span.ts';
import { type Moment, momentOf, momentsOf, type TimeContext } from './values.ts';

export interface CalendarEvent {
  line: number;
  /** False if something in it is invalid: then it only identifies a meeting that must not change. */
  isSound: boolean;
  uid: string;
  sequence: number;
  /** When this revision was written, Unix milliseconds; 0 if it does not say. */
  stamp: number;
  start: Moment;
  span: Span;
  isCancelled: boolean;
  recurrenceId: Moment | null;
  /** Whether it also changes all later occurrences of its series. */
  isRange: boolean;
  rules: Rule[];
  extraDates: ExtraDate[];
  excludedDates: Moment[];
  /** Everything but the times. */
  data: Data;
}

/** An occurrence from RDATE; null if it is as long as the event. */
export interface ExtraDate {
  moment: Moment;
  span: Span | null;
}

export interface CalendarContext extends TimeContext {
  /** Whether the calendar's method is CANCEL. */
  isCancelling: boolean;
}

const UID_CHARACTERS_MAX = 950;
const STATUSES: Record<string, string> = {
  CONFIRMED: 'confirmed',
  TENTATIVE: 'tentative',
  CANCELLED: 'cancelled',
};
const RULES = new Set(['RRULE', 'EXRULE']);

/** Reads an event and reports its faults; returns undefined if its meeting cannot be identified. */
export function readEvent(
  block: Block,
  context: CalendarContext,
  faults: FaultList,
): CalendarEvent | undefined {
  if (block.state === 'cut') return undefined;
  const reader = new EventReader(block, context);
  const event = reader.read();
  for (const fault of reader.faults.faults) faults.add(fault.line, fault.message);
  const isSound = reader.faults.faults.length === 0 && block.state === 'whole';
  if (isSound) for (const notice of reader.faults.notices) faults.tell(notice.line, notice.message);
  return event && { ...event, isSound };
}

class EventReader {
  readonly faults = new FaultList();
  readonly #block: Block;
  readonly #context: CalendarContext;
  readonly #properties: ReadonlyMap<string, readonly Property[]>;

  constructor(block: Block, context: CalendarContext) {
    this.#block = block;
    this.#context = context;
    const contents = block.lines.filter(({ name }) => !RULES.has(name));
    const properties = contents.flatMap(
      (content) => this.faults.attempt(content.line, () => parseProperty(content)) ?? [],
    );
    this.#properties = Map.groupBy(properties, ({ name }) => name);
  }

  read(): Omit<CalendarEvent, 'isSound'> | undefined {
    const uid = this.#uid();
    const recurrence = this.#moments('RECURRENCE-ID');
    const start = this.#start() ?? recurrence[0];
    const status = this.#status();
    const data = this.#data();
    if (uid === undefined || start === undefined) return undefined;
    const isCancelled = this.#context.isCancelling || status === 'cancelled';
    const timezone = start.kind === 'zoned' ? start.zone.name : (this.#context.defaultZone?.name ?? null);
    return {
      line: this.#block.line,
      uid,
      sequence: this.#sequence(),
      stamp: (this.#moments('LAST-MODIFIED')[0] ?? this.#moments('DTSTAMP')[0])?.instant ?? 0,
      start,
      span: this.#span(start),
      isCancelled,
      recurrenceId: recurrence[0] ?? null,
      isRange: this.#one('RECURRENCE-ID')?.params.range?.toUpperCase() === 'THISANDFUTURE',
      rules: this.#rules(start),
      extraDates: this.#extraDates(),
      excludedDates: this.#moments('EXDATE'),
      data: { ...data, status: isCancelled ? 'cancelled' : status, ...(timezone !== null && { timezone }) },
    };
  }

  #one(name: string): Property | undefined {
    return this.#properties.get(name)?.[0];
  }

  #uid(): string | undefined {
    const property = this.#one('UID');
    const uid = property === undefined ? '' : textValue(property);
    const line = property?.line ?? this.#block.line;
    if (uid === '') this.#missing('UID', 'which identifies the meeting');
    else if ([...uid].length > UID_CHARACTERS_MAX)
      this.faults.add(line, `UID is longer than ${UID_CHARACTERS_MAX} characters`);
    else return uid;
    return undefined;
  }

  #start(): Moment | undefined {
    if (this.#one('DTSTART') === undefined) this.#missing('DTSTART', 'its start');
    return this.#moments('DTSTART')[0];
  }

  // An invalid line was already reported.
  #missing(name: string, what: string): void {
    const isInvalid = this.#one(name) === undefined && this.#block.lines.some((line) => line.name === name);
    if (!isInvalid) this.faults.add(this.#block.line, `the VEVENT does not have ${name}, ${what}`);
  }

  #moments(name: string): Moment[] {
    return this.#each(name, (property) => momentsOf(name, property, this.#context));
  }

  #each<T>(name: string, read: (property: Property) => T[]): T[] {
    const properties = this.#properties.get(name) ?? [];
    return properties.flatMap((property) => this.faults.attempt(property.line, () => read(property)) ?? []);
  }

  // Start times, or periods: `start/end` or `start/duration`.
  #extraDates(): ExtraDate[] {
    return this.#each('RDATE', (property) =>
      property.value.split(',').map((text) => {
        const [start = '', end] = text.trim().split('/');
        const read = (one: string): Moment => momentOf('RDATE', one, property, this.#context);
        const moment = read(start);
        if (end === undefined) return { moment, span: null };
        const span = /P/i.test(end) ? readDuration('RDATE', end) : spanBetween(moment, read(end));
        if (isForward(span)) return { moment, span };
        throw new Error(`RDATE has a period that ends before it starts: ${quoted(text)}`);
      }),
    );
  }

  #rules(start: Moment): Rule[] {
    const exrule = this.#block.lines.find(({ name }) => name === 'EXRULE');
    if (exrule !== undefined)
      this.faults.add(exrule.line, 'EXRULE is not supported: list the dates in EXDATE');
    // Some holiday calendars write an empty rule.
    const lines = this.#block.lines.filter(({ name, text }) => name === 'RRULE' && !/:\s*$/.test(text));
    return lines.flatMap(
      (content) => this.faults.attempt(content.line, () => readRule(content, start)) ?? [],
    );
  }

  #sequence(): number {
    const property = this.#one('SEQUENCE');
    if (property === undefined) return 0;
    const sequence = /^\d+$/.test(property.value) ? Number(property.value) : Number.NaN;
    if (Number.isSafeInteger(sequence)) return sequence;
    this.faults.add(property.line, 'SEQUENCE must be a whole number');
    return 0;
  }

  #status(): string {
    const property = this.#one('STATUS');
    if (property === undefined) return 'confirmed';
    const status = STATUSES[textValue(property).toUpperCase()];
    if (status !== undefined) return status;
    this.faults.refuse(property.line, [enumFault('STATUS', Object.keys(STATUSES))]);
    return 'confirmed';
  }

  #span(start: Moment): Span {
    const [end] = this.#moments('DTEND');
    const duration = this.#one('DURATION');
    const property = this.#one('DTEND') ?? duration;
    if (property === undefined) return defaultSpan(start);
    const span = this.faults.attempt(property.line, () => {
      if (end !== undefined) return spanBetween(start, end);
      return duration && readDuration('DURATION', duration.value);
    });
    if (span === undefined) return defaultSpan(start);
    if (!isForward(span)) this.faults.add(property.line, 'the event ends before it starts');
    this.faults.attempt(property.line, () => endOf(start, span));
    return span;
  }

  #data(): Data {
    const data: Data = {};
    const take = (name: string, field: string, max: number): void => {
      const property = this.#one(name);
      if (property === undefined) return;
      data[field] = this.faults.clipped(property.line, name, textValue(property), max) || null;
    };
    take('SUMMARY', 'title', NAME_CHARACTERS_MAX);
    take('DESCRIPTION', 'description', LONG_TEXT_CHARACTERS_MAX);
    take('LOCATION', 'location', NAME_CHARACTERS_MAX);
    const organizer = this.#one('ORGANIZER');
    if (organizer !== undefined) data.organizer = { ...this.#personOf(organizer) };
    const attendees = (this.#properties.get('ATTENDEE') ?? [])
      .filter(isPerson)
      .map((one) => this.#personOf(one));
    if (attendees.length > 0) data.attendees = uniquePeople(attendees).map((person) => ({ ...person }));
    return data;
  }

  #personOf(property: Property): Person {
    const address = property.value.replace(/^mailto:/i, '');
    const candidates = [address, parameter(property, 'email').replace(/^mailto:/i, '')];
    const email = candidates.find((one) => /^[^\s@]+@[^\s@]+$/.test(one)) ?? null;
    const name = this.faults.clipped(property.line, 'CN', parameter(property, 'cn'), NAME_CHARACTERS_MAX);
    return { name: name === '' || name.toLowerCase() === email?.toLowerCase() ? null : name, email };
  }
}

// Rooms and projectors are invited too.
function isPerson({ params }: Property): boolean {
  return !['ROOM', 'RESOURCE'].includes((params.cutype ?? '').toUpperCase());
}

function parameter(property: Property, name: string): string {
  return (property.params[name] ?? '').trim();
}
