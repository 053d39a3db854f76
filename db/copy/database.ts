// The two databases of a copy, and errors that name the database they came from.
import type { Db } from '../engine/schema.ts';
import type { Store } from '../store.ts';

/** A database to read rows from: the original, or the copy for comparison. */
export interface CopySource {
  /** As the operator named it. */
  db: string;
  read: Db;
}

/** The database to be filled. */
export interface CopyTarget extends CopySource {
  write: Store['write'];
}

/** An error in one of the two databases. */
export class DatabaseErrorAt extends Error {
  /** The database as the operator named it. */
  readonly db: string;

  constructor(db: string, cause: unknown) {
    super('a database failed', { cause });
    this.name = 'DatabaseErrorAt';
    this.db = db;
  }
}

/** Runs work on a database; an error names that database. */
export async function atDatabase<T>({ db }: CopySource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new DatabaseErrorAt(db, error);
  }
}
