// What fills in each part of the database that derives from records, by the part's name in `backfills`.
import type { Filler } from './backfills.ts';
import { searchFiller } from './search-filler.ts';
import { timelineFiller } from './timeline-filler.ts';

export const FILLERS: Readonly<Record<string, Filler>> = { timeline: timelineFiller, search: searchFiller };
