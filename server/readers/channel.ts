// Questions and answers between two threads, each a text: of all that can be passed that is what costs least.
import { decodeFailure, encodeFailure } from './error-codec.ts';

/** Questions and answers that go together, each in three places: its number, its kind, its text. */
export type Messages = readonly (number | string)[];

/** How a thread answers what it is asked, or takes what it is told: with a text, or with nothing but that it is done. */
export type Handler = (text: string) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

export interface ChannelOptions {
  /** Hands messages to the other thread. */
  post(messages: Messages): void;
  /** Runs what sends them as soon as no more are to be expected that could go with them. */
  gather(send: () => void): void;
}

const PLACES = 3;
const ANSWER = '';
const FAILURE = '!';
/** The number of what wants no answer. */
const NOTICE = 0;

interface Asking {
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** One end of the way between two threads; `Kind` is what the other one can be asked. */
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

  /** Asks the other thread; @throws what that fails with */
  ask(kind: Kind, text = ''): Promise<string> {
    this.#count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#asking.set(this.#count, { resolve, reject });
    this.#post(this.#count, kind, text);
    return promise;
  }

  /** Tells the other thread what wants no answer. */
  tell(kind: Kind, text: string): void {
    this.#post(NOTICE, kind, text);
  }

  /** Sends at once what is gathered, for a thread that ends. */
  readonly send = (): void => {
    if (this.#gathered.length === 0) return;
    const messages = this.#gathered;
    this.#gathered = [];
    this.#options.post(messages);
  };

  /** Takes messages of the other thread. */
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
    else asking?.reject(decodeFailure(text));
  }

  async #answer(number: number, kind: string, text: string): Promise<void> {
    let [answer, given]: [string, unknown] = [ANSWER, ''];
    try {
      given = await this.#handlers[kind]?.(text);
    } catch (error) {
      [answer, given] = [FAILURE, encodeFailure(error)];
    }
    if (number !== NOTICE) this.#post(number, answer, typeof given === 'string' ? given : '');
  }

  #post(number: number, kind: string, text: string): void {
    if (this.#gathered.length === 0) this.#options.gather(this.send);
    this.#gathered.push(number, kind, text);
  }
}
