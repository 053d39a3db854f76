// Whether a database can take a copy of another, and the mark that it is not whole until that is done.
import { findCopyMark, removeCopyMark, setCopyMark } from '../engine/copy-marker.ts';
import type { Db } from '../engine/schema.ts';
import { SIGNING_SETTINGS } from '../tables/settings.ts';
import { at, type CopySource, type CopyTarget } from './database.ts';
import { type CopiedTable, lastKey } from './rows.ts';

/** Whether a database can take the copy: it is empty, has a part of this copy, or what it has is something else. */
export type Readiness = 'empty' | 'begun' | 'of another database' | 'not empty';

/** Looks whether a database can take the copy, and marks one that is empty as not whole. */
export async function beginCopy(
  from: CopySource,
  to: CopyTarget,
  tables: readonly CopiedTable[],
): Promise<Readiness> {
  const origin = await originOf(from);
  const mark = await at(to, () => findCopyMark(to.read));
  if (mark !== undefined) return mark === origin ? 'begun' : 'of another database';
  for (const table of tables) {
    // A server that was started on it has made settings.
    if (table.name !== 'settings' && (await lastKey(to, table)) !== undefined) return 'not empty';
  }
  await at(to, () =>
    to.write('accounts', async (trx) => {
      await trx.deleteFrom('settings').where('name', 'in', SIGNING_SETTINGS).execute();
      await setCopyMark(trx, origin);
    }),
  );
  return 'empty';
}

// What tells a database from others, wherever it lies: its first organization.
function originOf(from: CopySource): Promise<string> {
  const first = from.read.selectFrom('organizations').select('id').orderBy('number').limit(1);
  return at(from, async () => (await first.execute())[0]?.id ?? '');
}

/** Marks a copy as whole, and does what belongs to that in the same transaction. */
export async function endCopy(to: CopyTarget, also: (trx: Db) => Promise<void>): Promise<void> {
  await at(to, () =>
    to.write('accounts', async (trx) => {
      await removeCopyMark(trx);
      await also(trx);
    }),
  );
}
