// Whose word about the address of a client counts, and how networks are written.
import { describe, expect, test } from 'bun:test';
import { addressText, hasHostBits, type Network, networkText, parseNetwork } from '../../db/networks.ts';
import { clientAddress, LOOPBACK, networkMatcher } from '../../server/pipeline/client-address.ts';

const networks = (...texts: string[]): Network[] => texts.flatMap((text) => parseNetwork(text) ?? []);
const isLoopback = networkMatcher(LOOPBACK);
const isOurs = networkMatcher(networks('10.0.0.0/8', 'fd00::/8', '127.0.0.1'));

describe('the address of a client', () => {
  test.each<[string, string, string | null, (address: string) => boolean, string]>([
    ['is that of the connection', '192.0.2.1', null, isLoopback, '192.0.2.1'],
    ['is not what a stranger claims', '192.0.2.1', '198.51.100.7', isLoopback, '192.0.2.1'],
    ['is what a proxy saw', '127.0.0.1', '198.51.100.7', isLoopback, '198.51.100.7'],
    ['is what it saw last', '127.0.0.1', '203.0.113.9, 198.51.100.7', isLoopback, '198.51.100.7'],
    ['is the first outside of ours', '127.0.0.1', '1.1.1.1, 198.51.100.7, 10.1.2.3', isOurs, '198.51.100.7'],
    ['is the furthest of ours where all are', '127.0.0.1', '10.9.9.9, 10.1.2.3', isOurs, '10.9.9.9'],
    ['is a proxy whose word makes no sense', '127.0.0.1', '198.51.100.7, unknown', isLoopback, '127.0.0.1'],
    ['is a proxy that says nothing', '127.0.0.1', '', isLoopback, '127.0.0.1'],
    ['may have a port', '127.0.0.1', '198.51.100.7:4711', isLoopback, '198.51.100.7'],
    ['may be IPv6 with a port', '::1', '[2001:db8::1]:4711', isLoopback, '2001:db8::1'],
    ['may pass through IPv6', 'fd00::5', '2001:db8::1', isOurs, '2001:db8::1'],
    ['may pass through IPv4 written as IPv6', '::ffff:127.0.0.1', '2001:db8::1', isLoopback, '2001:db8::1'],
    ['is nobody where nobody is trusted', '127.0.0.1', '198.51.100.7', networkMatcher([]), '127.0.0.1'],
  ])('%s', (_, peer, forwardedFor, isTrusted, client) => {
    expect(clientAddress(peer, forwardedFor, isTrusted)).toBe(client);
  });
});

test.each([
  ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
  ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0 }],
  ['192.0.2.1', { address: '192.0.2.1', prefix: 32 }],
  ['::1', { address: '::1', prefix: 128 }],
  ['10.0.0.0/33', undefined],
  ['fd00::/129', undefined],
  ['10.0.0/8', undefined],
  ['example.com', undefined],
  ['', undefined],
])('the network %p', (text, network) => {
  expect(parseNetwork(text)).toEqual(network);
});

test.each([
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['10.1.2.3/8', '10.0.0.0/8', true],
  ['192.0.2.1/32', '192.0.2.1', false],
  ['192.0.2.129/25', '192.0.2.128/25', true],
  ['0.0.0.0/0', '0.0.0.0/0', false],
  ['2001:DB8:0:0:0:0:0:0/32', '2001:db8::/32', false],
  ['2001:db8::1/32', '2001:db8::/32', true],
  ['::1', '::1', false],
  ['::/0', '::/0', false],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', false],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8', false],
  ['::ffff:192.0.2.1', '192.0.2.1', false],
])('the network %s is written %s', (text, written, hasBitsBeyond) => {
  const [network] = networks(text);
  if (network === undefined) throw new Error('it is none');
  expect([networkText(network), hasHostBits(network)]).toEqual([written, hasBitsBeyond]);
  expect(networks(written).map(networkText)).toEqual([written]);
});

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['local', 'local'],
])('the address %s is written %s', (address, written) => {
  expect(addressText(address)).toBe(written);
});
