// How a request is held open: a place for it, until there are changes, or for a stream of them.
import type { Access } from '../access.ts';
import type { EventFeed } from '../operation.ts';
import { ChangeWaits } from './change-waits.ts';
import { offDeadline } from './deadline.ts';
import { renderStream } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import type { Holding } from './execute.ts';
import type { Rendered } from './respond.ts';
import type { Services } from './services.ts';

interface Held {
  exchange: Exchange;
  access: Access;
  /** Waits until the request was counted. */
  counted: () => Promise<void> | null;
}

/** A request that can be held open. */
export class HeldRequest implements Holding {
  readonly #services: Services;
  readonly #held: Held;
  #waits: ChangeWaits | null = null;
  #giveBack: (() => void) | null = null;

  constructor(services: Services, held: Held) {
    this.#services = services;
    this.#held = held;
  }

  get lastEventId(): string | null {
    return this.#held.exchange.request.headers.get('Last-Event-ID') || null;
  }

  readonly wait = async (after: number, until: number): Promise<boolean> => {
    const { exchange, access, counted } = this.#held;
    const { request } = exchange;
    const { store, held, releaseOf } = this.#services;
    if (request.method === 'HEAD') return false;
    // A request that the rate limit rejects is not held.
    await counted();
    this.#waits ??= new ChangeWaits(store.signals, access.orgNumber, [request.signal, releaseOf(request)]);
    const since = performance.now();
    if (this.#waits.isOver || since >= until) return false;
    this.#giveBack ??= held.hold(access, 'wait');
    try {
      return await offDeadline(exchange, this.#waits.wait(after, until - since));
    } finally {
      exchange.heldMs += performance.now() - since;
    }
  };

  readonly openStream = (feed: EventFeed): Rendered => {
    const { exchange, access } = this.#held;
    return renderStream(this.#services, exchange, access, feed);
  };

  /** Gives the place of its waits back, once it has read what it waited for. */
  end(): void {
    if (this.#giveBack === null) return;
    this.#giveBack();
    this.#services.store.endSnapshot();
  }
}
