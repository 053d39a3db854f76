// Which IP addresses webhooks reach: public ones, and what the operator allows.
import { describe, expect, test } from 'bun:test';
import { parseNetwork } from '../../db/networks.ts';
import { type AddressKind, addressJudge } from '../../server/webhooks/addresses.ts';

const judgeWith = (...networks: string[]) =>
  addressJudge(networks.flatMap((network) => parseNetwork(network) ?? []));

// First and last address of each block, and their public neighbors.
const IPV4_BLOCKS: [
  name: string,
  first: string,
  last: string,
  before: string | null,
  after: string | null,
][] = [
  ['this network', '0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['private 10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['NAT of carriers', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['Azure', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['private 172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocols', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['documentation 1', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['relays of 6to4', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['private 192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['benchmarking', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['documentation 2', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['documentation 3', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['multicast', '224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255', null, null],
];

const hex = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

const IPV6: [kind: AddressKind, name: string, ...addresses: string[]][] = [
  [
    'public',
    'global',
    '2606:4700:4700::1111',
    '2a00:1450:4001:830::200e',
    '2000::',
    '3ffe::1',
    '2003::1',
    '2001:200::',
  ],
  ['closed', 'unspecified and loopback', '::', '::1', '0:0:0:0:0:0:0:1'],
  ['closed', 'IPv4-compatible', '::7f00:1', '::8.8.8.8', '::2'],
  ['closed', 'translated by RFC 2765', '::ffff:0:8.8.8.8', '::ffff:0:127.0.0.1'],
  ['closed', 'NAT64 of one network', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:7f00:1', '64:ff9b:1::8.8.8.8'],
  ['closed', 'discard', '100::', '100::1', '100:0:0:1::1'],
  ['closed', 'protocols', '2001::1', '2001:1ff:ffff:ffff::1'],
  ['closed', 'Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['closed', 'benchmarking', '2001:2::1'],
  ['closed', 'ORCHID', '2001:10::1', '2001:20::1'],
  [
    'closed',
    'documentation',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff::1',
    '3fff:fff::1',
  ],
  ['public', 'next to documentation', '2001:db7:ffff::1', '2001:db9::', '3fff:1000::'],
  [
    'closed',
    '6to4, of private and public addresses',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2002:808:808::1',
  ],
  ['closed', 'unassigned', '4000::1', '5f00::1', '1fff::1', 'e000::1'],
  ['closed', 'unique local, such as the metadata of AWS', 'fc00::', 'fd00:ec2::254', 'fdff:ffff::1'],
  ['closed', 'link-local', 'fe80::1', 'fe80::1%eth0', 'fe80::a9fe:a9fe', 'febf::1'],
  ['closed', 'site-local', 'fec0::1', 'feff::1'],
  ['closed', 'multicast', 'ff02::1', 'ff0e::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

describe('without allowed networks', () => {
  const judge = judgeWith();

  test.each(IPV4_BLOCKS)('IPv4 %s is closed, in every form of IPv6 too', (_, first, last, before, after) => {
    for (const address of [first, last]) {
      const forms = [
        address,
        `::ffff:${address}`,
        `::FFFF:${hex(address)}`,
        `0:0:0:0:0:ffff:${hex(address)}`,
        `64:ff9b::${address}`,
        `64:ff9b::${hex(address)}`,
        `64:ff9b:1::${address}`,
        `2002:${hex(address)}::1`,
        `::${address}`,
      ];
      expect(forms.map((form) => [form, judge(form)])).toEqual(forms.map((form) => [form, 'closed']));
    }
    for (const address of [before, after]) {
      if (address === null) continue;
      const forms = [address, `::ffff:${address}`, `::ffff:${hex(address)}`, `64:ff9b::${address}`];
      expect(forms.map((form) => [form, judge(form)])).toEqual(forms.map((form) => [form, 'public']));
    }
  });

  test.each(IPV6)('%s: IPv6 %s', (kind, _, ...addresses) => {
    expect(addresses.map((address) => [address, judge(address)])).toEqual(
      addresses.map((address) => [address, kind]),
    );
  });

  test.each([
    '',
    'localhost',
    'example.com',
    '1.2.3',
    '0x7f000001',
    '2130706433',
    '[::1]',
    '8.8.8.8:443',
    '8.8.8.8/8',
  ])('what is not an IP address is closed: "%s"', (text) => expect(judge(text)).toBe('closed'));
});

describe('with allowed networks', () => {
  test('addresses in them are allowed, and others are as before', () => {
    const judge = judgeWith('10.1.0.0/16', 'fd00:1::/32', '127.0.0.1');
    const kinds: [string, AddressKind][] = [
      ['10.1.2.3', 'allowed'],
      ['::ffff:10.1.2.3', 'allowed'],
      ['64:ff9b::10.1.2.3', 'allowed'],
      ['fd00:1::5', 'allowed'],
      ['127.0.0.1', 'allowed'],
      ['10.2.0.1', 'closed'],
      ['127.0.0.2', 'closed'],
      ['::1', 'closed'],
      ['fd00:2::5', 'closed'],
      ['8.8.8.8', 'public'],
      ['2606:4700:4700::1111', 'public'],
    ];
    expect(kinds.map(([address]) => [address, judge(address)])).toEqual(kinds);
  });

  test('a network of all IPv6 addresses does not open IPv4, nor the other way round', () => {
    const six = judgeWith('::/0');
    expect([six('::1'), six('fe80::1%eth0'), six('127.0.0.1'), six('::ffff:127.0.0.1')]).toEqual([
      'allowed',
      'allowed',
      'closed',
      'closed',
    ]);
    const four = judgeWith('0.0.0.0/0');
    expect([four('127.0.0.1'), four('8.8.8.8'), four('::1'), four('2002:7f00:1::')]).toEqual([
      'allowed',
      'allowed',
      'closed',
      'closed',
    ]);
  });

  test('a network of mapped addresses means the IPv4 network', () => {
    expect(judgeWith('::ffff:10.0.0.0/104')('10.1.2.3')).toBe('allowed');
  });
});
