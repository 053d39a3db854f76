// Whether API keys could have changed: a number; keys that were read stay valid while it is the same.
import { CompiledQuery } from 'kysely';
import type { PreparedQuery } from '../engine/engine.ts';
import type { Connection } from './connection.ts';

// SQLite changes it for a connection with each commit of another connection: here, of other processes.
const DATA_VERSION = CompiledQuery.raw('PRAGMA data_version') as CompiledQuery<{ data_version: number }>;

export class KeyVersion {
  readonly #writer: Connection;
  readonly #versions: PreparedQuery<{ data_version: number }>;
  #version: number | undefined;
  #keyChanges = 0;
  #value = 0;

  constructor(writer: Connection) {
    this.#writer = writer;
    this.#versions = writer.bind(DATA_VERSION);
  }

  get value(): number {
    return this.#value;
  }

  /** Updates the mark with the commits of other processes. */
  look(): void {
    const version = this.#ask();
    if (version !== undefined && version === this.#version) return;
    this.#version = version;
    this.#value += 1;
  }

  /** Updates the mark with a commit of the writer, before anyone learns of it. */
  onCommit(): void {
    if (this.#keyChanges === this.#writer.keyChanges) return;
    this.#keyChanges = this.#writer.keyChanges;
    this.#value += 1;
  }

  // Undefined if it is unavailable right now, for example while another process recovers the log.
  #ask(): number | undefined {
    try {
      const [row] = this.#versions([]) as { data_version: number }[];
      return row?.data_version;
    } catch {
      return undefined;
    }
  }
}
