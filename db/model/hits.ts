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

/**
 * Whether all words of a query occur in the texts of a record: the first text with one of them, or null. The tier is `name`
 * if those texts that name the record have all of them.
 */
export function hitIn({ terms }: SearchQuery, texts: readonly SearchedText[]): Hit | null {
  const folded: string[] = [];
  const placeIn = (term: Term, at: number): number => {
    const one = texts[at] as SearchedText;
    folded[at] ??= foldedText(one.text);
    const place = placeOf(term, folded[at]);
    return place < 0 && one.isPhone && isPhoneTerm(term, one.text) ? 0 : place;
  };
  let first = texts.length;
  let tier: TextTier = 'name';
  for (const term of terms) {
    const at = texts.findIndex((_, index) => placeIn(term, index) >= 0);
    const found = texts[at];
    if (found === undefined) return null;
    if (found.tier === 'text') tier = 'text';
    first = Math.min(first, at);
  }
  const text = texts[first];
  if (text === undefined) return null;
  const places = terms.map((term) => placeIn(term, first)).filter((place) => place >= 0);
  return { tier, field: text.field, snippet: snippetAt(text.text, Math.min(...places)) };
}

function isPhoneTerm({ word, isPrefix }: Term, text: string): boolean {
  return phoneWords(text).some((digits) => digits === word || (isPrefix && digits.startsWith(word)));
}
