// API keys as text, checked by a second reckoning of the checksum; and how v1 scopes become v2 scopes.
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { scopesFromV1 } from '../../db/accounts/keys.ts';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { apiOfKey, generateKey, hashKey } from '../../db/tables/key-format.ts';
import { startHarness } from '../support/harness.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 as in ISO 3309, bit by bit. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function sixDigits(value: number): string {
  let text = '';
  for (let rest = value, place = 0; place < 6; place++, rest = Math.floor(rest / 62))
    text = DIGITS[rest % 62] + text;
  return text;
}

/** A key of that prefix and 43 characters, made without the code under test. */
const keyOf = (prefix: string, secret: string) =>
  `${prefix}_${secret}${sixDigits(crc32(`${prefix}_${secret}`))}`;

test('the reckoning of this test is that of the standard', () => {
  expect(crc32('123456789')).toBe(0xcbf43926);
  expect([sixDigits(0), sixDigits(61), sixDigits(62), sixDigits(0xffffffff)]).toEqual([
    '000000',
    '00000z',
    '000010',
    '4gfFC3',
  ]);
});

const PREFIXES = [
  ['service_live', 'v2'],
  ['service_api', 'v1'],
  ['service_pk', 'v1'],
] as const;

describe('a key', () => {
  for (const [prefix, api] of PREFIXES) {
    test(`${prefix}: prefix, 43 characters, 6 of checksum`, () => {
      const keys = Array.from({ length: 200 }, () => generateKey(prefix));
      for (const key of keys) {
        expect(key).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
        const body = key.slice(0, -6);
        expect(key).toBe(body + sixDigits(crc32(body)));
        expect(apiOfKey(key)).toBe(api);
      }
      expect(new Set(keys).size).toBe(200);
    });

    test(`${prefix}: made elsewhere by the same rule it is one, too`, () => {
      for (const secret of ['0'.repeat(43), 'z'.repeat(43), DIGITS.slice(0, 43)])
        expect(apiOfKey(keyOf(prefix, secret))).toBe(api);
    });
  }

  test('holds 256 random bits: 43 characters stand for less than 2^256, every place varies', () => {
    const secrets = Array.from({ length: 300 }, () => generateKey('service_live').slice(13, -6));
    for (const secret of secrets) {
      const value = [...secret].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
      expect(value < 2n ** 256n).toBe(true);
    }
    for (let place = 1; place < 43; place++)
      expect(new Set(secrets.map((secret) => secret[place])).size).toBeGreaterThan(20);
  });

  test('with any character changed, left out, doubled or swapped with its neighbour it is none', () => {
    const key = keyOf('service_live', DIGITS.slice(7, 50));
    for (let at = 0; at < key.length; at++) {
      const [before, char = '', next = '', after] = [
        key.slice(0, at),
        key[at],
        key[at + 1],
        key.slice(at + 2),
      ];
      for (const other of ['0', 'A', 'z', '-', ' ']) {
        if (other !== char) expect(apiOfKey(before + other + key.slice(at + 1))).toBeUndefined();
      }
      expect(apiOfKey(before + key.slice(at + 1))).toBeUndefined();
      expect(apiOfKey(before + char + key.slice(at))).toBeUndefined();
      if (next !== '' && next !== char) expect(apiOfKey(before + next + char + after)).toBeUndefined();
    }
  });

  test('other text is none', () => {
    const secret = 'a'.repeat(43);
    const others = [
      '',
      'service_live_',
      'sk_live_x',
      keyOf('service_test', secret),
      keyOf('SERVICE_LIVE', secret),
    ];
    const padded = [` ${keyOf('service_live', secret)}`, `${keyOf('service_live', secret)}\n`];
    for (const text of [
      ...others,
      ...padded,
      keyOf('service_live', 'a'.repeat(42)),
      keyOf('service_live', 'é'.repeat(43)),
    ])
      expect(apiOfKey(text)).toBeUndefined();
  });

  test('is stored as its SHA-256', () => {
    const key = generateKey('service_api');
    expect(hashKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
  });
});

test('a well-formed key is looked up, a mistyped one is refused unread, both in the same words', async () => {
  const harness = await startHarness();
  const wellFormed = keyOf('service_live', 'q'.repeat(43));
  const replies = [];
  for (const key of [wellFormed, `${wellFormed.slice(0, -1)}!`])
    replies.push((await harness.send('GET', '/api/v2/contacts', { key })).body.error);
  expect(replies[0]).toEqual(replies[1]);
  await harness.close();
});

describe('scopes of a v1 key in v2', () => {
  const rows: [string[], string[]][] = [
    [['people:read'], ['contacts:read']],
    [['people:write'], ['contacts:write', 'contacts:delete']],
    [['companies:read'], ['companies:read']],
    [['companies:write'], ['companies:write']],
    [['companies:remove'], ['companies:delete']],
    [['interactions:read'], ['interactions:read']],
    [['interactions:write'], ['interactions:write']],
    [
      ['people:read', 'companies:remove', 'people:read'],
      ['contacts:read', 'companies:delete'],
    ],
    [[], []],
  ];
  for (const [v1, v2] of rows) {
    test(v1.join(' ') || 'none', () => expect(scopesFromV1(v1).toSorted()).toEqual(v2.toSorted()));
  }

  test('ALL gives those of every v1 scope and nothing more', () => {
    const all = [
      ...['contacts:read', 'contacts:write', 'contacts:delete'],
      ...['companies:read', 'companies:write', 'companies:delete'],
      ...['interactions:read', 'interactions:write'],
    ];
    expect(scopesFromV1(['ALL']).toSorted()).toEqual(all.toSorted());
    expect(scopesFromV1(V1_SCOPES.filter((scope) => scope !== 'ALL')).toSorted()).toEqual(all.toSorted());
    for (const scope of all) expect(V2_SCOPES).toContain(scope);
  });
});
