// Records that can match a search, from the index, newest first: each is in one list of every source.

import type { Db } from '../engine/schema.ts';
import { hasPlace } from './search-blocks.ts';
import {
  findBlocks,
  isOfKind,
  type ListKind,
  type ListPlace,
  readBlock,
  type SearchBlock,
} from './search-lists.ts';
import { comparePlaces, previousPlace, type SearchEntry, type SearchPlace } from './search-places.ts';

const FIRST_PLACE: SearchPlace = { ms: 0, count: 0 };
// Looked up in the other lists together.
const CANDIDATES_AT_ONCE = 64;
const LOOKUPS_AT_ONCE = 1_500;

/** A list as far as it is read. */
interface ReadList {
  readonly name: string;
  /** The block that contains what is next; null if there is nothing more, undefined before it is read. */
  block: SearchBlock | null | undefined;
}

/** Lists; a record must be in one of them. */
export class Source {
  readonly lists: readonly ReadList[];

  /** @param lists their names, or a block that contains all of a list */
  constructor(lists: readonly (string | SearchBlock)[]) {
    this.lists = lists.map((one) =>
      typeof one === 'string' ? { name: one, block: undefined } : { name: one.list, block: one },
    );
  }

  /** From this place on, its blocks contain all that is next. */
  get low(): SearchPlace {
    return this.lists.reduce((low, { block }) => laterOf(low, block?.first ?? FIRST_PLACE), FIRST_PLACE);
  }

  /** Whether one of its lists of that kind has an entry, as far as its blocks are read. */
  hasIn(kind: ListKind, entry: SearchEntry): boolean {
    return this.lists.some(
      ({ name, block }) => isOfKind(name, kind) && hasPlace(block?.entries ?? [], entry),
    );
  }

  /** The lists whose next block, which contains what is at a place or before it, is not read yet. */
  unread(at: SearchPlace): ReadList[] {
    return this.lists.filter(
      ({ block }) => block === undefined || (block !== null && isLater(block.first, at)),
    );
  }

  /** The newest entries down to a place, each once. */
  entries(at: SearchPlace, low: SearchPlace, max: number): SearchEntry[] {
    const blocks = this.lists.flatMap(({ block }) => block?.entries ?? []);
    const wanted = blocks.filter((one) => !isLater(one, at) && !isLater(low, one));
    const inOrder = wanted.sort((one, other) => comparePlaces(other, one));
    const distinct = inOrder.filter(
      (one, index) => index === 0 || comparePlaces(one, inOrder[index - 1] as SearchEntry) !== 0,
    );
    return distinct.slice(0, max);
  }
}

function isLater(one: SearchPlace, other: SearchPlace): boolean {
  return comparePlaces(one, other) > 0;
}

function isOfWords({ lists }: Source): boolean {
  return lists.some(({ name }) => isOfKind(name, 'name') || isOfKind(name, 'text'));
}

function isNamed(source: Source, entry: SearchEntry): boolean {
  return !isOfWords(source) || source.hasIn('name', entry);
}

function laterOf(one: SearchPlace, other: SearchPlace): SearchPlace {
  return isLater(one, other) ? one : other;
}

/** Candidates of a part of the index. */
export interface Candidates {
  entries: readonly SearchEntry[];
  /** All candidates from this place on were returned; null if there are no more. */
  reached: SearchPlace | null;
}

/** The candidates of several sources, read some at a time. */
export class CandidateStream {
  /** How many entries of lists were looked at. */
  examined = 0;
  /** Whether candidates are left out that the first tier has: those whose name has all words. */
  readonly #leavesOutNames: boolean;
  readonly #db: Db;
  readonly #orgNumber: number;
  readonly #sources: readonly Source[];
  readonly #atOnce: number;
  #next: SearchPlace | null;

