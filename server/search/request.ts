// What a search is asked, and what it answers.

import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { SearchQuery } from '../../db/model/search-query.ts';
import type { SearchPlace } from '../../db/search/places.ts';
import type { SearchTier } from './matches.ts';

/** How many entries of the index, and how many records, a request examines. */
export const SEARCH_EXAMINED_MAX = 10_000;
export const SEARCH_RECORDS_MAX = 1_000;

/** A place in what a search finds. */
export interface SearchPosition {
  tier: SearchTier;
  place: SearchPlace;
}

export interface SearchRequest {
  query: SearchQuery;
  /** Those that are searched; at least one. */
  resources: readonly Resource[];
  /** The position before the page; null for the first one. */
  after: SearchPosition | null;
  limit: number;
}

export interface SearchPage {
  items: Data[];
  /** The position of each item. */
  positions: SearchPosition[];
  /** The position after the page; null at the end. */
  next: SearchPosition | null;
  /** How many entries of the index, and how many records, were examined. */
  examined: { entries: number; records: number };
}
