// Requests with an Idempotency-Key.
import type { Harness, Reply, RequestInput } from './harness.ts';

let count = 0;

/** A text that no test has used yet, as a key or a telephone number to count by. */
export function unique(): string {
  count += 1;
  return `key-${count}`;
}

export interface Keyed {
  /** Sends a request with that key to a path below /api/v2. */
  keyed(method: string, path: string, key: string, input?: RequestInput): Promise<Reply>;
  /** How many contacts have that telephone number. */
  totalOf(phone: string): Promise<number>;
}

/** Ways to send keyed requests, and to count what they made. */
export function keyedOf({ send }: Harness): Keyed {
  return {
    keyed: (method, path, key, input = {}) =>
      send(method, `/api/v2${path}`, { ...input, headers: { 'Idempotency-Key': key, ...input.headers } }),
    totalOf: async (phone) =>
      (await send('GET', `/api/v2/contacts?limit=200&phone=${phone}`)).body.data.length,
  };
}
