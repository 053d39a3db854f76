// The whole interface: every operation of both versions.
import type { Operation } from './operation.ts';
import { v1Operations } from './v1/routes.ts';
import { v2Operations } from './v2/routes.ts';
import { TranscriptLinks } from './v2/transcript-links.ts';

/** Every operation of the service; `signingSecret` signs the links that some of them give and take back. */
export function allOperations(signingSecret: string): Operation[] {
  return [...v2Operations(new TranscriptLinks(signingSecret)), ...v1Operations()];
}

/** The same operations to be described, not served: nothing that they would sign holds anywhere. */
export function describedOperations(): Operation[] {
  return allOperations('');
}
