// `Dry-Run: true` on a write of version 2: it is carried out and undone, and answered as it would have been.

import { invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { Exchange } from './exchange.ts';
import { KEY_HEADER } from './replay.ts';

export const DRY_RUN_HEADER = 'Dry-Run';
const ON = 'true';

/** Whether an operation heeds Dry-Run: every v2 write. */
export function takesDryRun({ api, isWrite }: Operation): boolean {
  return api === 'v2' && isWrite;
}

/** The value of the header as sent; null if there is none, or the operation ignores it. */
export function dryRunHeader(operation: Operation, request: Request): string | null {
  return takesDryRun(operation) ? request.headers.get(DRY_RUN_HEADER) : null;
}

/**
 * Begins a dry run, which every response from here on says, if the header asks for one.
 * @throws ApiError 422 for another value, or together with an idempotency key, because nothing is stored
 */
export function startDryRun(exchange: Exchange, header: string | null): boolean {
  if (header === null) return false;
  if (header !== ON) throw invalid(DRY_RUN_HEADER, `must be ${ON}, or not sent`);
  exchange.isDryRun = true;
  exchange.headers[DRY_RUN_HEADER] = ON;
  if (!exchange.request.headers.has(KEY_HEADER)) return true;
  throw invalid(DRY_RUN_HEADER, `cannot be combined with ${KEY_HEADER}: a dry run stores nothing`);
}
