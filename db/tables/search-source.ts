// Lists of the search index, one of which must have a record, as far as a search has read them.

import { type Entries, entryAt, mergeEntries, REMOVED } from './search-blocks.ts';
import { isOfKind, type ListKind } from './search-keys.ts';
import type { ListPart } from './search-parts.ts';
import { comparePlaces, FIRST_PLACE, type SearchEntry, type SearchPlace } from './search-places.ts';
import type { Run } from './search-runs.ts';

/** What a run has of a list, as far as it is read. */
export interface RunList {
  readonly name: string;
  readonly run: Run;
  /** The part that contains what is next; null if there is nothing more, undefined before it is read. */
  part: ListPart | null | undefined;
}

/** What a run says of a record in a list, where the part that would tell is not the one that is read. */
export type LookedUp = (list: RunList) => SearchEntry | undefined;

/** By the names of lists, the newest part in each run, in the order of the runs. */
export type NewestParts = ReadonlyMap<string, readonly (ListPart | null)[]>;

/** Lists, one of which must have a record. */
export class Source {
  /** Of each list its runs, the newest first. */
  readonly lists: readonly (readonly RunList[])[];
  readonly #known: readonly { name: string; entries: Entries }[];

  /**
   * @param names the names of the lists
   * @param known entries of others, of which all are known
   * @param newest of lists that were read ahead, the newest part in each run
   */
  constructor(
    names: readonly string[],
    runs: readonly Run[],
    {
      known = [],
      newest,
    }: { known?: readonly { name: string; entries: Entries }[]; newest?: NewestParts | undefined } = {},
  ) {
    this.lists = names.map((name) => {
      const parts = newest?.get(name);
      return runs.map((run, index): RunList => ({ name, run, part: parts?.[index] }));
    });
    this.#known = known;
  }

  /** How many lists there are to read in. */
  get size(): number {
    return this.lists.reduce((sum, { length }) => sum + length, this.#known.length);
  }

  /** How many entries are read or known. */
  get entriesRead(): number {
    const read = this.lists.flat().reduce((sum, { part }) => sum + (part?.entries.length ?? 0), 0);
    return this.#known.reduce((sum, { entries }) => sum + entries.length, read);
  }

  /** Whether no list has anything. */
  get isEmpty(): boolean {
    return this.lists.length === 0 && this.#known.every(({ entries }) => entries.length === 0);
  }

  /** Whether its lists are of words. */
  get isOfWords(): boolean {
    const isOfWord = (name: string) => isOfKind(name, 'name') || isOfKind(name, 'text');
    return (
      this.lists.some(([one]) => one && isOfWord(one.name)) || this.#known.some(({ name }) => isOfWord(name))
    );
  }

  /** Whether it has nothing at a place that is read, nor before it. */
  endsBefore(at: SearchPlace): boolean {
    const isOver = (oldest: SearchPlace | undefined) => oldest === undefined || isLater(oldest, at);
    return (
      this.lists.every((runs) => runs.every(({ part }) => part !== undefined && isOver(part?.first))) &&
      this.#known.every(({ entries }) => isOver(entries[0]))
    );
  }

  /** From this place on, what is read contains all that is next. */
  get low(): SearchPlace {
    const parts = this.lists.flat().map(({ part }) => part?.from ?? FIRST_PLACE);
    return parts.reduce(laterOf, FIRST_PLACE);
  }

  /** The lists of runs whose part with what is at a place or before it is not read yet. */
  unread(at: SearchPlace): RunList[] {
    return this.lists
      .flat()
      .filter(({ part }) => part === undefined || (part !== null && isLater(part.from, at)));
  }

  /** The newest entries down to a place, each once. */
  entries(at: SearchPlace, low: SearchPlace, max: number): SearchEntry[] {
    const isWanted = (one: SearchEntry) =>
      one.resource !== REMOVED && !isLater(one, at) && !isLater(low, one);
    const ofLists = this.lists.map((runs) => mergeEntries(runs.map(({ part }) => part?.entries ?? [])));
    const all = [...ofLists, ...this.#known.map(({ entries }) => entries)];
    const inOrder = mergeEntries(all.map((entries) => entries.filter(isWanted)));
    return inOrder.slice(-max).reverse();
  }

  /** The lists of runs in which a record must be looked up. */
  unknown(entry: SearchEntry): RunList[] {
    return this.lists.flatMap((runs) => {
      const open: RunList[] = [];
      for (const list of runs) {
        if (!canHave(list, entry)) continue;
        if (!isRead(list, entry)) open.push(list);
        else if (entryAt(list.part?.entries ?? [], entry) !== undefined) break;
      }
      return open;
    });
  }

  /** Whether a record is in one of the lists, or could be found there if it was looked up. */
  mayHave(entry: SearchEntry): boolean {
    return this.unknown(entry).length > 0 || this.has(entry, () => undefined);
  }

  /** Whether a record is in one of the lists; with a kind, in one of that kind. */
  has(entry: SearchEntry, lookedUp: LookedUp, kind?: ListKind): boolean {
    const isMeant = (name: string) => kind === undefined || isOfKind(name, kind);
    return (
      this.#known.some(({ name, entries }) => isMeant(name) && entryAt(entries, entry) !== undefined) ||
      this.lists.some((runs) => isMeant(runs[0]?.name ?? '') && isIn(runs, entry, lookedUp))
    );
  }
}

// The newest run that says anything is right.
function isIn(runs: readonly RunList[], entry: SearchEntry, lookedUp: LookedUp): boolean {
  for (const list of runs) {
    if (!canHave(list, entry)) continue;
    const found = isRead(list, entry) ? entryAt(list.part?.entries ?? [], entry) : lookedUp(list);
    if (found !== undefined) return found.resource !== REMOVED;
  }
  return false;
}

function canHave({ run, part }: RunList, entry: SearchEntry): boolean {
  return part != null && !isLater(run.low, entry) && !isLater(entry, run.high);
}

function isRead({ part }: RunList, entry: SearchEntry): boolean {
  return part != null && !isLater(part.from, entry);
}

/** Whether a place comes after another. */
export function isLater(one: SearchPlace, other: SearchPlace): boolean {
  return comparePlaces(one, other) > 0;
}

function laterOf(one: SearchPlace, other: SearchPlace): SearchPlace {
  return isLater(one, other) ? one : other;
}
