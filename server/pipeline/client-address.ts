// Who a request comes from: the other end of its connection, or whom the proxies in front of the server name.
import { BlockList, isIP } from 'node:net';
import type { Network } from '../../db/networks.ts';

/** This machine: whose word counts unless the operator names other networks. */
export const LOOPBACK: readonly Network[] = [
  { address: '127.0.0.0', prefix: 8 },
  { address: '::1', prefix: 128 },
];

/** Tells of an address whether it lies in one of the networks; IPv4 written as IPv6 counts as IPv4. */
export function membership(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, familyOf(address));
  return (address) => {
    // A link-local one is seen with the interface that it came by: fe80::1%eth0.
    const [bare = ''] = address.split('%');
    return isIP(bare) !== 0 && list.check(bare, familyOf(bare));
  };
}

/**
 * The client's address. Each proxy appends the address it sees, so the list is read from its end, for as long as the
 * one who speaks is trusted; whatever stands before came from the client.
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
