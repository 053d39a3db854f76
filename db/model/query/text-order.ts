// The form in which queries compare text, and the order of text: the same on both engines, because neither does it.

/** Text without regard to case. */
export function lowerCase(text: string): string {
  return text.toLowerCase();
}

/**
 * Text in lower case as parts of it are looked for: a sigma that ends a word has a lower case of its own, so that a part that
 * ends with one would not be found within a word.
 */
export function partText(lower: string): string {
  return lower.replaceAll(FINAL_SIGMA, SIGMA);
}

/** The first text, in the order of texts, that is looked for as this one. */
export function firstPartText(lower: string): string {
  return lower.replaceAll(SIGMA, FINAL_SIGMA);
}

// Next to each other in the order of code points.
const FINAL_SIGMA = 'ς';
const SIGMA = 'σ';
const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xdfff;

/** The order of two texts by their code points, which is that of their bytes in UTF-8. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  if (at === length) return one.length - other.length;
  return rankOf(one.charCodeAt(at)) - rankOf(other.charCodeAt(at));
}

// A surrogate is part of a character after all those that are no pair.
function rankOf(unit: number): number {
  return unit >= SURROGATES_FROM && unit <= SURROGATES_TO ? unit + 0x10000 : unit;
}
