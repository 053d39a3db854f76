// The words of a search as the contract has them, in the plainest way: no code of the product is used here.

const PAIRED: readonly RegExp[] = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\u3006\u3031-\u3035\u303c]$/u,
  /^\p{Script=Thai}$/u,
  /^\p{Script=Lao}$/u,
  /^\p{Script=Khmer}$/u,
];

/** A word with how it was written: in a run of a script without spaces, or by itself. */
export interface PlainWord {
  /** The word, or the pairs of characters of a run. */
  words: string[];
  isRun: boolean;
}

/** The characters of text in the form in which they are compared. */
export function plainCharacters(text: string): string[] {
  const characters = [...text].flatMap((one) => [...one.normalize('NFKD')]);
  return characters
    .filter((one) => !/\p{Mn}/u.test(one))
    .flatMap((one) => [...one.toLowerCase()])
    .map((one) => (one === 'ς' ? 'σ' : one));
}

/** The words and runs of text, in order. */
export function plainWords(text: string): PlainWord[] {
  const groups: { script: number; characters: string[] }[] = [];
  let isBorder = true;
  for (const character of plainCharacters(text)) {
    if (!/[\p{L}\p{M}\p{N}]/u.test(character)) {
      isBorder = true;
      continue;
    }
    const script = PAIRED.findIndex((one) => one.test(character));
    const last = groups.at(-1);
    if (!isBorder && last?.script === script) last.characters.push(character);
    else groups.push({ script, characters: [character] });
    isBorder = false;
  }
  return groups.map(({ script, characters }) => {
    if (script < 0) return { words: [characters.join('')], isRun: false };
    const pairs = characters.slice(0, -1).map((one, at) => one + characters[at + 1]);
    return { words: pairs.length > 0 ? pairs : characters, isRun: true };
  });
}
