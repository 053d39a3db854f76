// What is removed from texts for troubleshooting: every kind of secret in every form, and nothing else.
import { describe, expect, test } from 'bun:test';
import { headerLine, redact, redactedStart } from '../../cli/terminal/redact.ts';
import { generateKey } from '../../db/tables/key-format.ts';

const KEY = generateKey('service_live');
const SECRET = 'Zq7-wXy.42_kLmN';

describe('taken out is', () => {
  test.each([
    ['a key', KEY, 'service_live_(not shown)'],
    ['a key of v1 in a sentence', `Is ${generateKey('service_pk')}, it?`, 'Is service_pk_(not shown), it?'],
    ['a key cut off', KEY.slice(0, 20), 'service_live_(not shown)'],
    ['a key in JSON', `{"id":"${KEY}"}`, '{"id":"service_live_(not shown)"}'],
    ['a token in a URL', `/x/download?token=${SECRET}&a=1`, '/x/download?token=(not shown)&a=1'],
    [
      'a token in JSON',
      `{"transcript_url":"https://a/b?a=1\\u0026token=${SECRET}\\u0026b=2","c":1}`,
      '{"transcript_url":"https://a/b?a=1\\u0026token=(not shown)\\u0026b=2","c":1}',
    ],
    [
      'a signature',
      `https://a/b?X-Amz-Signature=${SECRET}&sig=${SECRET}`,
      'https://a/b?X-Amz-Signature=(not shown)&sig=(not shown)',
    ],
    ['a password in an address', `postgres://ada:${SECRET}@db/crm`, 'postgres://ada:(not shown)@db/crm'],
    ['one with an @', `https://ada:p@${SECRET}@host:80/x`, 'https://ada:(not shown)@host:80/x'],
    ['one behind it', `postgres://db/crm?password=${SECRET}`, 'postgres://db/crm?password=(not shown)'],
    [
      'members of JSON',
      `{"key":"${SECRET}","api_key" : "a\\"b","access_token":"${SECRET}","clientSecret":"x"}`,
      '{"key":"(not shown)","api_key" : "(not shown)","access_token":"(not shown)","clientSecret":"(not shown)"}',
    ],
    ['one cut off', `{"a":1,"password":"${SECRET}`, '{"a":1,"password":"(not shown)"'],
    ['a credential in a text', `got "Bearer ${SECRET}"`, 'got "Bearer (not shown)"'],
  ])('%s', (_, text, shown) => {
    expect(redact(text)).toBe(shown);
    expect(redact(shown)).toBe(shown);
  });

  test.each([
    'GET http://127.0.0.1:4000/api/v2/contacts?email=ada%40example.com&limit=20',
    'http://[::1]:4000/x?email=a@b.test',
    '{"first_name":"Ada","remarks":"The token: none. Basic needs.","keep_in_touch":false,"tokens":12}',
    '{"monkey":"banana","end_cursor":"aIPeuriQk8y5pmK8po7qFF"}',
    'Send it as "Authorization: Bearer <key>". Keys begin with `service_live_`.',
  ])('nothing of %p', (text) => {
    expect(redact(text)).toBe(text);
  });
});

test.each([
  ['authorization', `Bearer ${SECRET}`, 'authorization: Bearer (not shown)'],
  ['Proxy-Authorization', SECRET, 'Proxy-Authorization: (not shown)'],
  ['x-service-api-key', SECRET, 'x-service-api-key: (not shown)'],
  ['set-cookie', `a=${SECRET}; Secure`, 'set-cookie: (not shown)'],
  ['idempotency-key', SECRET, 'idempotency-key: (not shown)'],
  ['x-csrf-token', SECRET, 'x-csrf-token: (not shown)'],
  ['location', `https://a/b?token=${SECRET}`, 'location: https://a/b?token=(not shown)'],
  ['retry-after', '12', 'retry-after: 12'],
])('the header %s', (name, value, line) => {
  expect(headerLine(name, value)).toBe(line);
});

describe('the beginning of a text', () => {
  test('is all of a short one', () => {
    expect(redactedStart('short', 10)).toEqual({ shown: 'short', isWhole: true });
    expect(redactedStart('x'.repeat(11), 10)).toEqual({ shown: 'x'.repeat(10), isWhole: false });
  });

  test('has no part of a secret, wherever that is cut, though what is taken out makes room', () => {
    for (let length = 8_050; length < 8_300; length += 1) {
      const text = `"password":"${'p'.repeat(length - 100)}",postgres://ada:${SECRET}@db/${KEY}`;
      const { shown, isWhole } = redactedStart(`${text}${'y'.repeat(9_000)}`, 2_048);
      expect(isWhole).toBe(false);
      for (const secret of ['ppp', SECRET.slice(0, 4), KEY.slice(13, 17)])
        expect(shown).not.toContain(secret);
    }
  });
});
