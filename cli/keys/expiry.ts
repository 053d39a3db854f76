// Decides when a key expires: by --expires, by the v1 key that it follows, or by the default of its organization.
import type { ApiKeyRow, OrganizationRow } from '../../db/engine/schema.ts';
import { isoTime } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { DAY_MS, isoMilliseconds } from '../input/instant.ts';
import { durationMs, durationText } from '../settings/options.ts';

const NEVER = /^(?:never|none)$/;

export interface Expiry {
  /** Unix milliseconds; null for never. */
  at: number | null;
  /** What to tell the operator about the choice. */
  told: string[];
}

/** When a key expires. */
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
      told: isUnlike
        ? [`The key never expires, although keys of ${name} last ${durationText(lifetime)} by default.`]
        : [],
    };
  }
  if (source?.expires_at != null && source.expires_at > now)
    return {
      at: source.expires_at,
      told: [`The key expires with the v1 key, on ${isoTime(source.expires_at)}.`],
    };
  if (lifetime === null) return { at: null, told: [] };
  const at = now + lifetime;
  const why = `Keys of ${name} last ${durationText(lifetime)} by default`;
  return { at, told: [`${why}: this one expires on ${isoTime(at)}. To change this, use --expires.`] };
}

/**
 * The expiry that --expires gives; null for never.
 * @throws CliError with the usage code if it is not valid
 */
export function parseExpiry(text: string, now: number): number | null {
  if (NEVER.test(text)) return null;
  const duration = durationMs(text);
  const at = duration === undefined ? isoMilliseconds(text) : now + duration;
  if (at === undefined)
    throw usageError(
      `"${text}" is not a valid expiry.`,
      'use a format like 12h, 90d or 2027-01-31, or never.',
    );
  if (at <= now) throw usageError(`${text} is in the past.`, 'use a time in the future, like 90d.');
  return at;
}

/**
 * How long the keys of an organization last, given as `--key-expiry`, in milliseconds; null for forever.
 * @throws CliError with the usage code if it is not valid
 */
export function parseLifetime(text: string): number | null {
  if (NEVER.test(text)) return null;
  const lifetime = durationMs(text);
  if (lifetime !== undefined && lifetime > 0) return lifetime;
  throw usageError(`"${text}" is not a valid lifetime.`, 'use a format like 12h, 90d or 52w, or none.');
}

/**
 * How long a replaced secret keeps working, given as `--grace`, in milliseconds.
 * @throws CliError with the usage code if it is not valid
 */
export function parseGrace(text: string, daysMax: number): number {
  const graceMs = durationMs(text);
  if (graceMs !== undefined && graceMs <= daysMax * DAY_MS) return graceMs;
  throw usageError(
    `"${text}" is not a valid grace period.`,
    `use 0, or up to ${daysMax} days, like 30m, 24h or 7d.`,
  );
}
