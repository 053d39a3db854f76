// `describe` and `test` for what only PostgreSQL can: without CRM_TEST_DB, which names a server, they skip, with a word.
import * as bun from 'bun:test';
import { isPostgres } from './fresh-databases.ts';

if (!isPostgres)
  console.warn('skipped on SQLite: several nodes on one database (CRM_TEST_DB names a server)');

export const describe = bun.describe.skipIf(!isPostgres);
export const test = bun.test.skipIf(!isPostgres);
