// A database at one moment, for long reads.

import { DatabaseError } from '../database-error.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { appliedMigrations } from './applied-migrations.ts';
import { assertCopyComplete } from './copy-marker.ts';
import type { Db } from './schema.ts';

export interface DatabaseSnapshot {
  /** For queries, which all see the same moment; read-only. */
  readonly read: Db;
  close(): Promise<void>;
}

/**
 * Rejects a database that this crm cannot read without changing it.
 * @param shown how messages name the database
 * @throws DatabaseError if it has no crm tables, those of another version, or is incomplete
 */
export async function assertReadable(db: Db, shown: string): Promise<void> {
  const applied = await appliedMigrations(db);
  const unknown = applied.find((name) => MIGRATIONS[name] === undefined);
  if (unknown !== undefined) {
    throw new DatabaseError(
      `The database ${shown} was written by a newer crm (it has the migration ${unknown}).`,
      ['Use the newer crm for this database.'],
    );
  }
  if (applied.length === 0) {
    throw new DatabaseError(`The database ${shown} has no crm tables.`, [
      'Specify a database that crm created.',
    ]);
  }
  if (applied.length < Object.keys(MIGRATIONS).length) {
    throw new DatabaseError(`The database ${shown} was written by an older crm.`, [
      'Upgrade it first, by running a command on it, such as: crm orgs list --db DATABASE',
    ]);
  }
  await assertCopyComplete(db, shown);
}
