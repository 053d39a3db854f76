// Where a journey leaves something behind: files beside a database, its rows, and what others may read of them.
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../support/command.ts';

const READABLE_BY_OTHERS = 0o077;
// What is no secret of anybody's.
const OWN_INPUT = /\.(?:json|csv)$/;

/** Copies a database that is open, with its log of writes, to a folder beside it. */
export function copyDatabase(sandbox: Sandbox): void {
  mkdirSync(sandbox.path('live'));
  const names = readdirSync(sandbox.folder).filter((name) => name.startsWith('crm.db'));
  for (const name of names) Bun.spawnSync(['cp', sandbox.path(name), sandbox.path('live')]);
}

/** All rows of a database of PostgreSQL. */
export async function dumpOf(address: string): Promise<string> {
  const sql = new Bun.SQL(address, { max: 1 });
  const tables = await sql.unsafe(`select tablename from pg_tables where schemaname = 'public'`);
  const dumps: string[] = [];
  for (const { tablename } of tables)
    dumps.push(JSON.stringify(await sql.unsafe(`select * from "${tablename}"`)));
  await sql.close();
  return dumps.join('\n');
}

/** Files that others than their owner may read, of those that crm made, not what was written for it. */
export function readableIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('live') && !OWN_INPUT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & READABLE_BY_OTHERS) !== 0);
}
