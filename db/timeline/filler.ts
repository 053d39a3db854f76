// Builds the timelines of a database that an older crm has written.

import type { Filler } from '../tables/backfills.ts';
import { addMissingEntries } from './entries.ts';
import { countSourceRows, TIMELINE_SOURCES } from './sources.ts';

const ROWS_AT_ONCE = 50;
const PIECE_MS = 15;

/** Where a piece ended: the number of the source, and the key of the last row. */
type Place = [source: number, after: string];

export const timelineFiller: Filler = {
  title: 'timeline',
  async count(db, orgNumber) {
    let total = 0;
    for (const { table } of TIMELINE_SOURCES) total += await countSourceRows(db, orgNumber, table);
    return total;
  },
  async fill(trx, orgNumber, place) {
    let [source, after]: Place = place === null ? [0, ''] : JSON.parse(place);
    const startedAt = performance.now();
    let records = 0;
    do {
      const found = await TIMELINE_SOURCES[source]?.read(trx, orgNumber, after, ROWS_AT_ONCE);
      if (found === undefined) return { place: null, records };
      await addMissingEntries(trx, orgNumber, found.entries);
      records += found.read;
      if (found.last === null) source += 1;
      after = found.last ?? '';
    } while (performance.now() - startedAt < PIECE_MS);
    return { place: JSON.stringify([source, after] satisfies Place), records };
  },
};
