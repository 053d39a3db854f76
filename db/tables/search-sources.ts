// Chooses the lists of the search index that lead to the records which match a query.

import type { Db } from '../engine/schema.ts';
import type { TextTier } from '../model/searched.ts';
import { indexedTerm, type Term } from '../model/words.ts';
import { ENTRY_BYTES } from './search-blocks.ts';
import { Source } from './search-candidates.ts';
import {
  findLists,
  listBlocks,
  ownerList,
  resourceList,
  type SearchBlock,
  wordList,
} from './search-lists.ts';
import { comparePlaces } from './search-places.ts';

/** What is searched for. */
export interface SearchScope {
  orgNumber: number;
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
// Longer prefixes have few words; those with more are read as a whole, or not at all.
const PREFIX_LISTS_MAX = 64;
const PREFIX_BLOCKS_MAX = 1_000;
const PREFIX_ENTRIES_MAX = 2_000;

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
  const { terms, tier, orgNumber, ownerId } = scope;
  const sources: Source[] = [];
  let examined = 0;
  const indexed = terms.map(indexedTerm);
  for (const { word } of indexed.filter(({ isPrefix }) => !isPrefix).slice(0, TERMS_MAX))
    sources.push(new Source(tiersOf(tier, terms.length).map((one) => wordList(one, word))));
  const prefixes = indexed.filter(({ isPrefix }) => isPrefix).slice(0, TERMS_MAX);
  for (const { word } of prefixes) {
    const starts = tiersOf(tier, terms.length).map((one) => wordList(one, word));
    const begun = await prefixSource(db, orgNumber, starts, prefixes.length);
    examined += begun.examined;
    if (begun.source === null) continue;
    if (begun.source.lists.length === 0) return null;
    sources.push(begun.source);
  }
  const ofWords = sources.length;
  if (ownerId !== null) sources.push(new Source([ownerList(ownerId)]));
  if (!scope.isWhole || sources.length === 0) sources.push(new Source(scope.resources.map(resourceList)));
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

// The source is null if too many words begin in that way. All that are sought share what may be examined.
async function prefixSource(
  db: Db,
  orgNumber: number,
  starts: readonly string[],
  sought: number,
): Promise<{ source: Source | null; examined: number }> {
  const [listsMax, blocksMax, entriesMax] = [PREFIX_LISTS_MAX, PREFIX_BLOCKS_MAX, PREFIX_ENTRIES_MAX].map(
    (max) => Math.floor(max / sought / starts.length),
  ) as [number, number, number];
  const found = await Promise.all(starts.map((start) => findLists(db, orgNumber, start, listsMax + 1)));
  const lists = found.flat();
  let examined = lists.length;
  if (found.every(({ length }) => length <= listsMax)) return { source: new Source(lists), examined };
  const whole: SearchBlock[] = [];
  for (const start of starts) {
    const blocks = await listBlocks(db, orgNumber, start, { blocksMax, bytesMax: entriesMax * ENTRY_BYTES });
    if (blocks === null) return { source: null, examined: examined + entriesMax };
    const entries = blocks.flatMap((block) => block.entries);
    examined += entries.length;
    whole.push({ list: start, first: { ms: 0, count: 0 }, entries: entries.sort(comparePlaces) });
  }
  return { source: new Source(whole), examined };
}
