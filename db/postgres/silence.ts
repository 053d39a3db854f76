// How long PostgreSQL has owed a response, and the end of connections on which it takes too long.

// Longer than the server lets a statement run: a connection that is silent for so long is dead.
const SILENCE_MS_MAX = 8_000;
const LOOK_EVERY_MS = 250;
// A timer that is this late shows a stall of this process: what arrived meanwhile has not been read yet.
const STALL_MS = 100;

/** The silence of a server on one connection. */
export class Silence {
  #unanswered = 0;
  // By `performance.now()`.
  #since = 0;

  /** For how many milliseconds nothing came although statements were unanswered. */
  get ms(): number {
    return this.#unanswered === 0 ? 0 : performance.now() - this.#since;
  }

  noteSent(): void {
    if (this.#unanswered === 0) this.#since = performance.now();
    this.#unanswered += 1;
  }

  noteAnswered(): void {
    this.#unanswered -= 1;
    this.#since = performance.now();
  }

  /** Does not count so many milliseconds, in which this process could not read what came. */
  excuse(stallMs: number): void {
    this.#since += stallMs;
  }
}

interface Connection {
  readonly silence: Silence;
  endIfSilent(longestMs: number): void;
}

/** Looks at the connections several times a second, until the timer is cleared, and closes those that are silent for too long. */
export function watchSilence(connections: readonly Connection[]): Timer {
  let dueAt = performance.now() + LOOK_EVERY_MS;
  return setInterval(() => {
    const lateMs = performance.now() - dueAt;
    dueAt = performance.now() + LOOK_EVERY_MS;
    for (const connection of connections) {
      if (lateMs > STALL_MS) connection.silence.excuse(lateMs);
      connection.endIfSilent(SILENCE_MS_MAX);
    }
  }, LOOK_EVERY_MS);
}
