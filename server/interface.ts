// The whole API: every operation of both versions.
import type { Counters } from '../db/counters/counters.ts';
import { MemoryCounters } from '../db/counters/memory-counters.ts';
import type { Network } from '../db/networks.ts';
import type { Operation } from './operation.ts';
import { MinuteLimit } from './pipeline/minute-limit.ts';
import { KEY_LIMIT } from './pipeline/rate-limit.ts';
import { Signing } from './signing/signing.ts';
import { v1Operations } from './v1/routes.ts';
import { v2Operations } from './v2/routes.ts';
import { DOWNLOADS_PER_MINUTE, TranscriptLinks } from './v2/transcript-links.ts';

export interface InterfaceOptions {
  /** What a key may send in a minute. */
  requestsPerMinute?: number;
  /** Where webhooks can be sent besides public addresses. */
  webhookNetworks?: readonly Network[] | undefined;
}

/**
 * Every operation of the service.
 * @param signing signs the links of some operations, whose uses `counters` counts
 */
export function allOperations(
  signing: Signing,
  counters: Counters,
  { requestsPerMinute = KEY_LIMIT, webhookNetworks = [] }: InterfaceOptions = {},
): Operation[] {
  const downloads = new MinuteLimit(counters, 'downloads', DOWNLOADS_PER_MINUTE);
  const links = new TranscriptLinks(signing, downloads);
  return [...v2Operations(links, requestsPerMinute, webhookNetworks), ...v1Operations()];
}

/** The same operations for the description only: signatures made with them are not valid anywhere. */
export function describedOperations(): Operation[] {
  return allOperations(new Signing(() => []), new MemoryCounters(Date.now));
}
