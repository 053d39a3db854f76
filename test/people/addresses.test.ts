// AddressSet in text: found in whatever case, form and company, and never as a part of another address.
import { describe, expect, test } from 'bun:test';
import { AddressSet } from '../../db/people/email-addresses.ts';
import { threadMs } from '../support/thread-time.ts';

const ada = new AddressSet(['Ada@X.org', 'ada.l@mail.example']);

describe('an address is taken out of', () => {
  test.each([
    ['ada@x.org', '[erased]'],
    ['Ask ADA@X.ORG, or <ada.l@mail.example>.', 'Ask [erased], or <[erased]>.'],
    ['mailto:ada@x.org?subject=x', 'mailto:[erased]?subject=x'],
    ['https://x.example/?to=ada%40x.org&y', 'https://x.example/?to=[erased]&y'],
    ['{"email":"ada@x.org"}', '{"email":"[erased]"}'],
    ['a%253Cada%2540x.org', 'a%253C[erased]'],
    ['%61d%61%40x%2Eorg', '[erased]'],
    ['%41DA%40X.ORG', '[erased]'],
    ['ada&#64;x.org ada&commat;x.org ada\\u0040x.org', '[erased] [erased] [erased]'],
    ['ada=40x.org ada=3D40x.org ada%3D40x.org ada=40x=2Eorg', '[erased] [erased] [erased] [erased]'],
    ['ada\\x40x.org ada\\u{40}x.org ada\\\\u0040x.org', '[erased] [erased] [erased]'],
    ['ada%u0040x.org ada%5Cu0040x.org', '[erased] [erased]'],
    ['From: ada@x.=\norg, ad=\r\na@x.org', 'From: [erased], [erased]'],
  ])('%j', (text, without) => {
    expect(ada.isIn(text)).toBe(true);
    expect(ada.takenOutOf(text)).toBe(without);
  });
});

// What stands before and after: whether it is the same address, or one that is longer.
const BEFORE: [text: string, isSame: boolean][] = [
  ...[
    '',
    ' ',
    '\n',
    '\t',
    '\u00a0',
    '<',
    '(',
    '[',
    '"',
    "'",
    '“',
    '…',
    ',',
    ';',
    ':',
    '=',
    '/',
    '|',
    '*',
    '~',
  ],
  ...[
    '#',
    '!',
    '?',
    '&',
    '@',
    '-',
    '_',
    '--',
    '__',
    'x-',
    'x_',
    '1-',
    '%',
    '.',
    ' .',
    '+',
    ' +',
    '>',
    '\\',
    '—',
  ],
  ...['\\n', '\\t', '\\r', 'x\\n', 'x\\u000a', '\\"', '%3C', '%3c', '%2C', '%3D', '%20', '%22', '%0A', '%3A'],
  ...[
    'x%3C',
    'x%2C',
    'x%3D',
    '%253C',
    'x%25253D',
    '%2D',
    '%5F',
    '%E2%80%9C',
    'to%3D',
    ...[
      '=3D',
      '=3d',
      'x=3D',
      '=3D3D',
      '%3D3D',
      '=0A',
      '=20',
      '=C2=A0',
      'x=E2=80=9C',
      '=A0',
      '=\n',
      '=2B',
      '=2E',
    ],
    ...[
      '\\x3c',
      'x\\x3C',
      '\\u003c',
      '\\\\u003c',
      '\\u201c',
      '%5Cn',
      '%5Cu003c',
      '%u003c',
      '%u201C',
      '%2B',
      '%3C%2B',
    ],
    '0',
    '東',
    'é',
    'e\u0301',
  ],
  ...['x', 'b', 'B', 'x.', 'x+', 'é.', '9.', '%62', '%4F', '%39', 'x%2E', 'x%2B', 'x%2b', '%2562'],
  ...['3D', 'x3D', '=be', '=42', '=62', 'x=2B', 'x=2E', '\\x62', '\\u0062', '%u0062', 'x\\x2e', 'x\\u002B'],
].map((text) => [
  text,
  !/^(?:0|東|é|e\u0301|x|b|B|[xé9][.+]|%62|%4F|%39|x%2[EBb]|%2562|x?3D|=be|=[46]2|x=2[BE]|[\\%](?:x|u00)62|x\\(?:x|u00)2[eB])$/.test(
    text,
  ),
]);
const AFTER: [text: string, isSame: boolean][] = [
  ...[
    '',
    ' ',
    '\n',
    '>',
    ')',
    ']',
    '"',
    "'",
    '”',
    ',',
    ';',
    ':',
    '/',
    '?',
    '&',
    '#',
    '|',
    '*',
    '!',
    '@',
    '=',
    '…',
  ],
  ...[
    '-',
    '_',
    '-x',
    '_x',
    '--',
    '-2026',
    '.',
    '. ',
    '.)',
    '...',
    '.\n',
    '\\n',
    '\\t',
    '\\"',
    '%3E',
    '%2C',
    '%20',
  ],
  ...['%0A', '%2E', '%2E%20', '%253E', '%E2%80%9D', '+', '%', '—', '—x'],
  ...['=50', '%3D50', '=3D', '=\n', '\\x3e', '\\u003e', '%u201D'],
  ...['x', 's', '2', 'é', '\u0301', '東', '.uk', '.2', '.é', '%2Euk', '.%75k', '%61', '%252Euk', '%7a'],
  ...['=2Euk', '\\x2euk', '\\u0061', '%u0061'],
].map((text) => [
  text,
  !/^(?:x|s|2|é|\u0301|東|\.uk|\.2|\.é|[%=]2Euk|\.%75k|%61|%252Euk|%7a|\\x2euk|[\\%]u0061)$/.test(text),
]);

