// Instants: from text whose grammar is checked to Unix milliseconds and back, for what the server and the command line take.

/** Unix milliseconds of a date, time and offset in ISO 8601; undefined if no calendar or clock has it. */
export function instantMs(text: string): number | undefined {
  try {
    // Temporal reads nine digits of a fraction; RFC 3339 sets no end to them.
    return Temporal.Instant.from(text.replace(/(\.\d{9})\d+/, '$1')).epochMilliseconds;
  } catch {
    return undefined;
  }
}

const MILLISECONDS = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);
const MS_AND_ZONE_CHARACTERS = 4;

// One answer tells many instants of one second, and a record that was never changed the same one twice.
const last = { ms: Number.NaN, text: '', second: Number.NaN, start: '' };

/**
 * The text of an instant as responses have it: RFC 3339, UTC, with milliseconds.
 * @param ms whole Unix milliseconds
 */
export function instantText(ms: number): string {
  if (ms === last.ms) return last.text;
  const second = Math.floor(ms / 1_000);
  if (second === last.second) {
    if (last.start === '') last.start = last.text.slice(0, -MS_AND_ZONE_CHARACTERS);
    last.text = last.start + MILLISECONDS[ms - second * 1_000];
  } else {
    last.text = new Date(ms).toISOString();
    last.start = '';
    last.second = second;
  }
  last.ms = ms;
  return last.text;
}
