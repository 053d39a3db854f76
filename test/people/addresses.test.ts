// AddressSet in text: found in whatever case and form, and never as a part of others.
import { describe, expect, test } from 'bun:test';
import { AddressSet } from '../../db/people/addresses.ts';

const ada = new AddressSet(['Ada@Example.com', 'ada.l@mail.example']);

describe('an address is found', () => {
  test.each([
    ['ada@example.com', '[erased]'],
    ['Ask ADA@EXAMPLE.COM, or <ada.l@mail.example>.', 'Ask [erased], or <[erased]>.'],
    ['mailto:ada@example.com?subject=x', 'mailto:[erased]?subject=x'],
    ['https://x.example/?to=ada%40example.com&y', 'https://x.example/?to=[erased]&y'],
    ["'ada@example.com' ada@example.com- Ada", "'[erased]' [erased]- Ada"],
    ['…ada@example.com...', '…[erased]...'],
    ['{"email":"ada@example.com"}', '{"email":"[erased]"}'],
  ])('in %j', (text, without) => {
    expect(ada.isIn(text)).toBe(true);
    expect(ada.takenOutOf(text)).toBe(without);
  });
});

test.each([
  'bada@example.com',
  'b.ada@example.com',
  'x+ada@example.com',
  'ada@example.com.br',
  'ada@example.community',
  'ada@example-com',
  'ada+news@example.com',
  'ada at example.com',
  '',
])('%j has none', (text) => {
  expect(ada.isIn(text)).toBe(false);
  expect(ada.takenOutOf(text)).toBe(text);
});

test('characters of an address mean only themselves', () => {
  const odd = new AddressSet(['a*b.c|d@x.example', 'жанна@пример.example']);
  expect(odd.takenOutOf('a*b.c|d@x.example aab.c|d@x.example')).toBe('[erased] aab.c|d@x.example');
  expect(odd.takenOutOf('to ЖАННА@пример.example!')).toBe('to [erased]!');
});
