// A map on disk, so that the memory of an import does not grow with its rows.
import { Database, type Statement } from 'bun:sqlite';
import { closeSync } from 'node:fs';
import { createPrivateFile, kindAt } from '../../files/private-file.ts';

/** Texts by key; the first value of a key is kept. */
export class KeyStore {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #replace: Statement;
  readonly #select: Statement<{ value: string }, [string]>;

  /** Opens the store at a path, or a temporary one. */
  constructor(path: string | null = null) {
    // SQLite gives the files beside it the same mode.
    if (path !== null && kindAt(path) === 'nothing') closeSync(createPrivateFile(path));
    this.#database = new Database(path ?? ':memory:', { create: true, strict: true });
    // SQLite keeps temporary data in an unlinked file, which a crash does not leave behind.
    if (path === null) this.#database.run('PRAGMA temp_store = FILE');
    else {
      // No one else opens it, so a lookup needs no lock, and a commit is one sync of the log.
      this.#database.run('PRAGMA locking_mode = EXCLUSIVE');
      this.#database.run('PRAGMA journal_mode = WAL');
      this.#database.run('PRAGMA synchronous = FULL');
    }
    this.#database.run(
      `CREATE ${path === null ? 'TEMP ' : ''}TABLE IF NOT EXISTS keys ` +
        '(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID',
    );
    if (path === null) this.#database.run('BEGIN');
    this.#insert = this.#database.query('INSERT OR IGNORE INTO keys (key, value) VALUES (?, ?)');
    this.#replace = this.#database.query('INSERT OR REPLACE INTO keys (key, value) VALUES (?, ?)');
    this.#select = this.#database.query('SELECT value FROM keys WHERE key = ?');
  }

  get(key: string): string | undefined {
    return this.#select.get(key)?.value;
  }

  /** Whether the key was new. */
  add(key: string, value: string): boolean {
    return this.#insert.run(key, value).changes > 0;
  }

  /** Sets or replaces a value. */
  set(key: string, value: string): void {
    this.#replace.run(key, value);
  }

  /** Adds all of them atomically. */
  addAll(entries: Iterable<readonly [key: string, value: string]>): void {
    this.#database.transaction(() => {
      for (const [key, value] of entries) this.add(key, value);
    })();
  }

  close(): void {
    this.#database.close();
  }
}
