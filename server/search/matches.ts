// Decides by the content of records which of them match a search, and where.

import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import { hitIn } from '../../db/model/hits.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { SearchQuery } from '../../db/model/search-query.ts';
import { type SearchedText, searchedTexts } from '../../db/model/searched.ts';
import { foldedText, piecesOf } from '../../db/model/words.ts';
import { findRecords } from '../../db/records/records.ts';
import { placeOfId, type SearchPlace } from '../../db/search/places.ts';
import { findRecordsAt } from '../../db/search/records.ts';
import { besideOf, withTranscripts } from '../../db/search/resources.ts';
import { canSee } from '../access.ts';
import type { Reader } from '../records/rules.ts';
import type { IdentifierMatch } from './identifiers.ts';

// So many characters are folded in one turn, if they are looked at: that takes about a millisecond.
const CHARACTERS_MAX = 50_000;

/** How well a record matches, the best first. */
export const SEARCH_TIERS = ['identifier', 'name', 'text'] as const;
export type SearchTier = (typeof SEARCH_TIERS)[number];

/** A record that matches, and where. */
export interface FoundRecord {
  resource: Resource;
  /** In stored form. */
  row: RecordRow;
  place: SearchPlace;
  tier: SearchTier;
  field: string;
  snippet: string;
}

/** Reads records, and decides which of them match a query. */
export class Matches {
  /** How many records were read. */
  read = 0;
  readonly #reader: Reader;
  readonly #query: SearchQuery;
  readonly #identifiers: IdentifierMatch;
  readonly #turns = new TimeSlices();

  constructor(reader: Reader, query: SearchQuery, identifiers: IdentifierMatch) {
    this.#reader = reader;
    this.#query = query;
    this.#identifiers = identifiers;
  }

  /** Those of the records with these IDs that the key can see and that match, in no order. */
  async among(resource: Resource, ids: readonly string[]): Promise<FoundRecord[]> {
    const { db, access } = this.#reader;
    this.read += ids.length;
    return this.#matching(resource, await findRecords(db, resource, access.orgNumber, ids));
  }

  /** The same for the records at these places. */
  async at(resource: Resource, places: readonly SearchPlace[]): Promise<FoundRecord[]> {
    const { db, access } = this.#reader;
    this.read += places.length;
    return this.#matching(resource, await findRecordsAt(db, resource, access.orgNumber, places));
  }

  async #matching(resource: Resource, found: readonly RecordRow[]): Promise<FoundRecord[]> {
    const { db, access } = this.#reader;
    const seen = found.filter((row) => canSee(access, resource, row));
    const told = await withTranscripts(db, resource, access.orgNumber, seen);
    const matching: FoundRecord[] = [];
    for (const [index, row] of seen.entries()) {
      const match = await this.#matchOf(resource, told[index] ?? row);
      if (match !== null) matching.push({ resource, row, place: placeOfId(row.id), ...match });
      // A text can have a megabyte.
      if (this.#turns.isOver) await this.#turns.next();
    }
    return matching;
  }

  async #matchOf(
    resource: Resource,
    row: RecordRow,
  ): Promise<Pick<FoundRecord, 'tier' | 'field' | 'snippet'> | null> {
    const identified = this.#identifiers.hitIn(resource, row);
    if (identified !== null) return identified;
    const texts = searchedTexts(resource, row, besideOf(row));
    const characters = texts.reduce((sum, { text }) => sum + text.length, 0);
    return hitIn(this.#query, texts, characters > CHARACTERS_MAX ? await this.#foldAll(texts) : []);
  }

  // A transcript can have a hundred thousand texts, and a text five megabytes.
  async #foldAll(texts: readonly SearchedText[]): Promise<string[]> {
    const folded: string[] = [];
    for (const { text } of texts) {
      let whole = '';
      for (const piece of piecesOf(text)) {
        whole += foldedText(piece);
        if (this.#turns.isOver) await this.#turns.next();
      }
      folded.push(whole);
    }
    return folded;
  }
}
