// Chooses the lists of the search index that lead to the records which match a query.

import type { Db } from '../engine/schema.ts';
import type { TextTier } from '../model/searched.ts';
import { indexedTerm, type Term } from '../model/words.ts';
import type { FirstLists, ReadAhead } from './search-ahead.ts';
import { readParts } from './search-candidates.ts';
import { ownerList, resourceList, wordList } from './search-keys.ts';
import { LAST_PLACE } from './search-places.ts';
import { type BegunLists, findBegun } from './search-prefixes.ts';
import type { Run } from './search-runs.ts';
import { Source } from './search-source.ts';

/** What tells which lists are looked at. */
export interface WantedLists {
  terms: readonly Term[];
  tier: TextTier;
  /** The numbers of the resources that are wanted. */
  resources: readonly number[];
  /** Whether these are all that are searched. */
  isWhole: boolean;
  /** The user whose records are wanted; null for all. */
  ownerId: string | null;
}

/** What is searched for. */
export interface SearchScope extends WantedLists {
  orgNumber: number;
  /** The newest first. */
  runs: readonly Run[];
  /** What was read ahead, if anything was. */
  ahead: ReadAhead | null;
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

/** The lists that `sourcesOf` reads first. */
export function firstLists(scope: WantedLists): FirstLists {
  const { whole, prefixes } = listsOf(scope);
  const starts = prefixes.flat();
  // Many records have the word that begins in that way as such.
  return { names: [...whole.flat(), ...starts, ...otherLists(scope).flat()], starts };
}

/** The sources of candidates; null if no record can match. */
export async function sourcesOf(db: Db, scope: SearchScope): Promise<ChosenSources | null> {
  const { terms, tier, orgNumber, runs, ahead } = scope;
  const { indexed, whole, prefixes } = listsOf(scope);
  const sourceOf = (names: readonly string[]) => new Source(names, runs, { newest: ahead?.newest });
  const sources = whole.map(sourceOf);
  let examined = prefixes.length === 0 ? 0 : await readParts(db, orgNumber, sources, LAST_PLACE);
  const areFew = sources.some(({ entriesRead }) => entriesRead <= FEW);
  for (const found of areFew ? [] : await begunBy(db, scope, prefixes)) {
    if (ahead === null) examined += found.reduce((sum, one) => sum + (one?.examined ?? 0), 0);
    const known = found.flatMap((one) => one?.known ?? []);
    // Too many words begin in that way.
    if (known.length < found.length) continue;
    const long = found.flatMap((one) => one?.long ?? []);
    const source = new Source(long, runs, { known, newest: ahead?.newest });
    if (source.isEmpty) return null;
    sources.push(source);
  }
  const ofWords = sources.length;
  sources.push(...otherLists(scope).map(sourceOf));
  if (sources.length === 0) sources.push(sourceOf(scope.resources.map(resourceList)));
  // Of a long word only the beginning is known.
  const areKnown = terms.every(({ word }, index) => indexed[index]?.word === word);
  const leavesOutNames = tier === 'text' && areKnown && ofWords === terms.length;
  return { sources, leavesOutNames, examined };
}

// For each word, whole or as a beginning, the lists of records with it, or what begins their names.
function listsOf({ terms, tier }: WantedLists) {
  const indexed = terms.map(indexedTerm);
  const tiers = tiersOf(tier, terms.length);
  const of = (some: readonly Term[]) =>
    some.slice(0, TERMS_MAX).map(({ word }) => tiers.map((one) => wordList(one, word)));
  const whole = of(indexed.filter(({ isPrefix }) => !isPrefix));
  return { indexed, whole, prefixes: of(indexed.filter(({ isPrefix }) => isPrefix)) };
}

// Those that are not of words.
function otherLists({ ownerId, isWhole, resources }: WantedLists): string[][] {
  const owned = ownerId === null ? [] : [[ownerList(ownerId)]];
  return isWhole ? owned : [...owned, resources.map(resourceList)];
}

// What begins in these ways, of each word.
async function begunBy(
  db: Db,
  { orgNumber, runs, ahead }: SearchScope,
  prefixes: readonly string[][],
): Promise<(BegunLists | null)[][]> {
  if (ahead !== null) return prefixes.map((some) => some.map((start) => ahead.begun.get(start) ?? null));
  const starts = prefixes.flat();
  const found = await findBegun(db, orgNumber, { runs, starts, share: 1 / starts.length });
  return prefixes.map((some) => found.splice(0, some.length));
}

// What has a single word in its name has nothing to do in the second tier.
function tiersOf(tier: TextTier, terms: number): TextTier[] {
  if (tier === 'name') return ['name'];
  return terms === 1 ? ['text'] : ['name', 'text'];
}
