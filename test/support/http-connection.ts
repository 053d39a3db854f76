// A connection as a client without retries has it: what is sent on it is answered, or has failed.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Answer {
  status: number;
  /** Whether the server has said that it answers no more on this connection. */
  isLast: boolean;
  /** Status line and header fields. */
  head: string;
  body: string;
}

export interface Asked {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Milliseconds over which the body is sent, in pieces; all at once unless said. */
  bodyMs?: number;
}

const PIECES = 8;

export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #heard: () => void = () => undefined;
  #hasBody = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data]);
      this.#heard();
    });
    socket.on('error', () => undefined);
    socket.on('end', () => this.#close());
    socket.on('close', () => this.#close());
  }

  /**
   * @param from address of this machine that the server is to see
   * @throws if nobody listens there
   */
  static open(url: string, from?: string): Promise<HttpConnection> {
    const { hostname, port, protocol } = new URL(url);
    const isTls = protocol === 'https:';
    const to = { host: hostname, port: Number(port), ...(from !== undefined && { localAddress: from }) };
    const socket = isTls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    return new Promise((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', () => resolve(new HttpConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** Whether the server has closed it, as far as is known here. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws if the connection ends before the answer is there */
  async ask({ method, path, headers = {}, body = '', bodyMs = 0 }: Asked): Promise<Answer> {
    this.#received = Buffer.alloc(0);
    this.#hasBody = method !== 'HEAD';
    const bytes = Buffer.from(body);
    const fields = Object.entries({ Host: 'crm.example', 'Content-Length': bytes.length, ...headers });
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n`);
    if (bodyMs === 0) this.#socket.write(bytes);
    else await this.#sendSlowly(bytes, bodyMs);
    for (;;) {
      const answer = this.#answer();
      if (answer !== null) return answer;
      if (this.#isClosed) throw new Error(`lost after ${this.#received.length} bytes of an answer`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #sendSlowly(bytes: Buffer, ms: number): Promise<void> {
    const size = Math.ceil(bytes.length / PIECES);
    for (let at = 0; at < bytes.length && !this.#isClosed; at += size) {
      this.#socket.write(bytes.subarray(at, at + size));
      await Bun.sleep(ms / PIECES);
    }
  }

  #close(): void {
    this.#isClosed = true;
    this.#heard();
  }

  #answer(): Answer | null {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return null;
    const head = this.#received.subarray(0, headEnd).toString();
    const body = this.#body(head, this.#received.subarray(headEnd + 4));
    if (body === null) return null;
    const status = Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0);
    return { status, isLast: /^connection: close$/im.test(head), head, body: body.toString() };
  }

  // Null while there is not all of it.
  #body(head: string, received: Buffer): Buffer | null {
    if (!this.#hasBody) return Buffer.alloc(0);
    if (/^transfer-encoding: chunked$/im.test(head)) return unchunked(received);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    return received.length < length ? null : received;
  }
}

function unchunked(received: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(received.subarray(at, lineEnd).toString(), 16);
    const end = lineEnd + 2 + size;
    if (received.length < end + 2) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(received.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
