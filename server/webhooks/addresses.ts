// Which IP addresses webhooks can be sent to: public ones, and those in networks that the operator allows.
import { isIP } from 'node:net';
import { addressText, lastBitsAsIpv4, type Network, networkText, parseNetwork } from '../../db/networks.ts';
import { networkMatcher } from '../pipeline/client-address.ts';

/** `allowed` is in a network that the operator named, `closed` neither that nor public. */
export type AddressKind = 'public' | 'allowed' | 'closed';

/** Tells what kind an IP address is. Text that is not an IP address is closed. */
export type AddressJudge = (address: string) => AddressKind;

// What is not for the public in IANA's registry of special-purpose addresses, and in use on no public server.
const CLOSED_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carriers' NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16', // services of Azure for the machines on it
  '169.254.0.0/16', // link-local, with the metadata of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];
// Everything else in IPv6 is closed: loopback, link-local, unique local, site-local, multicast, IPv4-compatible, reserved.
const GLOBAL_IPV6 = ['2000::/3'];
const CLOSED_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
];
// DNS64 gives these for a name that has IPv4 addresses only.
const TRANSLATED = ['64:ff9b::/96'];

// IPv4 and IPv6 each have their own: to a list of both, an IPv4 address is also its mapped IPv6 address.
const isClosedIpv4 = matcher(CLOSED_IPV4);
const isGlobalIpv6 = matcher(GLOBAL_IPV6);
const isClosedIpv6 = matcher(CLOSED_IPV6);
const isTranslated = matcher(TRANSLATED);

function matcher(networks: readonly string[]): (address: string) => boolean {
  return networkMatcher(networks.flatMap((network) => parseNetwork(network) ?? []));
}

/** @param allowed the networks that the operator allows, besides public addresses */
export function addressJudge(allowed: readonly Network[]): AddressJudge {
  // Mapped networks as IPv4.
  const canonical = allowed.flatMap((network) => parseNetwork(networkText(network)) ?? []);
  const families = Map.groupBy(canonical, ({ address }) => isIP(address));
  const isAllowedIpv4 = networkMatcher(families.get(4) ?? []);
  const isAllowedIpv6 = networkMatcher(families.get(6) ?? []);
  return (text) => {
    const address = lookThrough(text);
    if (isIP(address) === 4) {
      if (isAllowedIpv4(address)) return 'allowed';
      return isClosedIpv4(address) ? 'closed' : 'public';
    }
    if (isIP(address) !== 6) return 'closed';
    if (isAllowedIpv6(address)) return 'allowed';
    return isGlobalIpv6(address) && !isClosedIpv6(address) ? 'public' : 'closed';
  };
}

// The IPv4 address that a mapped or translated IPv6 address stands for; other addresses as they are, without a zone.
function lookThrough(text: string): string {
  const address = addressText(text);
  return isIP(address) === 6 && isTranslated(address) ? lastBitsAsIpv4(address) : address;
}
