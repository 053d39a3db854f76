// Words of a search: examples in many scripts, and what holds for every text.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  foldedText,
  indexedTerm,
  indexedWord,
  piecesOf,
  placeOf,
  type Term,
  wordsOf,
} from '../../db/model/words.ts';
import { anyCharacter } from '../support/any-character.ts';
import { plainWords } from './plain-words.ts';

const LONG = 300_000;
const RUNS = { numRuns: 2_000, seed: 42 };
// Composed, so that it does not matter how this file is stored.
const folded = (...words: string[]) => words.map(foldedText);

const EXAMPLES: [name: string, text: string, words: string[]][] = [
  ['an address', 'Ada.Lovelace+crm@Example.com', ['ada', 'lovelace', 'crm', 'example', 'com']],
  ['a telephone number', '+44 (0)20 7946-0000', ['44', '0', '20', '7946', '0000']],
  ['accents', 'Žluťoučký Ångström CAFÉ', ['zlutoucky', 'angstrom', 'cafe']],
  ['an apostrophe', "O'Brien’s", ['o', 'brien', 's']],
  ['a dotted capital i', 'İSTANBUL ıstanbul', ['istanbul', 'ıstanbul']],
  ['ligatures and wide characters', 'ﬁle ＡＢＣ１２ ⅷ', ['file', 'abc12', 'viii']],
  ['fractions and superscripts', 'x² 3½', ['x2', '31', '2']],
  ['letters that do not come apart', 'Straße Øre Łódź', ['straße', 'øre', 'łodz']],
  ['Greek', 'Ὀδυσσεύς ΟΔΥΣΣΕΥΣ', ['οδυσσευσ', 'οδυσσευσ']],
  ['Cyrillic', 'Йошкар-Ола, Ёлка', ['иошкар', 'ола', 'елка']],
  ['Arabic', 'مُحَمَّد، أحمد', ['محمد', 'احمد']],
  ['Hebrew', 'שָׁלוֹם עֲלֵיכֶם', ['שלום', 'עליכם']],
  // The vowel sign ी is a spacing mark and stays; ु, ं and the virama are not.
  ['Devanagari', 'हिन्दी मुंबई', ['हिनदी', 'मबई']],
  ['Hangul', '서울 시청', folded('서울', '시청')],
  ['Han', '北京大学, 東', ['北京', '京大', '大学', '東']],
  ['kana with Han', '東京タワーへ', ['東京', '京タ', 'タワ', 'ワー', 'ーへ']],
  ['voiced kana and half width', 'ガム ｶﾞﾑ', ['カム', 'カム']],
  ['Thai, without its marks above and below', 'ภาษาไทย', ['ภา', 'าษ', 'ษา', 'าไ', 'ไท', 'ทย']],
  ['Thai with tones', 'น้ำ', ['นา']],
  ['Lao', 'ພາສາ', ['ພາ', 'າສ', 'ສາ']],
  ['Khmer', 'ភាសា', ['ភា', 'ាស', 'សា']],
  ['scripts next to each other', 'iPhone15で買う2台ไทย', ['iphone15', 'て買', '買う', '2', '台', 'ไท', 'ทย']],
  ['characters beyond the first plane', '𠮷野家 𝐀𝐝𝐚 😀', ['𠮷野', '野家', 'ada']],
  ['no words', ' ---\n\t…😀©', []],
];

describe('the words of', () => {
  test.each(EXAMPLES)('%s', (_, text, words) => {
    expect(wordsOf(text)).toEqual(words);
    expect(wordsOf(text.normalize('NFD'))).toEqual(words);
    expect(plainWords(text).flatMap((one) => one.words)).toEqual(words);
  });
});

// Letters, marks, digits and borders of many scripts, among them those that change when they are folded.
const SAMPLE = [
  ...'aAzZ09éÅßİıſﬁĲǅΣςσΆϔЙёאָשׁمَّأ٣ऩकीु्३',
  ...'한글ᄀㄱ中𠮷〇々ーがｶﾞ゛㈱㍿ไำ้๓ລໜໍខាោ៣',
  ...'₂½Ⅷʼ\u200d\u00ad\u0301\u20dd\u302e ,.@-_\n😀',
];
const sampleText = fc
  .array(fc.constantFrom(...SAMPLE), { maxLength: 24 })
  .map((characters) => characters.join(''));
const anyText = fc.oneof(sampleText, fc.string({ unit: anyCharacter, maxLength: 24 }), fc.string());

/** Code points that are not halves of pairs. */
function* everyCharacter(): Generator<string> {
  for (let point = 0; point <= 0x10ffff; point++)
    if (point < 0xd800 || point > 0xdfff) yield String.fromCodePoint(point);
}

