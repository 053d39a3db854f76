// Instants: converts checked text to Unix milliseconds and back, for the server and the command line.

/** Unix milliseconds of a date, time and offset in ISO 8601; undefined if the date or time does not exist. */
export function instantMs(text: string): number | undefined {
  try {
    // Temporal reads nine digits of a fraction; RFC 3339 has no limit.
    return Temporal.Instant.from(text.replace(/(\.\d{9})\d+/, '$1')).epochMilliseconds;
  } catch {
    return undefined;
  }
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Unix milliseconds of an instant in RFC 3339; undefined if it is none. */
export function rfc3339Ms(text: string): number | undefined {
  return RFC_3339.test(text) ? instantMs(text) : undefined;
}

const MILLISECONDS = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);
const MS_AND_ZONE_CHARACTERS = 4;

// The instants in responses are in few different seconds: now, and those in which the records were written.
const SECONDS_KEPT = 64;
const kept = Array.from({ length: SECONDS_KEPT }, () => ({ second: Number.NaN, text: '' }));
// Often the instant repeats: a record that was never changed has it twice, and the records of a batch share it.
let lastMs = Number.NaN;
let lastText = '';

/**
 * The text of an instant in responses: RFC 3339, UTC, with milliseconds.
 * @param ms whole Unix milliseconds
 */
export function instantText(ms: number): string {
  if (ms === lastMs) return lastText;
  const second = Math.floor(ms / 1_000);
  lastText = secondText(second) + MILLISECONDS[ms - second * 1_000];
  lastMs = ms;
  return lastText;
}

function secondText(second: number): string {
  const known = kept[second & (SECONDS_KEPT - 1)];
  if (known?.second === second) return known.text;
  const text = new Date(second * 1_000).toISOString().slice(0, -MS_AND_ZONE_CHARACTERS);
  if (known !== undefined) Object.assign(known, { second, text });
  return text;
}
