// Tells what is still being filled in after an upgrade.
import type { Db } from '../../db/engine/schema.ts';
import { FILLERS } from '../../db/fillers.ts';
import { sumBackfills } from '../../db/tables/backfills.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { type Finding, warn } from './finding.ts';

/** A finding for each part of the database that is not complete. */
export async function checkBackfills(read: Db): Promise<Finding[]> {
  return [...(await sumBackfills(read))].map(([name, { organizations, records, total }]) => {
    const title = FILLERS[name]?.title ?? name;
    // Counted as soon as a server runs.
    const all = total === null ? '' : ` of ${formatCount(total)}`;
    const found = `being built for ${counted(organizations, 'organization')}: ${formatCount(records)}${all} records read`;
    return warn(title, found, 'nothing to do while a server runs: it continues on its own.');
  });
}
