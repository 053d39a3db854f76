// Answers that are being sent: each has its room until its client has taken it, or is given up.
import type { AnswerRoom } from './response-reservation.ts';

const LOOK_MS = 100;
/** Whoever has not taken an answer by then is slow: from then on, its silence is limited. */
const SLOW_MS = 1_000;
/** Seconds for which a client may take nothing of an answer. */
export const UNTAKEN_SECONDS = 15;

/** What is known of connections. */
export interface Connections {
  /** Whether an answer is still being sent. */
  isUnsent: (request: Request) => boolean;
  /** Closes the connection of a request on which nothing comes or goes for so many seconds. */
  limitSilence: (request: Request, seconds: number) => void;
}

interface Sending {
  request: Request;
  room: AnswerRoom;
  since: number;
  isLimited: boolean;
}

export class Unsent {
  readonly #connections: Connections;
  readonly #sending = new Set<Sending>();
  #isLooking = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Gives the room of an answer back once that is sent, which begins in this turn, or its client is gone. */
  watch(request: Request, room: AnswerRoom): void {
    this.#sending.add({ request, room, since: performance.now(), isLimited: false });
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    const now = performance.now();
    const { isUnsent, limitSilence } = this.#connections;
    for (const sending of this.#sending) {
      const { request, room, since } = sending;
      if (!isUnsent(request)) {
        this.#sending.delete(sending);
        room.release();
      } else if (!sending.isLimited && now - since > SLOW_MS) {
        // Not before: the limit outlives the answer, and a connection is to be kept for the requests that follow.
        sending.isLimited = true;
        limitSilence(request, UNTAKEN_SECONDS);
      }
    }
    this.#isLooking = this.#sending.size > 0;
    if (this.#isLooking) setTimeout(this.#look, LOOK_MS);
  };
}