  /**
   * @param sources at least one; `leavesOutNames` if those of all words are among them, and the others are not of words
   * @param from the place of the newest one that is wanted
   */
  constructor(
    db: Db,
    orgNumber: number,
    { sources, leavesOutNames }: { sources: readonly Source[]; leavesOutNames: boolean },
    from: SearchPlace,
  ) {
    this.#db = db;
    this.#orgNumber = orgNumber;
    this.#sources = sources;
    this.#leavesOutNames = leavesOutNames;
    const lists = sources.reduce((sum, one) => sum + one.lists.length, 0);
    this.#atOnce = Math.max(1, Math.min(CANDIDATES_AT_ONCE, Math.floor(LOOKUPS_AT_ONCE / lists)));
    this.#next = from;
  }

  /** The next candidates, possibly none although there are more. */
  async next(): Promise<Candidates> {
    const at = this.#next;
    if (at === null) return { entries: [], reached: null };
    await this.#readAt(at);
    // The one with the fewest entries here.
    const [lead, ...others] = this.#sources.toSorted((one, other) => comparePlaces(one.low, other.low));
    if (lead === undefined) throw new Error('no source');
    const found = lead.entries(at, lead.low, this.#atOnce);
    this.examined += found.length;
    const isCut = found.length === this.#atOnce;
    const reached = isCut ? (found.at(-1) as SearchEntry) : lead.low;
    let entries: readonly SearchEntry[] = found;
    let named = new Set(this.#leavesOutNames ? found.filter((one) => isNamed(lead, one)) : []);
    // Those with few lists take less to look up.
    others.sort((one, other) => one.lists.length - other.lists.length);
    for (const other of others) ({ entries, named } = await this.#among(other, entries, named));
    if (named.size > 0) entries = entries.filter((one) => !named.has(one));
    const isEnd = comparePlaces(reached, FIRST_PLACE) === 0;
    this.#next = isEnd ? null : previousPlace(reached);
    return { entries, reached: isEnd ? null : reached };
  }

  async #readAt(at: SearchPlace): Promise<void> {
    const unread = this.#sources.flatMap((source) => source.unread(at));
    const blocks = await this.#find(unread.map(({ name }): ListPlace => [name, at]));
    const byList = new Map(blocks.map((block) => [block.list, block]));
    for (const list of unread) {
      const block = byList.get(list.name);
      list.block = block === undefined || isLater(block.first, at) ? null : block;
    }
  }

  // Those of the entries, newest first, that are in a list of the source; and of the named ones those that it names as well.
  async #among(
    source: Source,
    entries: readonly SearchEntry[],
    named: ReadonlySet<SearchEntry>,
  ): Promise<{ entries: SearchEntry[]; named: Set<SearchEntry> }> {
    const wanted: [string, SearchEntry][] = [];
    const isIn = new Set<SearchEntry>();
    const isNamedThere = new Set<SearchEntry>();
    const note = (name: string, entry: SearchEntry) => {
      isIn.add(entry);
      if (isOfKind(name, 'name') || !isOfWords(source)) isNamedThere.add(entry);
    };
    for (const entry of entries)
      for (const { name, block } of source.lists) {
        if (block === null || block === undefined) continue;
        if (isLater(block.first, entry)) wanted.push([name, entry]);
        else if (hasPlace(block.entries, entry)) note(name, entry);
      }
    const left = this.#leavesOutNames ? wanted : wanted.filter(([, entry]) => !isIn.has(entry));
    const blocks = Map.groupBy(await this.#find(left), ({ list }) => list);
    for (const [name, entry] of left)
      if (blocks.get(name)?.some((block) => hasPlace(block.entries, entry))) note(name, entry);
    return {
      entries: entries.filter((entry) => isIn.has(entry)),
      named: named.intersection(isNamedThere),
    };
  }

  async #find(places: readonly ListPlace[]): Promise<SearchBlock[]> {
    this.examined += places.length;
    return (await findBlocks(this.#db, this.#orgNumber, places)).map(readBlock);
  }
}
