// A client of the stream of changes: it must get each change once and in order, however slow it is or often it comes back.
import { EventReader } from '../../support/event-stream.ts';
import { patienceMs } from '../patience.ts';

const AGAIN_MS = 50;
const PLENTY_MS = patienceMs(10_000);

export interface ReaderOptions {
  url: string;
  key: string;
  /** The cursor and the sequence number from which to continue. */
  cursor: string;
  sequence: number;
  /** Milliseconds between two events; not once it was told to hurry. */
  pauseMs?: number;
  /** The number of events after which it disconnects and comes back. */
  eventsPerStream?: number;
}

export class StreamReader {
  sequence: number;
  streams = 0;
  readonly faults: string[] = [];
  /** Milliseconds from each write to its event. */
  readonly delays: number[] = [];
  readonly #options: ReaderOptions;
  #cursor: string;
  #isHurried = false;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  /** Opens the stream. */
  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.sequence = options.sequence;
    this.#running = this.#run();
  }

  /** Reads on to that sequence number without pauses, then disconnects. */
  async finish(sequence: number): Promise<void> {
    this.#isHurried = true;
    let [last, heardAt] = [this.sequence, performance.now()];
    while (this.sequence < sequence && this.faults.length === 0) {
      await Bun.sleep(5);
      if (this.sequence !== last) [last, heardAt] = [this.sequence, performance.now()];
      else if (performance.now() - heardAt > PLENTY_MS)
        this.faults.push(`nothing came after ${last} of ${sequence}`);
    }
    // Also ends a stream that is just being opened.
    this.#ending.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted && this.faults.length === 0) {
      try {
        await this.#stream();
      } catch {
        // The server is gone, or is not there yet.
        await Bun.sleep(AGAIN_MS);
      }
    }
  }

  async #stream(): Promise<void> {
    const { url, key, pauseMs = 0, eventsPerStream = Number.POSITIVE_INFINITY } = this.#options;
    const response = await fetch(`${url}/api/v2/changes/stream`, {
      headers: { 'X-Service-Api-Key': key, 'Last-Event-ID': this.#cursor },
      signal: this.#ending.signal,
    });
    const reader = new EventReader(response);
    this.streams += 1;
    for (let count = 0; count < eventsPerStream; count++) {
      const event = await reader.next();
      if (event === null) return;
      if (event.event !== 'change' || event.data.sequence !== this.sequence + 1) {
        this.faults.push(
          `after ${this.sequence} came ${event.event} ${event.data.sequence ?? JSON.stringify(event.data)}`,
        );
        break;
      }
      this.sequence += 1;
      this.#cursor = event.id;
      this.delays.push(Date.now() - Date.parse(event.data.at));
      if (pauseMs > 0 && !this.#isHurried) await Bun.sleep(pauseMs);
    }
    await reader.close();
  }
}
