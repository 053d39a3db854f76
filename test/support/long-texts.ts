// Long text of several scripts, at random: what repeats itself is compressed by PostgreSQL, and fits where other text does not.

const CHARACTERS: Record<string, [first: number, count: number]> = {
  letters: [0x61, 26],
  Greek: [0x3b1, 17],
  CJK: [0x4e00, 20_000],
  emoji: [0x1f300, 0x200],
};

/** The scripts that there is text of, from one byte a character to four. */
export const SCRIPTS = Object.keys(CHARACTERS);

/** So many characters (code points) of a script. */
export function longText(script: string, length = 1_000): string {
  const [first, count] = CHARACTERS[script] ?? [0x61, 26];
  const points = Array.from({ length }, () => first + Math.floor(Math.random() * count));
  return String.fromCodePoint(...points);
}
