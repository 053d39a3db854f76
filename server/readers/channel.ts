// Messages between two threads, sent as text, which is the cheapest form to pass.
import { decodeError, encodeError } from './error-codec.ts';

/** Messages sent together, each as three elements: number, kind, text. */
export type Messages = readonly (number | string)[];

/** Answers a request or receives a notice of the other thread; returns a text, or nothing. */
export type Handler = (text: string) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

export interface ChannelOptions {
  /** Sends messages to the other thread. */
  post(messages: Messages): void;
  /** Calls `send` once no more messages are expected that could be sent together. */
  gather(send: () => void): void;
}

const PLACES = 3;
const ANSWER = '';
const FAILURE = '!';
/** The number of messages that expect no answer. */
const NOTICE = 0;

interface Asking {
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** One end of a channel between two threads; `Kind` is what the other end can be asked. */
export class Channel<Kind extends string> {
  readonly #options: ChannelOptions;
  readonly #handlers: Handlers;
  readonly #asking = new Map<number, Asking>();
  #count = NOTICE;
  #gathered: (number | string)[] = [];

  constructor(options: ChannelOptions, handlers: Handlers) {
    this.#options = options;
    this.#handlers = handlers;
  }

  /** Asks the other thread; @throws its error */
  ask(kind: Kind, text = ''): Promise<string> {
    this.#count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#asking.set(this.#count, { resolve, reject });
    this.#post(this.#count, kind, text);
    return promise;
  }

  /** Sends the other thread a message without waiting for an answer. */
  tell(kind: Kind, text: string): void {
    this.#post(NOTICE, kind, text);
  }

  /** Sends collected messages at once, before the thread ends. */
  readonly send = (): void => {
    if (this.#gathered.length === 0) return;
    const messages = this.#gathered;
    this.#gathered = [];
    this.#options.post(messages);
  };

  /** Receives messages from the other thread. */
  receive(messages: Messages): void {
    for (let at = 0; at < messages.length; at += PLACES) {
      const [number, kind, text] = messages.slice(at, at + PLACES) as [number, string, string];
      if (kind === ANSWER || kind === FAILURE) this.#settle(number, kind, text);
      else this.#answer(number, kind, text);
    }
  }

  #settle(number: number, kind: string, text: string): void {
    const asking = this.#asking.get(number);
    this.#asking.delete(number);
    if (kind === ANSWER) asking?.resolve(text);
    else asking?.reject(decodeError(text));
  }

  async #answer(number: number, kind: string, text: string): Promise<void> {
    let [answer, given]: [string, unknown] = [ANSWER, ''];
    try {
      given = await this.#handlers[kind]?.(text);
    } catch (error) {
      [answer, given] = [FAILURE, encodeError(error)];
    }
    if (number !== NOTICE) this.#post(number, answer, typeof given === 'string' ? given : '');
  }

  #post(number: number, kind: string, text: string): void {
    if (this.#gathered.length === 0) this.#options.gather(this.send);
    this.#gathered.push(number, kind, text);
  }
}
