// What a database file holds, looked at in a copy of it, so that looking changes nothing.
import { Database } from 'bun:sqlite';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls a function with a copy of a file and its log, as SQLite sees them. */
export function withCopy<T>(path: string, look: (db: Database) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'crm-look-'));
  try {
    const copy = join(folder, 'db');
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) cpSync(path + suffix, copy + suffix);
    const db = new Database(copy);
    try {
      return look(db);
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// What a restore itself puts down.
const LEFT_OUT: Record<string, string> = {
  settings: "name IN ('backup', 'last_backup', 'changes_epoch')",
  audit_log: "action = 'backup.restored'",
};

/** A digest of all rows, the notes of backups aside; throws where the file is not sound. */
export function contentOf(path: string): string {
  return withCopy(path, (db) => {
    assertSound(db, path);
    const hash = new Bun.CryptoHasher('sha256');
    for (const name of tablesIn(db)) {
      const rows = db.query(`SELECT * FROM "${name}" WHERE NOT (${LEFT_OUT[name] ?? 'false'})`).values();
      const lines = rows.map((row) => JSON.stringify(row)).toSorted();
      hash.update(`${name}\n${lines.join('\n')}\n`);
    }
    return hash.digest('hex');
  });
}

/** Throws where pages, indexes or references are wrong. */
export function assertSound(db: Database, path: string): void {
  const [pages] = db.query('PRAGMA integrity_check').values();
  const orphans = db.query('PRAGMA foreign_key_check').values();
  if (pages?.[0] === 'ok' && orphans.length === 0) return;
  throw new Error(`${path} is not sound: ${pages?.[0]}, ${orphans.length} references to nothing`);
}

/** The names of its tables, those of SQLite and Kysely aside. */
export function tablesIn(db: Database): string[] {
  return db
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .values()
    .map(([name]) => String(name))
    .filter((name) => !/^(?:sqlite|kysely)_/.test(name));
}
