// `--allow-ip`: the networks that may use a key, as typed, stored and shown.

import type { ApiKeyRow } from '../../db/engine/schema.ts';
import { hasHostBits, networkText, parseNetwork } from '../../db/networks.ts';
import { usageError } from '../errors.ts';

const NETWORKS_MAX = 100;

/**
 * The networks of a repeated option, each with one or more separated by commas, as stored.
 * @throws CliError with the usage code if one is not valid
 */
export function allowedNetworks(given: readonly string[]): string[] {
  const networks = new Set(given.flatMap((text) => text.split(',')).map((text) => networkOf(text.trim())));
  if (networks.size <= NETWORKS_MAX) return [...networks];
  throw usageError(
    `A key cannot have ${networks.size} networks.`,
    `use at most ${NETWORKS_MAX}; combine several into a wider network, like 10.0.0.0/8.`,
  );
}

function networkOf(text: string): string {
  const network = parseNetwork(text);
  if (network === undefined) {
    throw usageError(
      `--allow-ip "${text}" is not a valid network.`,
      'use a network like 203.0.113.0/24 or 2001:db8::/32, or a single client IP.',
    );
  }
  const whole = networkText(network);
  if (!hasHostBits(network)) return whole;
  const one = text.replace(/\/.*$/, '');
  throw usageError(
    `--allow-ip ${text} is ambiguous: a single client IP, or its network.`,
    `use ${whole} for the network, or ${one} for the single client IP.`,
  );
}

/** The networks that may use a key; null for any client IP. */
export function networksIn({ networks }: Pick<ApiKeyRow, 'networks'>): string[] | null {
  return networks?.split(',') ?? null;
}

/** The networks that may use a key, in words. */
export function usableFrom(networks: readonly string[] | null): string {
  return networks === null ? 'anywhere' : networks.join(', ');
}
