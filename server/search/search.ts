// A page of a search: what matches best first, and within that what is newest.

import { LAST_PLACE } from '../../db/tables/search-places.ts';
import { ReadLists } from '../../db/tables/search-source.ts';
import { findCaughtUp, type Searcher } from './catch-up.ts';
import { IdentifierMatch } from './identifiers.ts';
import { Matches, SEARCH_TIERS } from './matches.ts';
import type { SearchPage, SearchRequest } from './request.ts';
import { lastId, PageSearch, placeFrom } from './search-page.ts';

/**
 * A page of what a search finds among the records that the key can see. While too much is not indexed yet, it is empty, and
 * the next one begins at the same position.
 */
export async function searchRecords(searcher: Searcher, request: SearchRequest): Promise<SearchPage> {
  const [state, identifiers] = await Promise.all([
    findCaughtUp(searcher),
    IdentifierMatch.of(searcher, request.query, identifiedRange(request)),
  ]);
  for (let { pending, runs } = state; pending !== null; { pending, runs } = await findCaughtUp(searcher)) {
    const matches = new Matches(searcher, request.query, identifiers);
    const search = { reader: searcher, request, identifiers, matches, lists: new ReadLists(runs) };
    const page = await new PageSearch(search).page(pending);
    if (page !== null) return page;
  }
  return emptyPage(request);
}

// What can be many of what the query identifies: as many as fit on the page, from the position before it on.
function identifiedRange({ after, limit }: SearchRequest): { last: string; limit: number } {
  return { last: lastId(placeFrom('identifier', after)), limit: limit + 1 };
}

function emptyPage({ after }: SearchRequest): SearchPage {
  const next = after ?? { tier: SEARCH_TIERS[0], place: LAST_PLACE };
  return { items: [], positions: [], next, examined: { entries: 0, records: 0 } };
}
