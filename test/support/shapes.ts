// Bodies without what differs from one run to the next: IDs and times.
import type { Json } from './json.ts';

const CHANGING = /"(?:req_[^"]+|[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[^"]+)"/g;
const MILLISECONDS = /\d{13}/g;

/** A body as text, with each ID and time replaced. */
export function shapeOf(body: Json): string {
  return JSON.stringify(body ?? null)
    .replaceAll(CHANGING, '"…"')
    .replaceAll(MILLISECONDS, '0');
}
