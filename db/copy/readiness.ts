// Whether a database can receive a copy of another, and its mark as incomplete until that is done.
import { COPY_MARKER } from '../engine/copy-marker.ts';
import type { Trx } from '../engine/schema.ts';
import { findSetting, removeSettings, setSetting } from '../engine/setting.ts';
import { CONTENT_SETTINGS } from '../tables/settings.ts';
import { atDatabase, type CopySource, type CopyTarget } from './database.ts';
import { type CopiedTable, lastKey } from './rows.ts';

/** The state of the target: empty, with a part of this copy, or with something else. */
export type Readiness = 'empty' | 'begun' | 'of another database' | 'not empty';

/** Checks the state of the target, and marks an empty one as incomplete. */
export async function beginCopy(
  from: CopySource,
  to: CopyTarget,
  tables: readonly CopiedTable[],
): Promise<Readiness> {
  const origin = await originOf(from);
  const mark = await atDatabase(to, () => findSetting(to.read, COPY_MARKER));
  if (mark !== undefined) return mark === origin ? 'begun' : 'of another database';
  for (const table of tables) {
    // A server that was started on it has created settings.
    if (table.name !== 'settings' && (await lastKey(to, table)) !== undefined) return 'not empty';
  }
  await atDatabase(to, () =>
    to.write('accounts', async (trx) => {
      await removeSettings(trx, ...CONTENT_SETTINGS);
      await setSetting(trx, COPY_MARKER, origin);
    }),
  );
  return 'empty';
}

// Identifies a database, wherever it is stored: its first organization.
function originOf(from: CopySource): Promise<string> {
  const first = from.read.selectFrom('organizations').select('id').orderBy('number').limit(1);
  return atDatabase(from, async () => (await first.execute())[0]?.id ?? '');
}

/** Marks a copy as complete, and runs `also` in the same transaction. */
export async function endCopy(to: CopyTarget, also: (trx: Trx) => Promise<void>): Promise<void> {
  await atDatabase(to, () =>
    to.write('accounts', async (trx) => {
      await removeSettings(trx, COPY_MARKER);
      await also(trx);
    }),
  );
}
