// A database as it is at one moment, to be read at length.

import { DatabaseError } from '../database-error.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { migrationsOf } from './applied-migrations.ts';
import { assertWhole } from './copy-marker.ts';
import type { Db } from './schema.ts';

export interface DatabaseSnapshot {
  /** For queries, all of which see the same moment; it cannot write. */
  readonly read: Db;
  close(): Promise<void>;
}

/**
 * Refuses a database that this crm cannot read without changing it.
 * @param shown how the database is told of
 * @throws DatabaseError if it has no tables of crm, or those of another version, or is not whole
 */
export async function assertReadable(db: Db, shown: string): Promise<void> {
  const applied = await migrationsOf(db);
  const unknown = applied.find((name) => MIGRATIONS[name] === undefined);
  if (unknown !== undefined) {
    throw new DatabaseError(
      `The database ${shown} was written by a newer crm (it has the migration ${unknown}).`,
      ['Use the newer crm with it.'],
    );
  }
  if (applied.length === 0) {
    throw new DatabaseError(`The database ${shown} has no tables of crm.`, ['Name a database of crm.']);
  }
  if (applied.length < Object.keys(MIGRATIONS).length) {
    throw new DatabaseError(`The database ${shown} was written by an older crm.`, [
      'Bring it up to date: any command does that, such as crm orgs list --db DATABASE.',
    ]);
  }
  await assertWhole(db, shown);
}
