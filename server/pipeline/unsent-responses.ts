// Responses being sent: each keeps its room until its client has received it or the server gives up.
import type { ResponseReservation } from './response-reservation.ts';

// A client that reads takes a response within a few turns of the event loop, so the first looks come soon.
const FIRST_LOOKS_MS = [0, 0, 1, 2, 5, 10, 20, 50];
const LOOK_EVERY_MS = 100;
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
  looks: number;
  isLimited: boolean;
}

export class UnsentResponses {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Gives the room of a response back once it is sent or its client has disconnected; sending begins in this turn. */
  watch(request: Request, reservation: ResponseReservation): void {
    this.#lookLater({ request, reservation, since: performance.now(), looks: 0, isLimited: false });
  }

  #lookLater(sending: Sending): void {
    const ms = FIRST_LOOKS_MS[sending.looks] ?? LOOK_EVERY_MS;
    sending.looks += 1;
    const look = () => this.#look(sending);
    if (ms === 0) setImmediate(look);
    else setTimeout(look, ms);
  }

  #look(sending: Sending): void {
    const { request, reservation, since } = sending;
    const { isUnsent, limitSilence } = this.#connections;
    if (!isUnsent(request)) {
      reservation.release();
      return;
    }
    if (!sending.isLimited && performance.now() - since > SLOW_MS) {
      // Only now: the limit outlasts the response, and the connection should stay open for later requests.
      sending.isLimited = true;
      limitSilence(request, UNTAKEN_SECONDS);
    }
    this.#lookLater(sending);
  }
}
