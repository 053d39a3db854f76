// The lists of the search index in which a record belongs, and what a change of the record does to them.

import type { TimeSlices } from '../event-loop.ts';
import type { Resource, Row } from '../model/resource.ts';
import { indexedWords, type SearchedText, searchedTexts } from '../model/searched.ts';
import { piecesOf } from '../model/words.ts';
import { ownerList, wordList } from './search-keys.ts';
import { besideOf, wholeList } from './search-resources.ts';

// In characters.
const SHORT = 1_000;

/** What changes in the index because of a record. */
export interface ListChanges {
  /** Lists in which it belongs. */
  added: ReadonlySet<string>;
  /** Lists in which it does not belong. */
  removed: ReadonlySet<string>;
}

/** What is known of a record that was written. */
export interface WrittenRecord {
  /** As it is now; null if it is deleted. */
  row: Row | null;
  /** Values that its columns had since it was indexed, the oldest first. */
  befores: readonly Row[];
  /** Whether these are all that changed, so that the index has what it was before them. */
  isComplete: boolean;
}

/** Finds the lists of records. */
export class RecordLists {
  readonly #turns: TimeSlices;
  /** What several versions of a record have is divided into words once. */
  #known: Map<string, readonly string[]> | null = null;

  constructor(turns: TimeSlices) {
    this.#turns = turns;
  }

  /** The lists in which a record belongs, given its row. */
  async of(resource: Resource, row: Row): Promise<Set<string>> {
    const { name, text } = await this.#wordsOf(resource, row);
    const lists = new Set([wholeList(resource)]);
    for (const word of name) lists.add(wordList('name', word));
    // The search for a text looks at both.
    for (const word of text) if (!name.has(word)) lists.add(wordList('text', word));
    addOwner(lists, resource, row);
    return lists;
  }

  /** What a write changes. */
  async changedBy(resource: Resource, { row, befores, isComplete }: WrittenRecord): Promise<ListChanges> {
    if (befores.length > 0) this.#known = new Map();
    const removed = new Set<string>();
    for (const before of befores) await this.#addAll(removed, resource, before);
    if (row === null) return { added: new Set(), removed: removed.add(wholeList(resource)) };
    const now = await this.of(resource, row);
    const former = new Set<string>();
    if (isComplete) {
      const before = Object.assign({ ...row }, ...befores.toReversed());
      for (const list of await this.of(resource, before)) former.add(list);
    }
    return { added: now.difference(former), removed: removed.union(former).difference(now) };
  }

  // Also those of words that were in the name as well, and perhaps not always.
  async #addAll(lists: Set<string>, resource: Resource, row: Row): Promise<void> {
    const { name, text } = await this.#wordsOf(resource, row);
    for (const word of name) lists.add(wordList('name', word));
    for (const word of text) lists.add(wordList('text', word));
    addOwner(lists, resource, row);
  }

  async #wordsOf(resource: Resource, row: Row): Promise<Record<SearchedText['tier'], Set<string>>> {
    const words = { name: new Set<string>(), text: new Set<string>() };
    for (const one of searchedTexts(resource, row, besideOf(row))) {
      const into = words[one.tier];
      if (one.text.length <= SHORT) for (const word of this.#wordsIn(one)) into.add(word);
      else await this.#addLong(into, one);
      // A transcript can have a hundred thousand segments.
      if (this.#turns.isOver) await this.#turns.next();
    }
    return words;
  }

  // A transcript can have a million words.
  async #addLong(words: Set<string>, one: SearchedText): Promise<void> {
    for (const text of piecesOf(one.text)) {
      for (const word of indexedWords({ ...one, text })) words.add(word);
      if (this.#turns.isOver) await this.#turns.next();
    }
  }

  #wordsIn(one: SearchedText): readonly string[] {
    if (this.#known === null) return indexedWords(one);
    const kind = one.isPhone ? '+' : '-';
    return this.#known.getOrInsertComputed(kind + one.text, () => indexedWords(one));
  }
}

function addOwner(lists: Set<string>, { owner }: Resource, row: Row): void {
  const ownerId = owner === null ? null : row[owner];
  if (typeof ownerId === 'string') lists.add(ownerList(ownerId));
}
