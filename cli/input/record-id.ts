// The format of the service's IDs, to reject other text without a request.
const OUR_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a text has the format of this service's IDs, UUIDv7. */
export function isOurId(text: string): boolean {
  return OUR_ID.test(text.trim());
}
