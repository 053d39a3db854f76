// When a key ends: as it is said, as the v1 key that it follows does, or as the keys of its organization do.
import type { ApiKeyRow, OrganizationRow } from '../../db/engine/schema.ts';
import { isoTime } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { durationMs, durationText } from '../settings/options.ts';

const NEVER = /^(?:never|none)$/;

export interface Expiry {
  /** Unix milliseconds; null for never. */
  at: number | null;
  /** What the operator should know of how it came about. */
  told: string[];
}

/** When a key ends. */
export function expiryOf(
  given: string | undefined,
  org: OrganizationRow,
  source: ApiKeyRow | null,
  now: number,
): Expiry {
  const { key_lifetime: lifetime, name } = org;
  if (given !== undefined) {
    const at = parseExpiry(given, now);
    const isUnlike = at === null && lifetime !== null;
    return {
      at,
      told: isUnlike ? [`It never expires; other keys of ${name} last ${durationText(lifetime)}.`] : [],
    };
  }
  if (source?.expires_at != null && source.expires_at > now)
    return { at: source.expires_at, told: [`It expires with the v1 key, on ${isoTime(source.expires_at)}.`] };
  if (lifetime === null) return { at: null, told: [] };
  const at = now + lifetime;
  const why = `Keys of ${name} last ${durationText(lifetime)} unless --expires says otherwise`;
  return { at, told: [`${why}: it expires on ${isoTime(at)}.`] };
}

/**
 * When a key ends that is given as `--expires`; null for never.
 * @throws CliError with the usage code if it cannot be meant
 */
export function parseExpiry(text: string, now: number): number | null {
  if (NEVER.test(text)) return null;
  const duration = durationMs(text);
  const at = duration === undefined ? isoMilliseconds(text) : now + duration;
  if (at === undefined)
    throw usageError(`"${text}" is no expiry.`, 'give one like 12h, 90d or 2027-01-31, or never.');
  if (at <= now) throw usageError(`${text} is past.`, 'give a time to come, like 90d.');
  return at;
}

/**
 * How long the keys of an organization last, given as `--key-expiry`, in milliseconds; null for without an end.
 * @throws CliError with the usage code if it cannot be meant
 */
export function parseLifetime(text: string): number | null {
  if (NEVER.test(text)) return null;
  const lifetime = durationMs(text);
  if (lifetime !== undefined && lifetime > 0) return lifetime;
  throw usageError(`"${text}" is no time that keys can last.`, 'give one like 12h, 90d or 52w, or none.');
}
