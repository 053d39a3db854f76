// The URLs that webhooks can have, in every spelling that URL parsers take.
import { describe, expect, test } from 'bun:test';
import { parseNetwork } from '../../db/networks.ts';
import { addressJudge } from '../../server/webhooks/addresses.ts';
import { isTargetOpen, readTarget, urlFault } from '../../server/webhooks/target-url.ts';

const faultOf = (url: string, ...networks: string[]) => {
  const allowed = networks.flatMap((network) => parseNetwork(network) ?? []);
  return urlFault(url, addressJudge(allowed), allowed.length > 0);
};

const NOT_A_URL = 'must be an https URL such as https://example.com/hooks';
const PRIVATE = 'must not be a private or reserved address; the operator of the service can allow networks';
const PORT = 'must use port 443 or 8443';
const USER = 'must not contain a user name or password';

describe('without allowed networks', () => {
  test.each([
    'https://example.com',
    'https://example.com/',
    'https://example.com:443/hooks?token=a%20b',
    'https://example.com:8443/hooks#part',
    'https://EXAMPLE.com./hooks',
    'https://hooks_1.example.co.uk/a/b',
    'https://bücher.example/ä',
    'https://xn--bcher-kva.example/',
    'https://8.8.8.8/hooks',
    'https://[2606:4700:4700::1111]:8443/hooks',
    'https://[::ffff:8.8.8.8]/',
    'https://169.254.169.254.nip.io/',
    'https://webhooks/',
    'HTTPS://example.com/',
    `https://example.com/${'a'.repeat(2_048 - 20)}`,
  ])('%s is accepted', (url) => expect(faultOf(url)).toBeNull());

  const LOOPBACK = [
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.1',
    '0X7F.0.0.0X1',
    '0177.0.0.1',
    '0177.0x0.0.1',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
    '１２７.0.0.1',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127．0．0．1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'ⓛocalhost',
    'foo.localhost',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:FFFF:7F00:0001]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
  ];
  const OTHERS = [
    ...['0', '0.0.0.0', '0x', '00000.0', '[::]'],
    ...[
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '[::ffff:a9fe:a9fe]',
      '[fd00:ec2::254]',
      '168.63.129.16',
    ],
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '3232235777',
      '[fc00::1]',
      '[fe80::1]',
      '[fec0::1]',
    ],
    ...['192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '4294967295', '[ff02::1]'],
    ...['[2001:db8::1]', '[2001::1]', '[100::1]', '[4000::1]'],
  ];
  test.each([...LOOPBACK, ...OTHERS])('the host %s is refused, whatever the port', (host) => {
    expect(['', ':443', ':8443', ':80'].map((port) => faultOf(`https://${host}${port}/hooks`))).toEqual(
      Array(4).fill(PRIVATE),
    );
    expect(faultOf(`http://${host}/`)).toBe(PRIVATE);
  });

  test.each([
    '',
    'example.com',
    '//example.com/',
    'https:example.com',
    'https:///example.com',
    'https://',
    'https:\\\\example.com',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'javascript:alert(1)',
    'unix:///var/run/docker.sock',
    'http://example.com/',
    'http://8.8.8.8/',
    'http://example.com:443/',
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\tmple.com/',
    'https://example.com/\r\nHost: other',
    'https://example.com/\0',
    'https://exam\u00adple..com/',
    'https://example..com/',
    'https://.example.com/',
    'https://-example.com/',
    'https://exa$mple.com/',
    'https://127.0.0.1../',
    'https://1.2.3.4.5/',
    'https://256.1.1.1/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1/',
    'https://[v1.a]/',
    'https://example.com:0/',
    'https://example.com:65536/',
    'https://example.com:port/',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(127)}example/`,
  ])('%j is not a URL that a webhook can have', (url) => expect(faultOf(url)).toBe(NOT_A_URL));

  test.each([
    'https://example.com:80/',
    'https://example.com:22/',
    'https://8.8.8.8:6379/',
    'https://example.com:4443/',
  ])('%s is refused for its port', (url) => expect(faultOf(url)).toBe(PORT));

  test.each([
    'https://ada@example.com/',
    'https://ada:secret@example.com/',
    'https://:@example.com/',
    'http://a@127.0.0.1/',
  ])('%s is refused for its user', (url) => expect(faultOf(url)).toBe(USER));

  test('an at sign after the host is part of the path', () =>
    expect(faultOf('https://example.com/@ada?to=ada@example.com')).toBeNull());

  test('a URL of more than 2,048 characters is refused', () =>
    expect(faultOf(`https://example.com/${'a'.repeat(2_029)}`)).toBe('must have at most 2048 characters'));
});

describe('with allowed networks', () => {
  const NETWORKS = ['10.0.0.0/8', '127.0.0.0/8', '::1'];

  test.each([
    'http://10.1.2.3/',
    'http://10.1.2.3:9000/hooks',
    'https://10.1.2.3:9443/',
    'http://localhost:3000/',
    'http://0x7f.1:8080/',
    'http://[::1]:8080/',
    'http://[::ffff:10.0.0.1]/',
    // A name's addresses are looked up with each attempt.
    'http://hooks.internal:9000/',
    'https://hooks.internal:9443/',
    'https://example.com/',
  ])('%s is accepted', (url) => expect(faultOf(url, ...NETWORKS)).toBeNull());

  test('other addresses and ports stay closed', () => {
    expect(faultOf('http://192.168.0.1/', ...NETWORKS)).toBe(PRIVATE);
    expect(faultOf('http://8.8.8.8/', ...NETWORKS)).toBe(NOT_A_URL);
    expect(faultOf('https://8.8.8.8:9000/', ...NETWORKS)).toBe(PORT);
    expect(faultOf('http://a:b@10.1.2.3/', ...NETWORKS)).toBe(USER);
    expect(faultOf('http://localhost:3000/', '127.0.0.0/8')).toBe(PRIVATE);
  });

  test('http and other ports are open to allowed addresses only', () => {
    const open = (url: string) => {
      const target = readTarget(url);
      return (
        target && [
          isTargetOpen(target, 'allowed'),
          isTargetOpen(target, 'public'),
          isTargetOpen(target, 'closed'),
        ]
      );
    };
    expect(open('http://hooks.internal:9000/')).toEqual([true, false, false]);
    expect(open('https://hooks.internal:9443/')).toEqual([true, false, false]);
    expect(open('https://hooks.internal:8443/')).toEqual([true, true, false]);
    expect(open('https://hooks.internal/')).toEqual([true, true, false]);
  });
});

test('a target has what a request needs', () => {
  expect(readTarget('https://Bücher.example.:8443/ä b?q=1#part'.replace(' ', '%20'))).toEqual({
    isSecure: true,
    host: 'xn--bcher-kva.example',
    port: 8443,
    authority: 'xn--bcher-kva.example.:8443',
    path: '/%C3%A4%20b?q=1',
  });
  expect(readTarget('http://[::1]')).toEqual({
    isSecure: false,
    host: '::1',
    port: 80,
    authority: '[::1]',
    path: '/',
  });
});
