// Decides by its texts whether a record matches a query, where, and which part of it shows that.

import type { SearchQuery } from './search-query.ts';
import { phoneWords, type SearchedText, type TextTier } from './searched.ts';
import { snippetAt } from './snippet.ts';
import { foldedText, placeOf, type Term } from './words.ts';

/** Where a record matches a query. */
export interface Hit {
  tier: TextTier;
  field: string;
  snippet: string;
}

/** Finds terms in texts, each of which is folded once. */
function placesIn(
  texts: readonly SearchedText[],
  folded: (string | undefined)[],
): (term: Term, at: number) => number {
  return (term, at) => {
    const one = texts[at];
    if (one === undefined) return -1;
    folded[at] ??= foldedText(one.text);
    const place = placeOf(term, folded[at]);
    return place < 0 && one.isPhone && isPhoneTerm(term, one.text) ? 0 : place;
  };
}

/**
 * Whether all words of a query occur in the texts of a record, and where: the first text that has all of them, or else the
 * first that has one. The tier is `name` if the texts that name the record have all of them.
 * @param folded the folded texts; those that are missing are added as they are needed
 */
export function hitIn(
  { terms }: SearchQuery,
  texts: readonly SearchedText[],
  folded: (string | undefined)[] = [],
): Hit | null {
  const placeIn = placesIn(texts, folded);
  let tier: TextTier = 'name';
  let first = texts.length;
  for (const term of terms) {
    const at = texts.findIndex((_, index) => placeIn(term, index) >= 0);
    const found = texts[at];
    if (found === undefined) return null;
    if (found.tier === 'text') tier = 'text';
    first = Math.min(first, at);
  }
  const whole = texts.findIndex(
    (one, at) => (tier === 'text' || one.tier === tier) && terms.every((term) => placeIn(term, at) >= 0),
  );
  const at = whole < 0 ? first : whole;
  const shown = texts[at];
  if (shown === undefined) return null;
  const places = terms.map((term) => placeIn(term, at)).filter((place) => place >= 0);
  return { tier, field: shown.field, snippet: snippetAt(shown.text, Math.min(...places)) };
}

function isPhoneTerm({ word, isPrefix }: Term, text: string): boolean {
  return phoneWords(text).some((digits) => digits === word || (isPrefix && digits.startsWith(word)));
}
