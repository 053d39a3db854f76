// Who a request comes from: the other end of its connection, or whom the proxies in front of the server name.
import { BlockList, isIP } from 'node:net';

/** A network whose X-Forwarded-For is believed. */
export interface Network {
  address: string;
  /** Leading bits that an address has in common with it. */
  prefix: number;
}

/** This machine: whose word counts unless the operator names other networks. */
export const LOOPBACK: readonly Network[] = [
  { address: '127.0.0.0', prefix: 8 },
  { address: '::1', prefix: 128 },
];

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address; undefined if the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const prefix = bits === undefined ? bitsMax : Number(bits);
  return prefix >= 0 && prefix <= bitsMax ? { address, prefix } : undefined;
}

/** Tells of an address whether it lies in one of the networks; IPv4 written as IPv6 counts as IPv4. */
export function membership(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, familyOf(address));
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
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
