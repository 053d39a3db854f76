// Chooses the lists of the search index that lead to the records which match a query.

import type { Db } from '../engine/schema.ts';
import type { TextTier } from '../model/searched.ts';
import { indexedTerm, type Term } from '../model/words.ts';
import { type CandidateSources, readSources } from './search-candidates.ts';
import { isOfKind, ownerList, resourceList, wordList } from './search-keys.ts';
import type { SearchPlace } from './search-places.ts';
import { type BegunLists, findBegun } from './search-prefixes.ts';
import { type ReadLists, Source } from './search-source.ts';

/** What is searched for. */
export interface SearchScope {
  orgNumber: number;
  lists: ReadLists;
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

// What is left is decided by the content of records.
const TERMS_MAX = 12;

/** Where to look for candidates. */
export interface ChosenSources extends CandidateSources {
  /** How many entries were looked at to find the sources. */
  examined: number;
}

/** The sources of candidates; null if no record can match. */
export async function sourcesOf(db: Db, scope: SearchScope): Promise<ChosenSources | null> {
  const { terms, tier, orgNumber, lists, ownerId, from } = scope;
  const indexed = terms.map(indexedTerm);
  const tiers = tiersOf(tier, terms.length);
  const listsOf = (word: string) => tiers.map((one) => wordList(one, word));
  const whole = indexed.filter(({ isPrefix }) => !isPrefix).slice(0, TERMS_MAX);
  // Few records have a long word, mostly.
  whole.sort((one, other) => other.word.length - one.word.length);
  const sources = whole.map(({ word }) => new Source(lists, listsOf(word)));
  const first = await readSources(db, orgNumber, sources, from);
  if (first.isEnd) return null;
  if (first.areFew) return { sources: first.sources, texts: null, examined: first.examined };
  let { examined } = first;
  const prefixes = indexed.filter(({ isPrefix }) => isPrefix).slice(0, TERMS_MAX);
  const starts = prefixes.map(({ word }) => listsOf(word));
  const share = 1 / starts.flat().length;
  const begun = await Promise.all(
    starts.map((some) => Promise.all(some.map((start) => begunBy(db, scope, { start, share })))),
  );
  const found = begun.map((some) => some.flatMap((one) => one ?? []));
  examined += found.flat().reduce((sum, one) => sum + one.examined, 0);
  // Of others too many words begin in that way.
  const known = found.filter((some) => some.length === tiers.length);
  for (const some of known) {
    const source = sourceOf(lists, some);
    if (source.isEmpty) return null;
    sources.push(source);
  }
  // Of a long word only the beginning is known.
  const areKnown = terms.every(({ word }, index) => indexed[index]?.word === word);
  const leavesOutNames = tier === 'text' && areKnown && sources.length === terms.length;
  const texts = leavesOutNames ? textsOf(lists, whole, known.flat()) : null;
  if (ownerId !== null) sources.push(new Source(lists, [ownerList(ownerId)]));
  if (!scope.isWhole || sources.length === 0)
    sources.push(new Source(lists, scope.resources.map(resourceList)));
  return { sources, texts, examined };
}

async function begunBy(
  db: Db,
  { orgNumber, lists }: SearchScope,
  { start, share }: { start: string; share: number },
): Promise<BegunLists | null> {
  const before = lists.begun.get(start);
  if (before !== undefined) return before && { ...before, examined: 0 };
  const found = await findBegun(db, orgNumber, { runs: lists.runs, start, share });
  lists.begun.set(start, found);
  return found;
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
function textsOf(lists: ReadLists, whole: readonly Term[], begun: readonly BegunLists[]): Source {
  const known = begun.map((one) => one.known).filter(({ name }) => isOfKind(name, 'text'));
  const long = begun.flatMap((one) => one.long).filter((name) => isOfKind(name, 'text'));
  return new Source(lists, [...whole.map(({ word }) => wordList('text', word)), ...long], known);
}

// What has a single word in its name has nothing to do in the second tier.
function tiersOf(tier: TextTier, terms: number): TextTier[] {
  if (tier === 'name') return ['name'];
  return terms === 1 ? ['text'] : ['name', 'text'];
}
