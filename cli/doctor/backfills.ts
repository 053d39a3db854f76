// Tells what is still being filled in after an upgrade.
import type { Db } from '../../db/engine/schema.ts';
import { FILLERS } from '../../db/fillers.ts';
import { listBackfills } from '../../db/tables/backfills.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { type Finding, warn } from './finding.ts';

/** A finding for each part of the database that is not complete. */
export async function checkBackfills(read: Db): Promise<Finding[]> {
  const parts = Map.groupBy(await listBackfills(read), ({ name }) => name);
  return [...parts].map(([name, rows]) => {
    const title = FILLERS[name]?.title ?? name;
    const records = rows.reduce((sum, row) => sum + row.records, 0);
    // Counted when an organization's turn comes.
    const total = rows.every((row) => row.total !== null)
      ? ` of ${formatCount(rows.reduce((sum, row) => sum + (row.total ?? 0), 0))}`
      : '';
    const found = `being built for ${counted(rows.length, 'organization')}: ${formatCount(records)}${total} records read`;
    return warn(title, found, 'nothing to do while a server runs: it continues on its own.');
  });
}
