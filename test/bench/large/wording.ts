// Names, sentences and numbers of people and companies, drawn from the vocabulary of a script.
import { Draw, type Ranked } from './draw.ts';
import { FORMS, MAIL_HOSTS, PLACES, SCRIPTS, type Script, TLDS, TRADES } from './vocabulary.ts';

// So many different ones there are, the rarest of them once in a large database.
const FIRST_NAMES = 4_000;
const LAST_NAMES = 60_000;
const WORDS = 25_000;
const BRANDS = 40_000;
// More evenly than words: the most common last name has about one in a hundred.
const NAME_STEEPNESS = 0.8;

interface Ranks {
  first: Ranked;
  last: Ranked;
  word: Ranked;
}

export interface Name {
  script: Script;
  first: string;
  last: string;
}

/** Draws texts; the same ones for the same seed. */
export class Wording {
  readonly draw: Draw;
  readonly #ranks: ReadonlyMap<Script, Ranks>;
  readonly #brand: Ranked;

  constructor(seed: number) {
    const draw = new Draw(seed);
    const ranksOf = ({ share }: Script): Ranks => {
      // A script with fewer people has fewer names.
      const of = (count: number) => Math.max(100, Math.ceil(count * Math.sqrt(share)));
      return {
        first: draw.ranked(of(FIRST_NAMES), NAME_STEEPNESS),
        last: draw.ranked(of(LAST_NAMES), NAME_STEEPNESS),
        word: draw.ranked(of(WORDS)),
      };
    };
    this.draw = draw;
    this.#ranks = new Map(SCRIPTS.map((script) => [script, ranksOf(script)]));
    this.#brand = draw.ranked(BRANDS, 0.5);
  }

  script(): Script {
    let left = this.draw.share();
    for (const script of SCRIPTS) {
      left -= script.share;
      if (left < 0) return script;
    }
    return SCRIPTS[0] as Script;
  }

  name(): Name {
    const script = this.script();
    const ranks = this.#ranksOf(script);
    const first = wordAt(script, script.firstNames, ranks.first());
    return { script, first, last: wordAt(script, script.lastNames, ranks.last()) };
  }

  /** A few words in a row. */
  words(script: Script, count: number): string {
    const { word } = this.#ranksOf(script);
    const all = Array.from({ length: count }, () => wordAt(script, script.words, word()).toLowerCase());
    return all.join(script.gap);
  }

  /** A sentence of so many words, in that script. */
  sentence(script: Script, low: number, high: number): string {
    const text = this.words(script, this.draw.between(low, high));
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
  }

  company(): { name: string; domain: string } {
    const { draw } = this;
    const script = this.script();
    const brand = coined(script, this.#brand());
    const trade = draw.one(TRADES as [string, ...string[]]);
    const latin = script.name === 'latin' ? brand : coined(SCRIPTS[0] as Script, this.#brand());
    return {
      name: `${brand} ${trade} ${draw.one(FORMS)}`,
      domain: `${latin}${draw.happens(0.5) ? `-${trade}` : ''}.${draw.one(TLDS)}`.toLowerCase(),
    };
  }

  /** What stands before the @, from the name where that is written in Latin. */
  mailbox({ script, first, last }: Name): string {
    const [given, family] =
      script.name === 'latin'
        ? [first, last]
        : [this.#transcribed(FIRST_NAMES), this.#transcribed(LAST_NAMES)];
    const plain = (text: string) =>
      text
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^a-z]/g, '');
    const [a, b] = [plain(given), plain(family)];
    const forms = [`${a}.${b}`, `${a}.${b}`, `${a.slice(0, 1)}${b}`, `${a}_${b}`, `${a}${b.slice(0, 1)}`];
    return this.draw.one(forms as [string, ...string[]]);
  }

  mailHost(): string {
    return this.draw.one(MAIL_HOSTS);
  }

  phone(): string {
    const [, , calling] = this.place();
    return `+${calling} ${this.draw.between(1_000, 9_999)} ${this.draw.between(1_000, 9_999)}`;
  }

  place(): (typeof PLACES)[number] {
    return PLACES[this.draw.below(PLACES.length)] as (typeof PLACES)[number];
  }

  #transcribed(names: number): string {
    return coined(SCRIPTS[0] as Script, this.draw.below(names));
  }

  #ranksOf(script: Script): Ranks {
    return this.#ranks.get(script) as Ranks;
  }
}

const wordAt = (script: Script, common: readonly string[], rank: number) =>
  common[rank] ?? coined(script, rank - common.length);

/** A word of that number, out of syllables. */
function coined({ syllables }: Script, number: number): string {
  const { length } = syllables;
  let text = '';
  // Two syllables at least.
  for (let rest = number + length; rest > 0; rest = Math.floor(rest / length))
    text += syllables[rest % length] ?? '';
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
