// Databases to be, and folders for their files, gone when the tests of a file are over.
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropDatabase, freshDatabase, isPostgres } from './fresh-databases.ts';

/** A function that gives the path of a database file to be, in an empty folder of its own. */
export function databasePaths(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => join(mkdtempSync(join(root, 'db-')), 'crm.db');
}

/** A function that gives the path of a database file to be, or the address of a database on PostgreSQL. */
export function databases(): () => Promise<string> {
  if (!isPostgres) {
    const newPath = databasePaths();
    return async () => newPath();
  }
  const made: string[] = [];
  afterAll(async () => {
    for (const address of made) await dropDatabase(address);
  });
  return async () => {
    const address = await freshDatabase();
    made.push(address);
    return address;
  };
}
