// Instants: from text whose grammar is checked to Unix milliseconds, for what the server and the command line take.

/** Unix milliseconds of a date, time and offset in ISO 8601; undefined if no calendar or clock has it. */
export function instantMs(text: string): number | undefined {
  try {
    // Temporal reads nine digits of a fraction; RFC 3339 sets no end to them.
    return Temporal.Instant.from(text.replace(/(\.\d{9})\d+/, '$1')).epochMilliseconds;
  } catch {
    return undefined;
  }
}
