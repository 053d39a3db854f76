// Ids of requests, cut from text that is random: as many bytes as crm's ids have.
import { randomBytes } from 'node:crypto';

const LENGTH = 20;
const POOL_BYTES = 15 * 1_024;

let pool = '';
let used = 0;

/** A new id of 120 random bits. */
export function requestId(): string {
  if (used >= pool.length) {
    pool = randomBytes(POOL_BYTES).toString('base64url');
    used = 0;
  }
  const id = `req_${pool.slice(used, used + LENGTH)}`;
  used += LENGTH;
  return id;
}
