// Connections that are kept for as long as the server does, each with one request after another, as those of a proxy.
import { connect, type Socket } from 'node:net';

/** What came of a request: the head of its answer, or that the connection ended without one. */
export type Outcome = string | 'lost';

/** A kept connection. */
export class Kept {
  readonly #socket: Socket;
  #text = '';
  #isClosed = false;
  #heard: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => {
      this.#text += data.toString();
      this.#heard();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isClosed = true;
      this.#heard();
    });
  }

  /** Null where nobody listens any more. */
  static open(port: number): Promise<Kept | null> {
    const socket = connect(port, '127.0.0.1');
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(new Kept(socket)));
      socket.once('error', () => resolve(null));
    });
  }

  async send(head: string, body = ''): Promise<Outcome> {
    this.#text = '';
    this.#socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    while (!this.#isWhole()) {
      if (this.#isClosed) return 'lost';
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
    return this.#text.slice(0, this.#text.indexOf('\r\n\r\n'));
  }

  /** The body of the last answer. */
  get body(): string {
    return this.#text.slice(this.#text.indexOf('\r\n\r\n') + 4);
  }

  close(): void {
    this.#socket.destroy();
  }

  #isWhole(): boolean {
    const headEnd = this.#text.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(this.#text)?.[1];
    return headEnd >= 0 && this.#text.length >= headEnd + 4 + Number(length ?? 0);
  }
}

/** Whether an answer is the last of its connection. */
export const isLast = (outcome: Outcome) => /^connection: close$/im.test(outcome);
export const statusOf = (outcome: Outcome) => Number(/^HTTP\/1.1 (\d+)/.exec(outcome)?.[1] ?? 0);
/** A header of an answer; '' if it has none of that name. */
export const headerOf = (outcome: Outcome, name: string) =>
  new RegExp(`^${name}: (.*?)\\r?$`, 'im').exec(outcome)?.[1] ?? '';
