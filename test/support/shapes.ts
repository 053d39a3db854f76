// Bodies without what differs from one run to the next: IDs, times and secrets.
import type { Json } from './json.ts';

const CHANGING = /"(?:req_[^"]+|[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[^"]+|whsec_[^"]+)"/g;
const MILLISECONDS = /\d{13}/g;

/** A body as text, with each ID, time and secret of a webhook replaced. */
export function shapeOf(body: Json): string {
  return JSON.stringify(body ?? null)
    .replaceAll(CHANGING, '"…"')
    .replaceAll(MILLISECONDS, '0');
}
