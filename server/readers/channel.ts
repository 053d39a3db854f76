// Questions and answers between two threads, each a text: of all that can be passed that is what costs least.
import { decodeFailure, encodeFailure } from './failure.ts';

/** A question with its number, or what it is answered with. */
export type Message = readonly [number: number, kind: string, text: string];

/** How a thread answers what it is asked, or takes what it is told: with a text, or with nothing but that it is done. */
export type Handler = (text: string) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

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
  readonly #post: (message: Message) => void;
  readonly #handlers: Handlers;
  readonly #asking = new Map<number, Asking>();
  #count = NOTICE;

  constructor(post: (message: Message) => void, handlers: Handlers) {
    this.#post = post;
    this.#handlers = handlers;
  }

  /** Asks the other thread; @throws what that fails with */
  ask(kind: Kind, text = ''): Promise<string> {
    this.#count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#asking.set(this.#count, { resolve, reject });
    this.#post([this.#count, kind, text]);
    return promise;
  }

  /** Tells the other thread what wants no answer. */
  tell(kind: Kind, text: string): void {
    this.#post([NOTICE, kind, text]);
  }

  /** Takes a message of the other thread. */
  receive([number, kind, text]: Message): void {
    if (kind !== ANSWER && kind !== FAILURE) {
      this.#answer(number, kind, text);
      return;
    }
    const asking = this.#asking.get(number);
    this.#asking.delete(number);
    if (kind === ANSWER) asking?.resolve(text);
    else asking?.reject(decodeFailure(text));
  }

  async #answer(number: number, kind: string, text: string): Promise<void> {
    let answer: Message;
    try {
      const given = await this.#handlers[kind]?.(text);
      answer = [number, ANSWER, typeof given === 'string' ? given : ''];
    } catch (error) {
      answer = [number, FAILURE, encodeFailure(error)];
    }
    if (number !== NOTICE) this.#post(answer);
  }
}
