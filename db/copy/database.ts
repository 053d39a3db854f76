// The two databases of a copy, and at which of them an error came.
import type { Db } from '../engine/schema.ts';
import type { Store } from '../store.ts';

/** A database that rows are read from: that which is copied, and its copy to be compared. */
export interface CopySource {
  /** As the operator named it. */
  db: string;
  read: Db;
}

/** The database that is filled. */
export interface CopyTarget extends CopySource {
  write: Store['write'];
}

/** The error that came at one of two databases. */
export class ErrorAt extends Error {
  /** The database as the operator named it. */
  readonly db: string;

  constructor(db: string, cause: unknown) {
    super('a database failed', { cause });
    this.name = 'ErrorAt';
    this.db = db;
  }
}

/** Does what is to be done at a database; an error tells that it came there. */
export async function at<T>({ db }: CopySource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ErrorAt(db, error);
  }
}
