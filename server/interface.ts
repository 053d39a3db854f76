// The whole API: every operation of both versions.
import type { Counters } from '../db/counters/counters.ts';
import { MemoryCounters } from '../db/counters/memory-counters.ts';
import type { Network } from '../db/networks.ts';
import type { Operation } from './operation.ts';
import { MinuteLimit } from './pipeline/minute-limit.ts';
import { KEY_LIMIT, ORG_LIMIT, type RequestLimits } from './pipeline/rate-limit.ts';
import { Signing } from './signing/signing.ts';
import { v1Operations } from './v1/routes.ts';
import { v2Operations } from './v2/routes.ts';
import { DOWNLOADS_PER_MINUTE, TranscriptLinks } from './v2/transcript-links.ts';

export interface InterfaceOptions {
  /** Of keys and organizations that have none of their own. */
  limits?: RequestLimits;
  /** Where webhooks can be sent besides public addresses. */
  webhookNetworks?: readonly Network[] | undefined;
}

const LIMITS: RequestLimits = { keyLimit: KEY_LIMIT, orgLimit: ORG_LIMIT };

/**
 * Every operation of the service.
 * @param signing signs the links of some operations, whose uses `counters` counts
 */
export function allOperations(
  signing: Signing,
  counters: Counters,
  { limits = LIMITS, webhookNetworks = [] }: InterfaceOptions = {},
): Operation[] {
  const downloads = new MinuteLimit(counters, 'downloads', DOWNLOADS_PER_MINUTE);
  const links = new TranscriptLinks(signing, downloads);
  return [...v2Operations(links, limits, webhookNetworks), ...v1Operations()];
}

/** The same operations for the description only: signatures made with them are not valid anywhere. */
export function describedOperations(): Operation[] {
  return allOperations(new Signing(() => []), new MemoryCounters(Date.now));
}
