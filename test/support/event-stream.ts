// Reads streams of server-sent events, as the standard says, one event after the other.
import type { Json } from './json.ts';

export interface StreamEvent {
  event: string;
  id: string;
  data: Json;
}

/** Whether a response is a stream of events. */
export function isStream(response: Response): boolean {
  const isNamed = (response.headers.get('Content-Type') ?? '').startsWith('text/event-stream');
  // Last: looking at the body makes a stream of it, which takes longer to read.
  return isNamed && response.body !== null;
}

/** The first piece of a stream, which is then left. */
export async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

export class EventReader {
  /** The ID from which to continue. */
  lastEventId = '';
  /** Milliseconds after which to open the stream again, as it says. */
  retry: number | null = null;
  comments = 0;
  /** What arrived after the last whole event. */
  rest = '';
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(response: Response) {
    if (!isStream(response) || response.body === null) throw new Error(`${response.status} is no stream`);
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** The next event; null at the end of the stream. */
  async next(): Promise<StreamEvent | null> {
    for (;;) {
      for (let end = this.rest.indexOf('\n\n'); end >= 0; end = this.rest.indexOf('\n\n')) {
        const block = this.rest.slice(0, end);
        this.rest = this.rest.slice(end + 2);
        const event = this.#take(block);
        if (event !== null) return event;
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.rest += this.#decoder.decode(value, { stream: true });
    }
  }

  /** As many events. */
  async take(count: number): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === null) throw new Error(`the stream ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  /** Everything until the stream ends. */
  async all(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  #take(block: string): StreamEvent | null {
    let event = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (name === '') this.comments += 1;
      else if (name === 'event') event = value;
      else if (name === 'id') this.lastEventId = value;
      else if (name === 'data') data.push(value);
      else if (name === 'retry') this.retry = Number(value);
      else throw new Error(`unknown field ${name}`);
    }
    return data.length === 0
      ? null
      : { event, id: this.lastEventId, data: JSON.parse(data.join('\n')) as Json };
  }
}
