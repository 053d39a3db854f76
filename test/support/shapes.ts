// Bodies without what differs from one run to the next: IDs, times, cursors and secrets.
import type { Json } from './json.ts';

const CHANGING = /"(?:req_[^"]+|[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[^"]+|whsec_[^"]+)"/g;
// Some cursors are encrypted, each time in another way.
const CURSOR = /"end_cursor":"[^"]+"/g;
const MILLISECONDS = /\d{13}/g;

/** A body as text, with each ID, time, cursor and secret of a webhook replaced. */
export function shapeOf(body: Json): string {
  return JSON.stringify(body ?? null)
    .replaceAll(CHANGING, '"…"')
    .replaceAll(CURSOR, '"end_cursor":"…"')
    .replaceAll(MILLISECONDS, '0');
}
