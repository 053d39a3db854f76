// Whether a database file is sound: its pages, its indexes, and the references between its rows.

import { DatabaseError } from '../database-error.ts';
import { appliedMigrations } from '../engine/applied-migrations.ts';
import type { DatabaseSnapshot } from '../engine/snapshot.ts';
import { indexesOf, type TableShape, tablesOf } from './catalog.ts';
import { isDamage } from './errors.ts';
import { assertKnownMigrations } from './migrate.ts';
import { openConnectionSnapshot } from './snapshot.ts';

const FAULTS_MAX = 10;

/** A database file to be inspected, as of one moment. */
export interface Inspection extends DatabaseSnapshot {
  tables: TableShape[];
  /** Names. */
  indexes: string[];
  migrations(): Promise<string[]>;
  /** Damage, in SQLite's words; empty for a sound file. Takes as long as reading the whole file. */
  findFaults(): string[];
  /** @throws DatabaseError if a newer crm wrote it */
  assertNotNewer(): Promise<void>;
}

/**
 * Opens a file for inspection.
 * @throws DatabaseError if it is missing, or cannot be opened
 */
export function inspectFile(path: string): Inspection {
  const { connection, read, close } = openConnectionSnapshot(path);
  return {
    read,
    close: async () => close(),
    assertNotNewer: () => assertKnownMigrations(connection.db, path),
    tables: tablesOf(connection),
    indexes: indexesOf(connection),
    migrations: () => appliedMigrations(read),
    findFaults: () => {
      try {
        const pages = connection
          .prepare<{ integrity_check: string }, []>(`PRAGMA integrity_check(${FAULTS_MAX})`)
          .all()
          .map((row) => row.integrity_check);
        const keys = connection
          .prepare<{ table: string; parent: string }, []>('PRAGMA foreign_key_check')
          .all()
          .slice(0, FAULTS_MAX)
          .map(({ table, parent }) => `a row of ${table} refers to a missing row of ${parent}`);
        return [...pages.filter((text) => text !== 'ok'), ...keys];
      } catch (error) {
        if (isDamage(error)) return [error instanceof Error ? error.message : String(error)];
        throw error;
      }
    },
  };
}

/** The error of a damaged file. */
export function damagedFileError(path: string, faults: readonly string[]): DatabaseError {
  const [first = 'it cannot be read'] = faults;
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  return new DatabaseError(`${path} is damaged: ${first}${more}.`, [
    'Use an older backup, and check the disk for errors.',
  ]);
}
