// The lists of the search index in which a record belongs, and what a change of the record does to them.

import type { TimeSlices } from '../event-loop.ts';
import type { Resource, Row } from '../model/resource.ts';
import { indexedWords, type SearchedText, searchedTexts, type TextTier } from '../model/searched.ts';
import { piecesOf } from '../model/words.ts';
import type { IndexChanges } from './additions.ts';
import { removalOf } from './blocks.ts';
import { ownerList, wordList } from './keys.ts';
import type { SearchEntry } from './places.ts';
import { besideOf, wholeList } from './resources.ts';

// In characters.
const SHORT = 1_000;
// Texts.
const FEW = 100;

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
type Act = (word: string, tier: TextTier) => void;

/** Finds what changes in the lists of records. */
export class RecordLists {
  readonly #changes: IndexChanges;
  readonly #turns: TimeSlices;

  /** @param changes what it adds to */
  constructor(changes: IndexChanges, turns: TimeSlices) {
    this.#changes = changes;
    this.#turns = turns;
  }

  /** Adds a record to the lists in which it belongs, given its row. */
  add(entry: SearchEntry, resource: Resource, row: Row): void | Promise<void> {
    this.#changes.add(entry, wholeList(resource));
    const owner = ownerOf(resource, row);
    if (owner !== null) this.#changes.add(entry, owner);
    // Those of names come first, and the search for a text looks at both.
    return this.#eachWord(searchedTexts(resource, row, besideOf(row)), (word, tier) => {
      if (tier === 'text' && this.#changes.has(entry, wordList('name', word))) return;
      this.#changes.add(entry, wordList(tier, word));
    });
  }

  /** Makes what writes of a record change. */
  async change(entry: SearchEntry, resource: Resource, written: WrittenRecord): Promise<void> {
    const { row, befores, isNew } = written;
    if (row !== null && !isNew) return this.#changeSome(entry, resource, row, written);
    if (row !== null) await this.add(entry, resource, row);
    if (row !== null && befores.length === 0) return;
    const lists = row === null ? [wholeList(resource)] : [];
    // Also those of words that were in the name as well, and perhaps not always.
    const words = await this.#wordsOf(resource, befores);
    for (const tier of TIERS) for (const word of words[tier]) lists.push(wordList(tier, word));
    this.#remove(entry, [...lists, ...ownersOf(resource, befores)]);
  }

  // Looks only at words that are or were in columns that changed.
  async #changeSome(
    entry: SearchEntry,
    resource: Resource,
    row: Row,
    { befores, isKnown }: WrittenRecord,
  ): Promise<void> {
    const [kept, changed] = divided(row, befores);
    const stays = await this.#wordsOf(resource, [kept]);
    const now = await this.#wordsOf(resource, [changed]);
    const former = await this.#wordsOf(resource, befores);
    const removed = ownersOf(resource, befores);
    const owner = ownerOf(resource, changed);
    if (owner !== null) this.#changes.add(entry, owner);
    for (const word of new Set([...former.name, ...former.text, ...now.name, ...now.text])) {
      const tier = tierOf(word, stays, now);
      if (isKnown && tier === tierOf(word, stays, former)) continue;
      if (tier !== null) this.#changes.add(entry, wordList(tier, word));
      for (const one of TIERS) {
        const wasIn = former[one].has(word) || stays[one].has(word) || now[one].has(word);
        if (one !== tier && wasIn) removed.push(wordList(one, word));
      }
    }
    this.#remove(entry, removed);
  }

  // From those to which it was not added.
  #remove(entry: SearchEntry, lists: readonly string[]): void {
    const removal = removalOf(entry);
    for (const list of lists) if (!this.#changes.has(entry, list)) this.#changes.add(removal, list);
  }

  // The words of all rows together.
  async #wordsOf(resource: Resource, rows: readonly Row[]): Promise<Words> {
    const words: Words = { name: new Set(), text: new Set() };
    const texts = rows.flatMap((row) => searchedTexts(resource, row, besideOf(row)));
    await this.#eachWord(texts, (word, tier) => words[tier].add(word));
    return words;
  }

  #eachWord(texts: readonly SearchedText[], act: Act): void | Promise<void> {
    // A transcript can have a hundred thousand segments, and one of them a million words.
    if (texts.length > FEW || texts.some(({ text }) => text.length > SHORT)) return this.#inTurns(texts, act);
    for (const one of texts) for (const word of indexedWords(one)) act(word, one.tier);
  }

  async #inTurns(texts: readonly SearchedText[], act: Act): Promise<void> {
    for (const one of texts)
      for (const text of one.text.length > SHORT ? piecesOf(one.text) : [one.text]) {
        for (const word of indexedWords({ ...one, text })) act(word, one.tier);
        if (this.#turns.isOver) await this.#turns.next();
      }
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

function ownerOf({ owner }: Resource, row: Row): string | null {
  const ownerId = owner === null ? null : row[owner];
  return typeof ownerId === 'string' ? ownerList(ownerId) : null;
}

function ownersOf(resource: Resource, rows: readonly Row[]): string[] {
  return rows.flatMap((row) => ownerOf(resource, row) ?? []);
}