describe('beside', () => {
  test.each(BEFORE)('%j before it, it is the same address: %p', (before, isSame) => {
    for (const form of ['ada@x.org', 'ADA@X.org', 'ada%40x.org']) {
      expect([form, ada.isIn(before + form)]).toEqual([form, isSame]);
      expect([form, ada.isIn(`Wrote: ${before}${form}, today`)]).toEqual([form, isSame]);
      if (isSame) expect(ada.takenOutOf(`${before}${form}, today`)).toBe(`${before}[erased], today`);
    }
  });

  test.each(AFTER)('%j after it, it is the same address: %p', (after, isSame) => {
    for (const form of ['ada@x.org', 'ADA@X.org', 'ada%40x.org']) {
      expect([form, ada.isIn(form + after)]).toEqual([form, isSame]);
      if (isSame) expect(ada.takenOutOf(`to ${form}${after}`)).toBe(`to [erased]${after}`);
    }
  });

  test('any two of these on both sides', () => {
    for (const [before, isSameBefore] of BEFORE)
      for (const [after, isSameAfter] of AFTER) {
        const text = `${before}ada@x.org${after}`;
        expect([text, ada.isIn(text)]).toEqual([text, isSameBefore && isSameAfter]);
      }
  });
});

test.each(['bada@x.org', 'ada@x.org.uk', 'ada+news@x.org', 'ada@x-org', 'ada@xorg', 'ada at x.org', ''])(
  '%j has none',
  (text) => {
    expect(ada.isIn(text)).toBe(false);
    expect(ada.takenOutOf(text)).toBe(text);
  },
);

test('what holds an address and nothing else is not mistaken for one that ends alike', () => {
  for (const other of ['mary-ada@x.org', 'x_ada@x.org', 'ada@x.org-mail.example', "o'ada@x.org"]) {
    expect([other, ada.isAt(other), ada.takenOutAt(other)]).toEqual([other, false, other]);
    expect(ada.isIn(`Wrote to ${other}`)).toBe(true);
  }
  for (const same of ['ada@x.org', 'ADA@X.ORG', 'mailto:ada@x.org', 'Ada <ada@x.org>'])
    expect([same, ada.isAt(same)]).toEqual([same, true]);
});

test('what may be a part of another address is reported', () => {
  for (const text of ['to mary-ada@x.org', 'x_ada@x.org', 'ada@x.org-mail.example', 'ada@x.org_2'])
    expect([text, ada.isDoubtfulIn(text)]).toEqual([text, true]);
  for (const text of ['- ada@x.org', '-ada@x.org', '_ada@x.org_', 'ada@x.org - a', 'ada@x.org', 'x', ''])
    expect([text, ada.isDoubtfulIn(text)]).toEqual([text, false]);
});

test('characters of an address mean only themselves', () => {
  const odd = new AddressSet(['a*b.c|d@x.example', 'жанна@пример.example']);
  expect(odd.takenOutOf('a*b.c|d@x.example aab.c|d@x.example')).toBe('[erased] aab.c|d@x.example');
  expect(odd.takenOutOf('to ЖАННА@пример.example!')).toBe('to [erased]!');
  expect(odd.takenOutOf(`?to=${encodeURIComponent('жанна@пример.example')}&`)).toBe('?to=[erased]&');
  const longer = new AddressSet(['ada@x.org', 'ada@x.org.uk']);
  expect(longer.takenOutOf('ada@x.org.uk ada@x.org')).toBe('[erased] [erased]');
});

test('the time that a text takes grows as the text does', () => {
  const timeOf = (text: string) => {
    const begun = threadMs();
    ada.isIn(text);
    return threadMs() - begun;
  };
  // Each would take minutes if it grew with the square of its length.
  for (const piece of [
    'ada@x.or',
    '%25',
    '.',
    'a-',
    '%',
    'ada%2540x',
    '@',
    '\\u',
    '\\',
    '\\\\n',
    '=3D',
    '%255c',
  ])
    expect([piece, timeOf(piece.repeat(1_000_000 / piece.length)) < 20_000]).toEqual([piece, true]);
}, 300_000);
