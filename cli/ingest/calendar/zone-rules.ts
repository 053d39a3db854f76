// Zones that a calendar defines itself: the clock changes from the rules of a VTIMEZONE.
import { messageOf } from '../../errors.ts';
import { DAY_MS } from '../../input/instant.ts';
import { quoted } from '../entries.ts';
import { type Block, type ContentLine, textOf } from './blocks.ts';
import type { FileBudget } from './limits.ts';
import { parseProperty } from './property.ts';
import { readRule } from './rule.ts';
import { expandRule } from './rule-times.ts';
import { lastUntil, type Moment, momentsOf, type TimeContext } from './values.ts';
import { findZone, fixedZone, type Zone } from './zones.ts';

/** The offset from UTC (milliseconds) from an instant on (Unix milliseconds). */
interface ClockChange {
  instant: number;
  offsetMs: number;
}

// The last year for which rules are expanded; afterwards the offset does not change.
const LAST_WALL = Date.parse('2100-01-01T00:00:00Z');

function ruledZone(block: Block, budget: FileBudget): Zone {
  if (block.state !== 'whole') throw new Error('is damaged');
  const observances = block.blocks.filter(({ name }) => name === 'STANDARD' || name === 'DAYLIGHT');
  const changes = observances.flatMap((one) => changesOf(one, budget)).sort((a, b) => a.instant - b.instant);
  const [first] = observances;
  if (first === undefined) throw new Error('has no rules');
  const earliestMs = offsetOf(first, 'TZOFFSETFROM');
  const offsetAt = (instant: number): number =>
    lastUntil(changes, instant, (change) => change.instant)?.offsetMs ?? earliestMs;
  return {
    name: null,
    toWall: (instant) => instant + offsetAt(instant),
    // A time that occurs twice means the first one; a skipped time uses the offset from before the change.
    toInstant: (wall) => {
      const before = wall - offsetAt(wall - DAY_MS);
      const after = wall - offsetAt(wall + DAY_MS);
      return after + offsetAt(after) === wall && before + offsetAt(before) !== wall ? after : before;
    },
  };
}

function changesOf(observance: Block, budget: FileBudget): ClockChange[] {
  const fromMs = offsetOf(observance, 'TZOFFSETFROM');
  const offsetMs = offsetOf(observance, 'TZOFFSETTO');
  // Its times are on the clock from before the change.
  const zone = fixedZone(fromMs);
  const context = { zones: { get: () => zone }, defaultZone: zone };
  const [start] = momentsIn(observance, 'DTSTART', context);
  if (start === undefined) throw new Error('has a part without DTSTART');
  const instants = [start, ...momentsIn(observance, 'RDATE', context)].map(({ instant }) => instant);
  for (const line of observance.lines.filter(({ name }) => name === 'RRULE')) {
    instants.push(...wallsOf(line, start, budget).map((wall) => wall - fromMs));
  }
  return instants.map((instant) => ({ instant, offsetMs }));
}

function momentsIn({ lines }: Block, name: string, context: TimeContext): Moment[] {
  const named = lines.filter((line) => line.name === name);
  return named.flatMap((line) => momentsOf(name, parseProperty(line), context));
}

function wallsOf(line: ContentLine, start: Moment, budget: FileBudget): number[] {
  try {
    return expandRule(readRule(line, start), start.wall, LAST_WALL, budget).walls;
  } catch {
    throw new Error(`has an invalid rule in line ${line.line}`);
  }
}

function offsetOf(observance: Block, name: string): number {
  const match = /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(textOf(observance, name) ?? '');
  if (match === null) throw new Error(`has a ${observance.name} without a valid ${name}`);
  const [, sign, hours, minutes, seconds = '0'] = match;
  const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -size : size;
}

/** The zones of a calendar's TZIDs: known ones by name, others by the calendar's own rules. */
export class ZoneTable {
  readonly #definitions = new Map<string, Block>();
  readonly #zones = new Map<string, Zone | Error>();
  readonly #budget: FileBudget;

  constructor(calendar: Block, budget: FileBudget) {
    this.#budget = budget;
    for (const block of calendar.blocks) {
      const tzid = block.name === 'VTIMEZONE' ? textOf(block, 'TZID') : undefined;
      if (tzid !== undefined) this.#definitions.set(tzid, block);
    }
  }

  /** The zone of a TZID; throws an Error that says why it is unknown. */
  get(tzid: string): Zone {
    const zone = this.#zones.getOrInsertComputed(tzid, () => this.#resolve(tzid));
    if (zone instanceof Error) throw zone;
    return zone;
  }

  #resolve(tzid: string): Zone | Error {
    const block = this.#definitions.get(tzid);
    const location = block === undefined ? undefined : textOf(block, 'X-LIC-LOCATION');
    const known = findZone(tzid) ?? (location === undefined ? undefined : findZone(location));
    if (known !== undefined) return known;
    const named = `uses the time zone ${quoted(tzid)}`;
    if (block === undefined) return new Error(`${named}, which is unknown and not defined in the file`);
    try {
      return ruledZone(block, this.#budget);
    } catch (error) {
      return new Error(`${named}, whose VTIMEZONE in line ${block.line} ${messageOf(error)}`);
    }
  }
}
