// Chooses the lists of the search index that lead to the records which match a query.

import type { Db } from '../engine/schema.ts';
import type { TextTier } from '../model/searched.ts';
import { indexedTerm, type Term } from '../model/words.ts';
import { readParts } from './search-candidates.ts';
import { ownerList, resourceList, wordList } from './search-keys.ts';
import { LAST_PLACE } from './search-places.ts';
import { findBegun } from './search-prefixes.ts';
import type { Run } from './search-runs.ts';
import { Source } from './search-source.ts';

/** What is searched for. */
export interface SearchScope {
  orgNumber: number;
  /** The newest first. */
  runs: readonly Run[];
  terms: readonly Term[];
  tier: TextTier;
  /** The numbers of the resources that are wanted. */
  resources: readonly number[];
  /** Whether these are all that are searched. */
  isWhole: boolean;
  /** The user whose records are wanted; null for all. */
  ownerId: string | null;
}

// What is left is decided by the content of records.
const TERMS_MAX = 12;
// Of so few records the content is read sooner than all words that begin in some way.
const FEW = 16;

/** Where to look for candidates. */
export interface ChosenSources {
  sources: Source[];
  /** Whether those whose name has all words need not be looked at: they are in the first tier. */
  leavesOutNames: boolean;
  /** How many entries were looked at to find the sources. */
  examined: number;
}

/** The sources of candidates; null if no record can match. */
export async function sourcesOf(db: Db, scope: SearchScope): Promise<ChosenSources | null> {
  const { terms, tier, orgNumber, runs, ownerId } = scope;
  const indexed = terms.map(indexedTerm);
  const tiers = tiersOf(tier, terms.length);
  const listsOf = (word: string) => tiers.map((one) => wordList(one, word));
  const whole = indexed.filter(({ isPrefix }) => !isPrefix).slice(0, TERMS_MAX);
  const sources = whole.map(({ word }) => new Source(listsOf(word), runs));
  let examined = whole.length === terms.length ? 0 : await readParts(db, orgNumber, sources, LAST_PLACE);
  const areFew = sources.some(({ entriesRead }) => entriesRead <= FEW);
  const prefixes = areFew ? [] : indexed.filter(({ isPrefix }) => isPrefix).slice(0, TERMS_MAX);
  const starts = prefixes.map(({ word }) => listsOf(word));
  const share = 1 / starts.flat().length;
  const begun = await Promise.all(
    starts.map((some) => Promise.all(some.map((start) => findBegun(db, orgNumber, { runs, start, share })))),
  );
  for (const some of begun) {
    const found = some.flatMap((one) => one ?? []);
    examined += found.reduce((sum, one) => sum + one.examined, 0);
    // Too many words begin in that way.
    if (found.length < some.length) continue;
    const source = new Source(
      found.flatMap(({ long }) => long),
      runs,
      found.map(({ known }) => known),
    );
    if (source.isEmpty) return null;
    sources.push(source);
  }
  const ofWords = sources.length;
  if (ownerId !== null) sources.push(new Source([ownerList(ownerId)], runs));
  if (!scope.isWhole || sources.length === 0)
    sources.push(new Source(scope.resources.map(resourceList), runs));
  // Of a long word only the beginning is known.
  const areKnown = terms.every(({ word }, index) => indexed[index]?.word === word);
  const leavesOutNames = tier === 'text' && areKnown && ofWords === terms.length;
  return { sources, leavesOutNames, examined };
}

// What has a single word in its name has nothing to do in the second tier.
function tiersOf(tier: TextTier, terms: number): TextTier[] {
  if (tier === 'name') return ['name'];
  return terms === 1 ? ['text'] : ['name', 'text'];
}
