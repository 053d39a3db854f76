// The static list of migrations, in order; a landed one is never edited.
import type { Migration } from 'kysely';
import * as initial from './0001-initial.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
};
