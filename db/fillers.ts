// What fills in each part of the database that derives from records, by the part's name in `backfills`.

import { searchFiller } from './search/filler.ts';
import type { Filler } from './tables/backfills.ts';
import { timelineFiller } from './timeline/filler.ts';

export const FILLERS: Readonly<Record<string, Filler>> = { timeline: timelineFiller, search: searchFiller };
