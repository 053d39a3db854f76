// The form of the service's ids, by which what cannot be one is known without asking.
const OUR_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a text has the form of this service's ids, UUIDv7. */
export function isOurId(text: string): boolean {
  return OUR_ID.test(text.trim());
}
