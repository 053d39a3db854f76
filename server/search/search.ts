// A page of a search: what matches best first, and within that what is newest.

import { identifiersIn } from '../../db/model/identifiers.ts';
import { keptLists } from '../../db/search/kept.ts';
import { LAST_PLACE } from '../../db/search/places.ts';
import type { Searcher } from './catch-up.ts';
import { FirstReads } from './first-reads.ts';
import { IdentifierMatch } from './identifiers.ts';
import { Matches, SEARCH_TIERS } from './matches.ts';
import type { SearchPage, SearchRequest } from './request.ts';
import { lastId, PageSearch } from './search-page.ts';
import { placeFrom } from './tiers.ts';

/**
 * A page of what a search finds among the records that the key can see. While too much is not indexed yet, it is empty, and
 * the next one begins at the same position.
 */
export async function searchRecords(given: Searcher, request: SearchRequest): Promise<SearchPage> {
  // Over one connection, many small statements wait less for switches between the processes of the database server.
  const searcher = { ...given, db: given.db.engine.pipelined() };
  const identifiers = identifiersIn(request.query);
  const first = new FirstReads({ searcher, request, identifiers, kept: keptLists(given.db) });
  const [state, identified] = await Promise.all([
    first.findState(),
    IdentifierMatch.of(searcher, identifiers, identifiedRange(request)),
  ]);
  for (let { pending, runs } = state; pending !== null; { pending, runs } = await first.findState()) {
    const matches = new Matches(searcher, request.query, identified);
    const search = { reader: searcher, request, identifiers: identified, matches, ...first.of(runs) };
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
