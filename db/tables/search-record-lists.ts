// The lists of the search index in which a record belongs, and what a change of the record does to them.

import type { TimeSlices } from '../event-loop.ts';
import type { Resource, Row } from '../model/resource.ts';
import { indexedWords, type SearchedText, searchedTexts, type TextTier } from '../model/searched.ts';
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
  /** Whether the index may not have it at all. */
  isNew: boolean;
  /** Whether the index has it as it was before that one change. */
  isKnown: boolean;
}

const TIERS = ['name', 'text'] as const satisfies TextTier[];

type Words = Record<TextTier, Set<string>>;

/** Finds the lists of records. */
export class RecordLists {
  readonly #turns: TimeSlices;

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

  /** What writes change. */
  async changedBy(resource: Resource, written: WrittenRecord): Promise<ListChanges> {
    const { row, befores, isNew } = written;
    if (row !== null && !isNew) return this.#changes(resource, row, written);
    const removed = new Set<string>();
    for (const before of befores) await this.#addAll(removed, resource, before);
    if (row === null) return { added: new Set(), removed: removed.add(wholeList(resource)) };
    const added = await this.of(resource, row);
    return { added, removed: removed.difference(added) };
  }

  // Looks only at words that are or were in columns that changed.
  async #changes(resource: Resource, row: Row, { befores, isKnown }: WrittenRecord): Promise<ListChanges> {
    const changed = new Set(befores.flatMap((before) => Object.keys(before)));
    const columns = Object.entries(row);
    const stays = await this.#wordsOf(
      resource,
      Object.fromEntries(columns.filter(([name]) => !changed.has(name))),
    );
    const now = await this.#wordsOf(
      resource,
      Object.fromEntries(columns.filter(([name]) => changed.has(name))),
    );
    const former: Words = { name: new Set(), text: new Set() };
    for (const before of befores) await this.#addWords(former, resource, before);
    const added = new Set<string>();
    const removed = new Set<string>();
    for (const word of new Set([...former.name, ...former.text, ...now.name, ...now.text])) {
      const tier = tierOf(word, stays, now);
      if (isKnown && tier === tierOf(word, stays, former)) continue;
      if (tier !== null) added.add(wordList(tier, word));
      for (const one of TIERS) if (one !== tier) removed.add(wordList(one, word));
    }
    for (const before of befores) addOwner(removed, resource, before);
    if (resource.owner !== null && changed.has(resource.owner)) addOwner(added, resource, row);
    return { added, removed: removed.difference(added) };
  }

  // Also those of words that were in the name as well, and perhaps not always.
  async #addAll(lists: Set<string>, resource: Resource, row: Row): Promise<void> {
    const { name, text } = await this.#wordsOf(resource, row);
    for (const word of name) lists.add(wordList('name', word));
    for (const word of text) lists.add(wordList('text', word));
    addOwner(lists, resource, row);
  }

  async #wordsOf(resource: Resource, row: Row): Promise<Words> {
    const words: Words = { name: new Set(), text: new Set() };
    await this.#addWords(words, resource, row);
    return words;
  }

  async #addWords(words: Words, resource: Resource, row: Row): Promise<void> {
    for (const one of searchedTexts(resource, row, besideOf(row))) {
      const into = words[one.tier];
      if (one.text.length <= SHORT) for (const word of indexedWords(one)) into.add(word);
      else await this.#addLong(into, one);
      // A transcript can have a hundred thousand segments.
      if (this.#turns.isOver) await this.#turns.next();
    }
  }

  // A transcript can have a million words.
  async #addLong(words: Set<string>, one: SearchedText): Promise<void> {
    for (const text of piecesOf(one.text)) {
      for (const word of indexedWords({ ...one, text })) words.add(word);
      if (this.#turns.isOver) await this.#turns.next();
    }
  }
}

// The list in which a record with these words has one of them.
function tierOf(word: string, one: Words, other: Words): TextTier | null {
  if (one.name.has(word) || other.name.has(word)) return 'name';
  return one.text.has(word) || other.text.has(word) ? 'text' : null;
}

function addOwner(lists: Set<string>, { owner }: Resource, row: Row): void {
  const ownerId = owner === null ? null : row[owner];
  if (typeof ownerId === 'string') lists.add(ownerList(ownerId));
}
