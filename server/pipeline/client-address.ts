// The client IP of a request: the peer of its connection, or the client that trusted proxies name.
import { BlockList, isIP } from 'node:net';
import type { Network } from '../../db/networks.ts';

/** This machine, which is trusted unless the operator names other networks. */
export const LOOPBACK: readonly Network[] = [
  { address: '127.0.0.0', prefix: 8 },
  { address: '::1', prefix: 128 },
];

/** Returns a function that tells whether an IP address is in one of the networks; mapped IPv6 counts as IPv4. */
export function networkMatcher(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, familyOf(address));
  return (address) => {
    // Link-local addresses include their interface: fe80::1%eth0.
    const [bare = ''] = address.split('%');
    return isIP(bare) !== 0 && list.check(bare, familyOf(bare));
  };
}

/**
 * The client IP. Each proxy appends the address it sees, so the list is read from its end while the previous address is
 * trusted; everything before that was sent by the client.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | null,
  isTrusted: (address: string) => boolean,
): string {
  const named = forwardedFor?.split(',') ?? [];
  let client = peer;
  while (isTrusted(client)) {
    const address = bareAddress(named.pop() ?? '');
    if (address === undefined) break;
    client = address;
  }
  return client;
}

// Some proxies add the port: 192.0.2.1:4711, [2001:db8::1]:4711.
function bareAddress(text: string): string | undefined {
  const [, bracketed, withPort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text.trim()) ?? [];
  const address = bracketed ?? withPort ?? text.trim();
  return isIP(address) === 0 ? undefined : address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
