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

// The instants that answers tell are of few seconds: now, and those in which what they show was written.
const SECONDS_KEPT = 64;
const kept = Array.from({ length: SECONDS_KEPT }, () => ({ second: Number.NaN, text: '' }));
// And often of one: a record that was never changed tells it twice, as do those of one batch.
let lastMs = Number.NaN;
let lastText = '';

/**
 * The text of an instant as responses have it: RFC 3339, UTC, with milliseconds.
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
