// `describe` and `test` for what is about SQLite's file: where CRM_TEST_DB asks for PostgreSQL they skip, with a word.
import * as bun from 'bun:test';
import { isPostgres } from './fresh-databases.ts';

if (isPostgres) console.warn("skipped on PostgreSQL: what is about SQLite's file");

export const describe = bun.describe.skipIf(isPostgres);
export const test = bun.test.skipIf(isPostgres);
