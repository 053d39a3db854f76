// The static list of migrations, in order; a landed one is never edited.
import type { Migration } from 'kysely';
import * as initial from './0001-initial.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
};

/**
 * Those that only add what a crm without them can leave alone: while several serve one database, it may go on until it
 * is replaced. All others stop it at its next start.
 */
export const EXPANDING: ReadonlySet<string> = new Set();
