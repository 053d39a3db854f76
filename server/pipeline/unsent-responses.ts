// Responses being sent: each keeps its room until its client has received it or the server gives up.
import type { ResponseReservation } from './response-reservation.ts';

const LOOK_MS = 100;
/** After this time a client is slow, and its silence is limited. */
const SLOW_MS = 1_000;
/** Seconds for which a client can stop reading a response. */
export const UNTAKEN_SECONDS = 15;

/** What is known about connections. */
export interface Connections {
  /** Whether a response is still being sent. */
  isUnsent: (request: Request) => boolean;
  /** Closes the connection of a request after this many seconds of silence. */
  limitSilence: (request: Request, seconds: number) => void;
}

interface Sending {
  request: Request;
  reservation: ResponseReservation;
  since: number;
  isLimited: boolean;
}

export class UnsentResponses {
  readonly #connections: Connections;
  readonly #sending = new Set<Sending>();
  #isLooking = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Gives the room of a response back once it is sent or its client has disconnected; sending begins in this turn. */
  watch(request: Request, reservation: ResponseReservation): void {
    this.#sending.add({ request, reservation, since: performance.now(), isLimited: false });
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    const now = performance.now();
    const { isUnsent, limitSilence } = this.#connections;
    for (const sending of this.#sending) {
      const { request, reservation, since } = sending;
      if (!isUnsent(request)) {
        this.#sending.delete(sending);
        reservation.release();
      } else if (!sending.isLimited && now - since > SLOW_MS) {
        // Only now: the limit outlasts the response, and the connection should stay open for later requests.
        sending.isLimited = true;
        limitSilence(request, UNTAKEN_SECONDS);
      }
    }
    this.#isLooking = this.#sending.size > 0;
    if (this.#isLooking) setTimeout(this.#look, LOOK_MS);
  };
}
