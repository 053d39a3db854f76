// What a search looks for: the words of its query.

import { blankFault, type Fault, limitFault, requiredFault } from './faults.ts';
import { isBlank } from './text.ts';
import { foldedText, pairsOf, stretchesOf, type Term } from './words.ts';

/** Maximum number of characters of a query, without the spaces around it. */
export const QUERY_CHARACTERS_MAX = 256;
/** Maximum number of words of a query; a run of a script without borders between words counts as one. */
export const QUERY_WORDS_MAX = 10;
// A shorter last word would begin too many words.
const PREFIX_CHARACTERS_MIN = 2;

/** A query that has no faults. */
export interface SearchQuery {
  /** Without the spaces around it. */
  readonly text: string;
  /** All of them must occur in a record; each is different. */
  readonly terms: readonly Term[];
}

/** Reads a query; returns its faults, at `path`, if there are any. */
export function queryOf(q: string | undefined, path = 'q'): { query: SearchQuery } | { faults: Fault[] } {
  const text = q?.trim() ?? '';
  const stretches = stretchesOf(foldedText(text));
  const fault = faultOf(q, text, stretches.length, path);
  if (fault !== undefined) return { faults: [fault] };
  const terms = stretches.flatMap(({ text: word, isRun }, at): Term[] => {
    if (!isRun) return [{ word, isPrefix: at === stretches.length - 1 && isLong(word) }];
    return pairsOf(word).map((pair) => ({ word: pair, isPrefix: !isLong(pair) }));
  });
  return { query: { text, terms: withoutRepeats(terms) } };
}

function isLong(word: string): boolean {
  return [...word].length >= PREFIX_CHARACTERS_MIN;
}

function faultOf(q: string | undefined, text: string, words: number, path: string): Fault | undefined {
  if (q === undefined) return requiredFault(path);
  if (isBlank(text)) return blankFault(path);
  if ([...text].length > QUERY_CHARACTERS_MAX) return limitFault(path, 'maxLength', QUERY_CHARACTERS_MAX);
  if (words === 0) {
    return { path, message: 'must contain a letter or a digit', code: 'VALIDATION_INVALID_FORMAT' };
  }
  if (words > QUERY_WORDS_MAX) {
    const message = `must have at most ${QUERY_WORDS_MAX} words; it has ${words}`;
    return { path, message, code: 'VALIDATION_OUT_OF_RANGE' };
  }
  return undefined;
}

// A word that occurs as such also occurs as the beginning of one.
function withoutRepeats(terms: readonly Term[]): Term[] {
  const whole = new Set(terms.flatMap(({ word, isPrefix }) => (isPrefix ? [] : word)));
  const begun = new Set(terms.flatMap(({ word, isPrefix }) => (isPrefix && !whole.has(word) ? word : [])));
  return terms.flatMap((term) => ((term.isPrefix ? begun : whole).delete(term.word) ? [term] : []));
}
