// A connection for clients that do not behave: bytes as they please, at any speed, read or not.
import { connect, type Socket } from 'node:net';

/** What came of a request: the status of its answer, that the connection was closed without one, or nothing in time. */
export type Outcome = number | 'closed' | 'silent';

// More than a head has.
const HEAD_CHARACTERS = 4_096;
// Bun copies what a socket has not taken yet, and keeps that copy until the next garbage collection, closed or not: of
// bodies of 32 MiB that would be gigabytes.
const PIECE_BYTES = 65_536;

export class Raw {
  readonly #socket: Socket;
  #head = '';
  #bytes = 0;
  #isClosed = false;
  #heard: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      if (this.#head.length < HEAD_CHARACTERS) this.#head += data.toString('latin1', 0, HEAD_CHARACTERS);
      this.#bytes += data.length;
      this.#heard();
    });
    socket.on('error', () => undefined);
    for (const event of ['end', 'close'] as const)
      socket.on(event, () => {
        this.#isClosed = true;
        this.#heard();
      });
  }

  /** @throws if nobody listens there */
  static open(port: number): Promise<Raw> {
    const socket = connect({ host: '127.0.0.1', port });
    return new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(new Raw(socket)));
      socket.once('error', reject);
    });
  }

  /** Whether an answer has begun, or the connection is closed. */
  get isHeard(): boolean {
    return this.#isClosed || this.#head !== '';
  }

  /** Writes after what was written before, which must not be larger than a piece. */
  write(bytes: string | Uint8Array): void {
    this.#writeFrom(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0);
  }

  // Goes on whenever the socket has taken what it was given.
  #writeFrom(bytes: Uint8Array, start: number): void {
    for (let at = start; at < bytes.length; at += PIECE_BYTES) {
      if (this.#socket.destroyed) return;
      if (this.#socket.write(bytes.subarray(at, at + PIECE_BYTES))) continue;
      this.#socket.once('drain', () => this.#writeFrom(bytes, at + PIECE_BYTES));
      return;
    }
  }

  /** Reads nothing more, however much comes, or goes on. */
  read(isReading: boolean): void {
    if (isReading) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Whether all of an answer is here. */
  get isWhole(): boolean {
    const [, length] = /^content-length: (\d+)/im.exec(this.#head) ?? [];
    const headBytes = this.#head.indexOf('\r\n\r\n') + 4;
    return length !== undefined && headBytes > 4 && this.#bytes >= headBytes + Number(length);
  }

  /** The status of the answer, once it begins. */
  async outcome(ms: number): Promise<Outcome> {
    const endAt = performance.now() + ms;
    for (;;) {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(this.#head) ?? [];
      if (status !== undefined) return Number(status);
      if (this.#isClosed) return 'closed';
      if (performance.now() > endAt) return 'silent';
      await this.#more(endAt);
    }
  }

  /** Whether within that time an answer is whole, or given up. */
  async ends(ms: number): Promise<boolean> {
    const endAt = performance.now() + ms;
    const isOver = () => this.#isClosed || this.isWhole;
    while (!isOver() && performance.now() < endAt) await this.#more(endAt);
    return isOver();
  }

  close(): void {
    this.#socket.destroy();
  }

  #more(endAt: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heard = resolve;
    // It may have come between the look and the wait.
    const timer = setTimeout(resolve, Math.min(250, Math.max(1, endAt - performance.now())));
    return promise.finally(() => clearTimeout(timer));
  }
}

/** The head of a request. */
export function headOf(request: string, key: string, fields: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'crm.test', 'X-Service-Api-Key': key, ...fields });
  return `${request} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
