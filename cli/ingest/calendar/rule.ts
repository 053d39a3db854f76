// Recurrence rules: checked, then expanded by ical.js on the wall's clock, within bounds that no rule can escape.
import ICAL from 'ical.js';
import { messageOf } from '../../errors.ts';
import { DAY_MS } from '../../input/instant.ts';
import { formatCount } from '../../terminal/format.ts';
import type { ContentLine } from './blocks.ts';
import type { Moment } from './values.ts';
import { timeOf } from './zones.ts';

export interface Rule {
  line: number;
  recur: ICAL.Recur;
}

const STEPS_MAX = 200_000;
const INTERVAL_MAX = 100_000;
const PART = /^[A-Za-z-]+=[^=]+$/;

/** Reads the RRULE of an event that starts then; throws an Error that says what is wrong with it. */
export function readRule(content: ContentLine, start: Moment): Rule {
  const text = content.text.slice(content.text.indexOf(':') + 1).trim();
  const parts = new Map<string, string>();
  for (const part of text.split(';').filter((one) => one !== '')) {
    if (!PART.test(part)) throw new Error(`RRULE has an unreadable part: ${JSON.stringify(part)}`);
    const [name = '', value = ''] = part.split('=');
    parts.set(name.toUpperCase(), value);
  }
  if (!parts.has('FREQ')) throw new Error('RRULE has no FREQ');
  assertCount('COUNT', parts.get('COUNT'), Number.MAX_SAFE_INTEGER);
  assertCount('INTERVAL', parts.get('INTERVAL'), INTERVAL_MAX);
  try {
    const recur = ICAL.Recur.fromString(
      [...parts].map(([name, value]) => `${name}=${value.toUpperCase()}`).join(';'),
    );
    // The iterator's constructor refuses parts that do not go together.
    recur.iterator(timeOf(start.wall));
    return { line: content.line, recur: withWallUntil(recur, start) };
  } catch (error) {
    throw new Error(`RRULE cannot be read: ${messageOf(error)}`);
  }
}

function assertCount(name: string, text: string | undefined, max: number): void {
  if (text === undefined) return;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new Error(`RRULE's ${name} must be a whole number from 1 to ${max}`);
}

// UNTIL is told in UTC or as a day, and compared on the clock that the rule runs on; a day counts to its end.
function withWallUntil(recur: ICAL.Recur, start: Moment): ICAL.Recur {
  const { until } = recur;
  if (!until) return recur;
  const told = Date.UTC(until.year, until.month - 1, until.day, until.hour, until.minute, until.second);
  if (Number.isNaN(told)) throw new Error('UNTIL is no date or time');
  const isUtc = until.zone === ICAL.Timezone.utcTimezone && !until.isDate;
  const wall = isUtc ? start.zone.toWall(told) : told;
  const isDay = until.isDate || start.kind === 'date';
  recur.until = timeOf(isDay ? Math.floor(wall / DAY_MS) * DAY_MS + DAY_MS - 1_000 : wall);
  return recur;
}

/** Thrown where a rule needs more steps than any calendar of meetings. */
export class EndlessRuleError extends Error {
  constructor() {
    super(`RRULE takes more than ${formatCount(STEPS_MAX)} steps; is it meant to recur so often?`);
    this.name = 'EndlessRuleError';
  }
}

// The rule is asked at every step whether a time passes its BY parts: the one place where a search that finds nothing
// can be ended.
class BoundedIterator extends ICAL.RecurIterator {
  readonly #lastYear: number;
  #steps = 0;

  constructor(rule: Rule, start: Moment, lastWall: number) {
    super({ rule: rule.recur, dtstart: timeOf(start.wall) });
    this.#lastYear = new Date(lastWall).getUTCFullYear();
  }

  override check_contracting_rules(): boolean {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX) throw new EndlessRuleError();
    return this.last.year > this.#lastYear || super.check_contracting_rules();
  }
}

/**
 * The wall times that a rule gives from its start on, in order, as far as `lastWall`; `isWhole` tells that there are
 * no more.
 * @throws EndlessRuleError
 */
export function expandRule(
  rule: Rule,
  start: Moment,
  lastWall: number,
): { walls: number[]; isWhole: boolean } {
  const walls: number[] = [];
  const iterator = new BoundedIterator(rule, start, lastWall);
  for (let time = iterator.next(); time; time = iterator.next()) {
    const wall = Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second);
    if (wall > lastWall) return { walls, isWhole: false };
    walls.push(wall);
  }
  return { walls, isWhole: true };
}
