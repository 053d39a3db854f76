// The outer form of iCalendar: content lines unfolded, and the components they are nested in, with line numbers.
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
  /** Whether a line in it cannot be read, or it has no end; either makes it unusable. */
  state: 'whole' | 'damaged' | 'cut';
}

const SPACE = 0x20;
const TAB = 0x09;
const NAME = /^([A-Za-z0-9-]+)[;:]/;
// Components that stand directly in a calendar: one that begins inside another shows that the other has no end.
const OUTERMOST = new Set(['VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VTIMEZONE']);

/** The value of a component's first property of that name, which has no escapes. */
export function textOf(block: Block, name: string): string | undefined {
  const text = block.lines.find((line) => line.name === name)?.text;
  return text === undefined ? undefined : text.slice(text.indexOf(':') + 1).trim();
}

/** Joins folded lines, before decoding: a fold may stand in the middle of a character. */
export function unfold(lines: readonly RawLine[]): RawLine[] {
  const unfolded: { line: number; parts: Uint8Array[] }[] = [];
  for (const { line, bytes } of lines) {
    const last = unfolded.at(-1);
    const isFolded = bytes[0] === SPACE || bytes[0] === TAB;
    if (isFolded && last !== undefined) last.parts.push(bytes.subarray(1));
    else unfolded.push({ line, parts: [bytes] });
  }
  return unfolded.map(({ line, parts }) => {
    const [only] = parts;
    return { line, bytes: parts.length === 1 && only !== undefined ? only : Buffer.concat(parts) };
  });
}

/** The calendars in the lines; everything that is out of place is a fault and breaks only what it stands in. */
export function readBlocks(lines: readonly RawLine[], faults: FaultList): Block[] {
  const reader = new BlockReader(faults);
  for (const { line, bytes } of lines) {
    if (bytes.length === 0) continue;
    const text = decodeLine(bytes);
    if (text === null) reader.breakOpen(line, NOT_UTF8);
    else if (text.trim() !== '') reader.take(line, text);
  }
  reader.end(lines.at(-1)?.line ?? 1);
  return reader.calendars;
}

class BlockReader {
  readonly calendars: Block[] = [];
  readonly #faults: FaultList;
  readonly #open: Block[] = [];

  constructor(faults: FaultList) {
    this.#faults = faults;
  }

  take(line: number, text: string): void {
    const name = NAME.exec(text)?.[1]?.toUpperCase();
    if (name === undefined) {
      this.breakOpen(line, `is no content line, NAME:value, but ${quoted(text)}`);
    } else if (name === 'BEGIN') this.#begin(line, valueIn(text));
    else if (name === 'END') this.#close(line, valueIn(text));
    else if (this.#open.length > 0) this.#open.at(-1)?.lines.push({ line, name, text });
    else this.#faults.add(line, `${name} stands outside of a VCALENDAR`);
  }

  /** Tells a fault of the line and makes the component around it unusable; a calendar stays usable. */
  breakOpen(line: number, message: string): void {
    this.#faults.add(line, message);
    this.#mark('damaged');
  }

  #mark(state: Block['state']): void {
    for (const block of this.#open) if (block.name !== 'VCALENDAR') block.state = state;
  }

  end(lastLine: number): void {
    const outer = this.#open[0];
    if (outer === undefined) return;
    const inner = this.#open.at(-1) ?? outer;
    const where = inner === outer ? '' : `, inside the ${inner.name} of line ${inner.line}`;
    this.#mark('cut');
    this.#faults.add(
      lastLine,
      `the file ends before END:${outer.name} (begun in line ${outer.line})${where}`,
    );
  }

  #begin(line: number, name: string): void {
    const isCalendar = name === 'VCALENDAR';
    if (isCalendar) this.#abandon(0);
    else if (OUTERMOST.has(name)) this.#abandon(this.#open[0]?.name === 'VCALENDAR' ? 1 : 0);
    const parent = this.#open.at(-1);
    const block: Block = { name, line, lines: [], blocks: [], state: 'whole' };
    if (isCalendar) this.calendars.push(block);
    else if (parent === undefined) this.#faults.add(line, `${name} begins outside of a VCALENDAR`);
    else parent.blocks.push(block);
    this.#open.push(block);
  }

  #close(line: number, name: string): void {
    const depth = this.#open.findLastIndex((block) => block.name === name);
    if (depth === -1) {
      this.breakOpen(line, `END:${name} has no BEGIN:${name}`);
      return;
    }
    this.#abandon(depth + 1);
    this.#open.pop();
  }

  // Closes what is open from that depth on, as if it had ended, and tells that it has not.
  #abandon(depth: number): void {
    const unended = this.#open.slice(depth);
    if (unended.length === 0) return;
    this.#mark('cut');
    for (const { line, name } of unended) this.#faults.add(line, `BEGIN:${name} has no END:${name}`);
    this.#open.length = depth;
  }
}

function valueIn(text: string): string {
  return text
    .slice(text.indexOf(':') + 1)
    .trim()
    .toUpperCase();
}
