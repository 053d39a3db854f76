// The flags of `crm listen` that are values of a webhook: where to send, what, and the secret that signs.
import { EVERY_EVENT, eventFaults } from '../../server/webhooks/events.ts';
import { newWebhookSecret } from '../../server/webhooks/signature.ts';
import { readTarget } from '../../server/webhooks/target-url.ts';
import { usageError } from '../errors.ts';

// Of the Standard Webhooks specification.
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

/** The address of a receiver; `localhost:3000/hooks` is enough. */
export function forwardUrl(text: string): string {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (readTarget(url) !== null) return url;
  throw usageError(`--forward "${text}" is not an address.`, 'use one like http://localhost:3000/hooks.');
}

/** The events of `--events`, each time several with commas; all if it is not given. */
export function chosenEvents(given: readonly string[] | undefined): string[] {
  if (given === undefined) return [EVERY_EVENT];
  const events = [...new Set(given.flatMap((list) => list.split(',')).map((event) => event.trim()))];
  const [fault] = eventFaults(events);
  if (fault === undefined) return events;
  const wrong = events[Number(fault.path.split('.')[1])];
  throw usageError(
    `--events "${wrong}" ${fault.message}.`,
    "use events like these: --events 'deals.*,contacts.created'",
  );
}

/** The secret of `--secret`, or a new one. */
export function signingSecret(given: string | undefined): string {
  if (given === undefined) return newWebhookSecret();
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(given) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  if (length >= SECRET_BYTES_MIN && length <= SECRET_BYTES_MAX) return given;
  throw usageError(
    `--secret is not the secret of a webhook: whsec_ and ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes in base64.`,
    'leave it out, and "crm listen" makes one.',
  );
}
