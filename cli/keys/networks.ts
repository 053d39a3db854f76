// `--allow-ip`: the networks that a key may be used from, as they are typed, stored and told.

import type { ApiKeyRow } from '../../db/engine/schema.ts';
import { hasHostBits, networkText, parseNetwork } from '../../db/networks.ts';
import { usageError } from '../errors.ts';

const NETWORKS_MAX = 100;

/**
 * The networks of a repeated option, each of which may have several with commas between, as they are stored.
 * @throws CliError with the usage code if one cannot be meant
 */
export function allowedNetworks(given: readonly string[]): string[] {
  const networks = new Set(given.flatMap((text) => text.split(',')).map((text) => networkOf(text.trim())));
  if (networks.size <= NETWORKS_MAX) return [...networks];
  throw usageError(
    `${networks.size} networks are too many for a key.`,
    `give ${NETWORKS_MAX} at most; a wider one may hold several: 10.0.0.0/8.`,
  );
}

function networkOf(text: string): string {
  const network = parseNetwork(text);
  if (network === undefined) {
    throw usageError(
      `--allow-ip "${text}" is no network.`,
      'give a network like 203.0.113.0/24 or 2001:db8::/32, or an address alone.',
    );
  }
  const whole = networkText(network);
  if (!hasHostBits(network)) return whole;
  const one = text.replace(/\/.*$/, '');
  throw usageError(
    `--allow-ip ${text} may mean one address or its network.`,
    `give ${whole} for the network, or ${one} for the address alone.`,
  );
}

/** The networks that a key may be used from; null for from anywhere. */
export function networksIn({ networks }: Pick<ApiKeyRow, 'networks'>): string[] | null {
  return networks?.split(',') ?? null;
}

/** From where a key may be used, in words. */
export function usableFrom(networks: readonly string[] | null): string {
  return networks === null ? 'anywhere' : networks.join(', ');
}
