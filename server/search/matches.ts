// Decides by the content of records which of them match a search, and where.

import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import { hitIn } from '../../db/model/hits.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { SearchQuery } from '../../db/model/search-query.ts';
import { searchedTexts } from '../../db/model/searched.ts';
import { findRecords } from '../../db/tables/records.ts';
import { placeOfId, type SearchPlace } from '../../db/tables/search-places.ts';
import { besideOf, withTranscripts } from '../../db/tables/search-resources.ts';
import { canSee } from '../access.ts';
import type { Reader } from '../records/rules.ts';
import type { IdentifierMatch } from './identifiers.ts';

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
    const found = await findRecords(db, resource, access.orgNumber, ids);
    this.read += ids.length;
    const seen = found.filter((row) => canSee(access, resource, row));
    const told = await withTranscripts(db, resource, access.orgNumber, seen);
    const matching: FoundRecord[] = [];
    for (const [index, row] of seen.entries()) {
      const match = this.#matchOf(resource, told[index] ?? row);
      if (match !== null) matching.push({ resource, row, place: placeOfId(row.id), ...match });
      // A text can have a megabyte.
      if (this.#turns.isOver) await this.#turns.next();
    }
    return matching;
  }

  #matchOf(resource: Resource, row: RecordRow): Pick<FoundRecord, 'tier' | 'field' | 'snippet'> | null {
    const identified = this.#identifiers.hitIn(resource, row);
    return identified ?? hitIn(this.#query, searchedTexts(resource, row, besideOf(row)));
  }
}
