// Random texts in nine scripts, of few words, so that queries find several records; each word is written in several ways.
import type { Random } from '../support/random.ts';

interface Script {
  letters: readonly string[];
  /** What can stand between words. */
  borders: readonly string[];
}

const SPACED = [' ', ' ', ' ', ', ', '-', '. ', '’', '/'];

// Letters with marks on them, with two cases, and with compatibility forms where the script has them.
const SCRIPTS: readonly Script[] = [
  { letters: [...'aeiolrsé', 'ß', 'ø', 'İ', 'ﬁ', 'Ｎ', '²'], borders: SPACED },
  { letters: [...'αορίήυνΣ', 'ϊ', 'Ώ'], borders: SPACED },
  { letters: [...'аеоИйЁрсц'], borders: SPACED },
  { letters: [...'ابمحدأ', 'مُ', 'دَّ', 'ﻻ', '٣'], borders: [' ', '، ', ' ـ '] },
  { letters: [...'אבלםרן', 'שׁ', 'לָ'], borders: [' ', '־', ' "'] },
  { letters: ['क', 'र', 'म', 'न', 'की', 'नु', 'र्', 'मं', 'ज़'], borders: [' ', '। '] },
  { letters: [...'東京大中国都の々', 'が', 'ター', 'ｶﾞ', '𠮷'], borders: ['', '', '、', ' '] },
  { letters: [...'กขมนาเ', 'น้ำ', 'ที่', 'ไ', '๓'], borders: ['', '', ' ', 'ๆ '] },
  { letters: [...'서울시한국김', '가', 'ㄱ'], borders: [' ', ' ', '·'] },
];
const WORDS_PER_SCRIPT = 40;

/** One of these. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** A whole number from `min` to `max`. */
export function whole(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** What random records and queries are made of. */
export class RandomTexts {
  readonly random: Random;
  readonly #words: readonly (readonly string[])[];

  constructor(random: Random) {
    this.random = random;
    this.#words = SCRIPTS.map(({ letters }) =>
      Array.from({ length: WORDS_PER_SCRIPT }, () =>
        Array.from({ length: whole(random, 1, 5) }, () => pick(random, letters)).join(''),
      ),
    );
  }

  /** A word of any script. */
  word(): string {
    return this.#written(pick(this.random, pick(this.random, this.#words)));
  }

  /** Text of so many words, mostly of one script. */
  text(min: number, max: number): string {
    const script = whole(this.random, 0, SCRIPTS.length - 1);
    const { borders } = SCRIPTS[script] as Script;
    let text = '';
    for (let left = whole(this.random, min, max); left > 0; left--) {
      const word = this.random() < 0.9 ? pick(this.random, this.#words[script] ?? []) : this.word();
      text += (text === '' ? '' : pick(this.random, borders)) + this.#written(word);
    }
    return text;
  }

  /** A word of ASCII letters, for addresses. */
  label(): string {
    return Array.from({ length: whole(this.random, 2, 4) }, () => pick(this.random, [...'aeilor'])).join('');
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => whole(this.random, 0, 9)).join('');
  }

  phone(): string {
    const area = pick(this.random, ['20', '30', '212']);
    const [one, other] = [this.digits(4), this.digits(4)];
    return pick(this.random, [
      `+44 ${area} ${one} ${other}`,
      `+49-${area}-${one}${other}`,
      `(${area}) ${one}-${other}`,
      `${one}${other.slice(1)}`,
      `+1 ${area} ${one} ${other} ext. 7`,
    ]);
  }

  // Composed or not, in lower or upper case.
  #written(word: string): string {
    const form = pick(this.random, ['NFC', 'NFC', 'NFD'] as const);
    const formed = word.normalize(form);
    const chance = this.random();
    if (chance < 0.2) return formed.toUpperCase();
    return chance < 0.6 ? formed.toLowerCase() : formed;
  }
}
