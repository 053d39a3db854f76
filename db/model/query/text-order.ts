// The form in which queries compare text, and the order of text: the same on both engines, because neither does it.

/** Text without regard to case. */
export function lowerCase(text: string): string {
  return text.toLowerCase();
}

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
