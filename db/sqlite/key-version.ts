// Whether API keys could have changed: a number; keys that were read stay valid while it is the same.
import type { Connection, ReadConnection } from './connection.ts';
import { dataVersionOf } from './data-version.ts';

// Nobody learns of a commit elsewhere and sends a request sooner.
const SHARED_MS = 1;

export class KeyVersion {
  readonly #writer: Connection;
  // Of the commits of other processes.
  readonly #dataVersion: () => number | undefined;
  #version: number | undefined;
  #keyChanges = 0;
  #value = 0;

  constructor(writer: Connection) {
    this.#writer = writer;
    this.#dataVersion = dataVersionOf(writer);
  }

  /** The mark for a request that begins now: it reads what every process had committed a millisecond ago. */
  enter(reader: ReadConnection): number {
    // Another process can have committed since the reads of this turn began; to ask each time would cost 5% of a GET.
    if (reader.snapshotAgeMs() > SHARED_MS) reader.endSnapshot();
    reader.enterSnapshot();
    return this.#value;
  }

  /** Updates the mark with the commits of other processes. */
  look(): void {
    const version = this.#dataVersion();
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
}
