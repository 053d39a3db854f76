// Chooses the lists of the search index that lead to the records which match a query.

import type { Db } from '../engine/schema.ts';
import type { TextTier } from '../model/searched.ts';
import { indexedTerm, type Term } from '../model/words.ts';
import { type FirstLists, readBegun } from './ahead.ts';
import { type CandidateSources, readSources } from './candidates.ts';
import { isOfKind, ownerList, resourceList, wordList } from './keys.ts';
import type { SearchPlace } from './places.ts';
import type { BegunLists } from './prefixes.ts';
import { type ReadLists, Source } from './source.ts';

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
  /** The place of the newest one that is wanted. */
  from: SearchPlace;
}

/** What is searched for. */
export interface SearchScope extends WantedLists {
  orgNumber: number;
  lists: ReadLists;
}

// What is left is decided by the content of records.
const TERMS_MAX = 12;

/** Where to look for candidates. */
export interface ChosenSources extends CandidateSources {
  /** How many entries were looked at to find the sources. */
  examined: number;
}

/** The lists that `sourcesOf` reads first. */
export function firstLists(scope: WantedLists): FirstLists {
  const { whole, prefixes } = listsOf(scope);
  const starts = prefixes.flat();
  // Many records have the word that begins in that way as such.
  return { names: [...whole.flat(), ...starts, ...otherLists(scope).flat()], starts, from: scope.from };
}

/** The sources of candidates; null if no record can match. */
export async function sourcesOf(db: Db, scope: SearchScope): Promise<ChosenSources | null> {
  const { terms, tier, orgNumber, lists, from } = scope;
  const { indexed, whole, prefixes } = listsOf(scope);
  const sources = whole.map((names) => new Source(lists, names));
  const first = await readSources(db, orgNumber, sources, from);
  if (first.isEnd) return null;
  if (first.areFew) return { sources: first.sources, texts: null, examined: first.examined };
  const starts = prefixes.flat();
  const examined =
    first.examined + (await readBegun(db, orgNumber, lists, { starts, share: 1 / starts.length }));
  const found = prefixes.map((some) => some.flatMap((start) => lists.begun.get(start)?.lists ?? []));
  // Of others too many words begin in that way.
  const known = found.filter((some, at) => some.length === prefixes[at]?.length);
  for (const some of known) {
    const source = sourceOf(lists, some);
    if (source.isEmpty) return null;
    sources.push(source);
  }
  // Of a long word only the beginning is known.
  const areKnown = terms.every(({ word }, index) => indexed[index]?.word === word);
  const leavesOutNames = tier === 'text' && areKnown && sources.length === terms.length;
  const texts = leavesOutNames ? textsOf(lists, whole.flat(), known.flat()) : null;
  sources.push(...otherLists(scope).map((names) => new Source(lists, names)));
  if (sources.length === 0) sources.push(new Source(lists, scope.resources.map(resourceList)));
  return { sources, texts, examined };
}

// For each word, whole or as a beginning, the lists of records with it, or what begins their names.
function listsOf({ terms, tier }: WantedLists) {
  const indexed = terms.map(indexedTerm);
  const tiers = tiersOf(tier, terms.length);
  const of = (some: readonly Term[]) => {
    // Few records have a long word, mostly: that is read first.
    const inOrder = some.slice(0, TERMS_MAX).sort((one, other) => other.word.length - one.word.length);
    return inOrder.map(({ word }) => tiers.map((one) => wordList(one, word)));
  };
  const whole = of(indexed.filter(({ isPrefix }) => !isPrefix));
  return { indexed, whole, prefixes: of(indexed.filter(({ isPrefix }) => isPrefix)) };
}

// Those that are not of words.
function otherLists({ ownerId, isWhole, resources }: WantedLists): string[][] {
  const owned = ownerId === null ? [] : [[ownerList(ownerId)]];
  return isWhole ? owned : [...owned, resources.map(resourceList)];
}

function sourceOf(lists: ReadLists, some: readonly BegunLists[]): Source {
  const long = some.flatMap((one) => one.long);
  return new Source(
    lists,
    long,
    some.map(({ known }) => known),
  );
}

// What has not all words in its name has one of them in a text.
function textsOf(lists: ReadLists, whole: readonly string[], begun: readonly BegunLists[]): Source {
  const known = begun.map((one) => one.known).filter(({ name }) => isOfKind(name, 'text'));
  const names = [...whole, ...begun.flatMap((one) => one.long)].filter((name) => isOfKind(name, 'text'));
  return new Source(lists, names, known);
}

// What has a single word in its name has nothing to do in the second tier.
function tiersOf(tier: TextTier, terms: number): TextTier[] {
  if (tier === 'name') return ['name'];
  return terms === 1 ? ['text'] : ['name', 'text'];
}
