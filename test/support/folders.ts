// Folders for database files, gone when the tests of a file are over.
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A function that gives the path of a database file to be, in an empty folder of its own. */
export function databasePaths(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => join(mkdtempSync(join(root, 'db-')), 'crm.db');
}
