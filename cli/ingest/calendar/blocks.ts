// The structure of iCalendar: unfolded content lines in nested components, with line numbers.
import { type FaultList, quoted } from '../entries.ts';
import { decodeLine, NOT_UTF8, type RawLine } from '../text-lines.ts';

export interface ContentLine {
  line: number;
  /** Upper case. */
  name: string;
  /** The whole line, name included, unfolded. */
  text: string;
}

/** A component: VCALENDAR, VEVENT, VTIMEZONE, … */
export interface Block {
  name: string;
  line: number;
  lines: ContentLine[];
  blocks: Block[];
  /** Whether a line in it is invalid, or its end is missing; both make it unusable. */
  state: 'whole' | 'damaged' | 'cut';
}

// Calendars have three levels. Deeper nesting would be searched for every misplaced line.
const LEVELS_MAX = 32;
const SPACE = 0x20;
const TAB = 0x09;
const NAME = /^([A-Za-z0-9-]+)[;:]/;
// To-dos, alarms and attachments would only use memory.
const BLOCKS_READ = new Set(['VEVENT', 'VTIMEZONE', 'STANDARD', 'DAYLIGHT']);
const LINES_READ = new Set(
  `METHOD X-WR-TIMEZONE TZID X-LIC-LOCATION TZOFFSETFROM TZOFFSETTO UID SEQUENCE DTSTAMP LAST-MODIFIED DTSTART DTEND
  DURATION STATUS RECURRENCE-ID RRULE EXRULE RDATE EXDATE SUMMARY DESCRIPTION LOCATION ORGANIZER ATTENDEE`.split(
    /\s+/,
  ),
);
// Components at the top level of a calendar: if one starts inside another, that one has no END line.
const OUTERMOST = new Set(['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VTIMEZONE']);

/** The value of a component's first property with this name; it must not have escapes. */
export function textOf(block: Block, name: string): string | undefined {
  const text = block.lines.find((line) => line.name === name)?.text;
  return text === undefined ? undefined : valueIn(text);
}

/**
 * Takes the lines of a file in order and builds its calendars. A misplaced line is a fault of the component that contains
 * it, and of no other. What is not used later is not kept.
 */
export class BlockReader {
  readonly calendars: Block[] = [];
  readonly #faults: FaultList;
  readonly #open: Block[] = [];
  // A line may continue in the next, and a fold may split a character, so lines are decoded after joining.
  #folded: { line: number; parts: Uint8Array[] } | null = null;
  #lastLine = 1;

  constructor(faults: FaultList) {
    this.#faults = faults;
  }

  push({ line, bytes }: RawLine): void {
    this.#lastLine = line;
    const isFolded = bytes[0] === SPACE || bytes[0] === TAB;
    if (isFolded && this.#folded !== null) {
      this.#folded.parts.push(bytes.subarray(1));
      return;
    }
    this.#unfold();
    this.#folded = { line, parts: [bytes] };
  }

  end(): void {
    this.#unfold();
    const outer = this.#open[0];
    if (outer === undefined) return;
    const inner = this.#open.at(-1) ?? outer;
    const where = inner === outer ? '' : `, inside the ${inner.name} of line ${inner.line}`;
    this.#mark('cut');
    this.#faults.add(
      this.#lastLine,
      `the file ends before END:${outer.name} (started in line ${outer.line})${where}`,
    );
  }

  #unfold(): void {
    if (this.#folded === null) return;
    const { line, parts } = this.#folded;
    this.#folded = null;
    const text = decodeLine(Buffer.concat(parts));
    if (text === null) this.#breakOpen(line, NOT_UTF8);
    else if (text.trim() !== '') this.#take(line, text);
  }

  #take(line: number, text: string): void {
    const name = NAME.exec(text)?.[1]?.toUpperCase();
    const open = this.#open.at(-1);
    if (name === undefined) {
      this.#breakOpen(line, `is not a content line of the form NAME:value: ${quoted(text)}`);
    } else if (name === 'BEGIN') this.#begin(line, valueIn(text).toUpperCase());
    else if (name === 'END') this.#close(line, valueIn(text).toUpperCase());
    else if (open === undefined) this.#faults.add(line, `${name} is outside of a VCALENDAR`);
    else if (LINES_READ.has(name)) open.lines.push({ line, name, text });
  }

  /** Reports a fault of the line and makes the component around it unusable; a calendar stays usable. */
  #breakOpen(line: number, message: string): void {
    this.#faults.add(line, message);
    this.#mark('damaged');
  }

  #mark(state: Block['state']): void {
    for (const block of this.#open) if (block.name !== 'VCALENDAR') block.state = state;
  }

  #begin(line: number, name: string): void {
    const isCalendar = name === 'VCALENDAR';
    if (!isCalendar && this.#open.length >= LEVELS_MAX) {
      this.#breakOpen(line, `BEGIN:${name} is nested deeper than ${LEVELS_MAX} components`);
      return;
    }
    if (isCalendar) this.#abandon(0);
    else if (OUTERMOST.has(name)) this.#abandon(this.#open[0]?.name === 'VCALENDAR' ? 1 : 0);
    const parent = this.#open.at(-1);
    const block: Block = { name, line, lines: [], blocks: [], state: 'whole' };
    if (isCalendar) this.calendars.push(block);
    else if (parent === undefined) this.#faults.add(line, `${name} starts outside of a VCALENDAR`);
    else if (BLOCKS_READ.has(name)) parent.blocks.push(block);
    this.#open.push(block);
  }

  #close(line: number, name: string): void {
    const depth = this.#open.findLastIndex((block) => block.name === name);
    if (depth === -1) {
      this.#breakOpen(line, `END:${name} without BEGIN:${name}`);
      return;
    }
    this.#abandon(depth + 1);
    this.#open.pop();
  }

  // Closes the components from this depth on, and reports their missing ends.
  #abandon(depth: number): void {
    const unended = this.#open.slice(depth);
    if (unended.length === 0) return;
    this.#mark('cut');
    for (const { line, name } of unended) this.#faults.add(line, `BEGIN:${name} has no END:${name}`);
    this.#open.length = depth;
  }
}

function valueIn(text: string): string {
  return text.slice(text.indexOf(':') + 1).trim();
}