describe('for every text', () => {
  test(
    'each character folds by itself, and folding again changes nothing',
    () => {
      for (const character of everyCharacter()) {
        const once = foldedText(character);
        if (foldedText(once) !== once) expect([character, foldedText(once)]).toEqual([character, once]);
      }
      fc.assert(
        fc.property(anyText, (text) => {
          expect(foldedText(foldedText(text))).toBe(foldedText(text));
          expect(wordsOf(foldedText(text))).toEqual(wordsOf(text));
          expect(wordsOf(wordsOf(text).join(' '))).toEqual(wordsOf(text));
        }),
        RUNS,
      );
    },
    LONG,
  );

  test('words are those of the plain rules', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(wordsOf(text)).toEqual(plainWords(text).flatMap(({ words }) => words));
      }),
      RUNS,
    );
  });

  test('the words of a part between borders are words of the whole', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.constantFrom(' ', ', ', '@', '.', '\n'), (one, other, border) => {
        expect(wordsOf(`${one}${border}${other}`)).toEqual([...wordsOf(one), ...wordsOf(other)]);
      }),
      RUNS,
    );
  });

  test('a term occurs where one of the words is it, or begins with it', () => {
    const term = fc.record({ text: sampleText, whole: sampleText, at: fc.nat(), isPrefix: fc.boolean() });
    let found = 0;
    fc.assert(
      fc.property(term, ({ text, whole, at, isPrefix }) => {
        // Half of the words are looked for in another text.
        const among = wordsOf(at % 2 === 0 ? text : whole);
        const chosen = among[at % Math.max(1, among.length)];
        if (chosen === undefined) return;
        const word = isPrefix ? ([...chosen].slice(0, 2).join('') as string) : chosen;
        const occurs = wordsOf(text).some((one) => one === word || (isPrefix && one.startsWith(word)));
        const place = placeOf({ word, isPrefix }, foldedText(text));
        expect(place >= 0).toBe(occurs);
        if (occurs) expect(foldedText(text).startsWith(word, place)).toBe(true);
        if (occurs) found++;
      }),
      RUNS,
    );
    expect(found).toBeGreaterThan(500);
  });

  test('one character of a script without spaces begins a pair, or is alone', () => {
    const one = { word: '中', isPrefix: true };
    expect(placeOf(one, '中国')).toBe(0);
    expect(placeOf(one, 'a中')).toBe(1);
    expect(placeOf(one, '国中')).toBe(-1);
    expect(placeOf(one, '国中 中ไ')).toBe(3);
  });
});

describe('an index keeps the beginning of a word', () => {
  const long = '𠮷'.repeat(3) + 'x'.repeat(100);
  const found = (term: Term, word: string) => {
    const { word: indexed, isPrefix } = indexedTerm(term);
    return indexedWord(word) === indexed || (isPrefix && indexedWord(word).startsWith(indexed));
  };

  test('of at most 64 characters', () => {
    expect([...indexedWord(long)]).toHaveLength(64);
    expect(indexedWord('a'.repeat(64))).toBe('a'.repeat(64));
    expect(indexedWord('𝒳'.repeat(64))).toBe('𝒳'.repeat(64));
    expect(Buffer.byteLength(indexedWord('𠮷'.repeat(500)))).toBe(256);
  });

  test('that finds each word by itself and by any of its beginnings', () => {
    for (const word of [long, 'ada', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(65)]) {
      expect(found({ word, isPrefix: false }, word)).toBe(true);
      for (let end = 1; end <= [...word].length; end++) {
        const beginning = [...word].slice(0, end).join('');
        expect([end, found({ word: beginning, isPrefix: true }, word)]).toEqual([end, true]);
      }
    }
    expect(found({ word: 'ad', isPrefix: false }, 'ada')).toBe(false);
    expect(found({ word: 'x'.repeat(64), isPrefix: true }, 'x'.repeat(63))).toBe(false);
  });
});

test('a long text has the words of its pieces, in every script, and each piece is short', () => {
  const parts = [
    'Ada',
    ' ',
    'o\u0301',
    '東京',
    '、',
    '\u0301',
    'ไทย',
    '\n',
    '،',
    'ΣΑΣ',
    '_',
    '🙂',
    'ﬁne',
    '。',
  ];
  const text = fc.array(fc.constantFrom(...parts), { minLength: 20_000, maxLength: 40_000, size: 'max' });
  const property = fc.property(text, (some) => {
    const long = some.join('');
    const pieces = piecesOf(long);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(long);
    expect(pieces.flatMap(wordsOf)).toEqual(wordsOf(long));
    expect(pieces.map(foldedText).join('')).toBe(foldedText(long));
  });
  fc.assert(property, { numRuns: 5, seed: 3 });
  expect(piecesOf('x'.repeat(100_000))).toHaveLength(1);
});
