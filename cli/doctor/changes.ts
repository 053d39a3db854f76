// Tells how large the log of changes is.

import type { Db } from '../../db/engine/schema.ts';
import { countChanges, findChangesDays } from '../../db/removal/change-retention.ts';
import { counted } from '../terminal/format.ts';
import { type Finding, ok } from './finding.ts';

/** The finding about the log of changes. */
export async function checkChanges(read: Db): Promise<Finding> {
  const days = await findChangesDays(read);
  if (days === 0) return ok('changes', 'not kept (serve --changes-days 0)');
  return ok('changes', `${counted(await countChanges(read), 'change')}, kept for ${counted(days, 'day')}`);
}
