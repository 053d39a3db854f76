// The lists of the search index in which a record belongs, and what a change of the record does to them.

import type { TimeSlices } from '../event-loop.ts';
import type { Resource, Row } from '../model/resource.ts';
import { indexedWords, type SearchedText, searchedTexts, type TextTier } from '../model/searched.ts';
import { piecesOf } from '../model/words.ts';
import { ownerList, wordList } from './search-keys.ts';
import { besideOf, wholeList } from './search-resources.ts';

// In characters.
const SHORT = 1_000;
// Texts.
const FEW = 100;
const NO_LISTS: ReadonlySet<string> = new Set();

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
    const { name, text } = await this.#wordsOf(resource, [row]);
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
    const added = row === null ? NO_LISTS : await this.of(resource, row);
    if (befores.length === 0 && row !== null) return { added, removed: NO_LISTS };
    const removed = new Set<string>();
    // Also the lists of words that were in the name as well, and perhaps not always.
    const words = await this.#wordsOf(resource, befores);
    for (const tier of TIERS) for (const word of words[tier]) removed.add(wordList(tier, word));
    for (const before of befores) addOwner(removed, resource, before);
    if (row === null) removed.add(wholeList(resource));
    return { added, removed: removed.difference(added) };
  }

  // Looks only at words that are or were in columns that changed.
  async #changes(resource: Resource, row: Row, { befores, isKnown }: WrittenRecord): Promise<ListChanges> {
    const [kept, changed] = divided(row, befores);
    const stays = await this.#wordsOf(resource, [kept]);
    const now = await this.#wordsOf(resource, [changed]);
    const former = await this.#wordsOf(resource, befores);
    const added = new Set<string>();
    const removed = new Set<string>();
    for (const word of new Set([...former.name, ...former.text, ...now.name, ...now.text])) {
      const tier = tierOf(word, stays, now);
      if (isKnown && tier === tierOf(word, stays, former)) continue;
      if (tier !== null) added.add(wordList(tier, word));
      for (const one of TIERS) {
        const wasIn = former[one].has(word) || stays[one].has(word) || now[one].has(word);
        if (one !== tier && wasIn) removed.add(wordList(one, word));
      }
    }
    for (const before of befores) addOwner(removed, resource, before);
    if (resource.owner !== null && resource.owner in changed) addOwner(added, resource, row);
    return { added, removed: removed.difference(added) };
  }

  // The words of all rows together.
  #wordsOf(resource: Resource, rows: readonly Row[]): Words | Promise<Words> {
    const words: Words = { name: new Set(), text: new Set() };
    const texts: SearchedText[] = [];
    for (const row of rows) {
      const found = searchedTexts(resource, row, besideOf(row));
      // A transcript can have a hundred thousand segments, and one of them a million words.
      if (found.length > FEW || found.some(({ text }) => text.length > SHORT)) texts.push(...found);
      else for (const one of found) for (const word of indexedWords(one)) words[one.tier].add(word);
    }
    return texts.length === 0 ? words : this.#withMany(words, texts);
  }

  async #withMany(words: Words, texts: readonly SearchedText[]): Promise<Words> {
    for (const one of texts)
      for (const text of one.text.length > SHORT ? piecesOf(one.text) : [one.text]) {
        for (const word of indexedWords({ ...one, text })) words[one.tier].add(word);
        if (this.#turns.isOver) await this.#turns.next();
      }
    return words;
  }
}

// What stays of a row, and what it has in the columns that were different.
function divided(row: Row, befores: readonly Row[]): [kept: Row, changed: Row] {
  const kept: Row = {};
  const changed: Row = {};
  for (const name in row)
    (befores.some((before) => name in before) ? changed : kept)[name] = row[name] ?? null;
  return [kept, changed];
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
