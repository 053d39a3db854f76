// Times as assistants write them: RFC 3339, days or Unix milliseconds; what must be seconds is refused.
import { instantText } from '../../db/model/instants.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { ToolError } from './failures.ts';

// As milliseconds, 3 March 1973; as seconds, the year 5138.
const MILLISECONDS_MIN = 100_000_000_000;

/** The milliseconds of a time or a day; what is neither is left to the server, but seconds are refused. */
export function instantOf(value: JsonValue, path: string): JsonValue {
  if (typeof value === 'string') return isoMilliseconds(value) ?? value;
  if (typeof value !== 'number' || value >= MILLISECONDS_MIN || !Number.isInteger(value)) return value;
  const meant = value > 0 ? `; if these are seconds, send "${instantText(value * 1_000)}"` : '';
  const message = `${path}: ${value} is too small for Unix milliseconds${meant}`;
  throw new ToolError('VALIDATION_OUT_OF_RANGE', message, { steps: ['Send times as RFC 3339.'] });
}
