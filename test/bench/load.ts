// A load generator: keep-alive connections that each send one request after another, over plain sockets.
import type { Socket } from 'bun';
import type { RoundResult, RoundShape } from './operation.ts';
import { cpuMicros } from './process.ts';

/** Gives the next request, as HTTP/1.1 bytes or as text in ASCII. */
export type NextRequest = () => Uint8Array | string;

export interface Load extends RoundShape {
  port: number;
  /** The process that answers. */
  pid: number;
  next: NextRequest;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = Buffer.from('\r\nContent-Length: ');
const [ZERO, TWO, NINE] = [0x30, 0x32, 0x39];
// "HTTP/1.1 2": where the first digit of the status stands.
const STATUS_AT = 9;

class Connection {
  startedAt = 0;
  /** Bytes of the body that are still to come; below 0 while the head is not whole. */
  missing = -1;
  /** What came of a head that is not whole. */
  head: Buffer | undefined;
  /** What the socket did not take. */
  unsent: Uint8Array | undefined;
}

/** Sends requests for a while and tells how many were answered, how fast, and what that cost. */
export async function runLoad(load: Load): Promise<RoundResult> {
  const run = new Run(load);
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => run.connect()));
  try {
    return await run.measure(sockets);
  } finally {
    for (const socket of sockets) socket.end();
  }
}

class Run {
  readonly #load: Load;
  readonly #latencies: number[] = [];
  readonly #done = Promise.withResolvers<void>();
  #failure: string | undefined;
  #bodyBytes = 0;
  #endsAt = 0;
  #busy = 0;

  constructor(load: Load) {
    this.#load = load;
  }

  connect(): Promise<Socket<Connection>> {
    const fail = (_: unknown, error: Error) => this.#done.reject(error);
    return Bun.connect<Connection>({
      hostname: '127.0.0.1',
      port: this.#load.port,
      data: new Connection(),
      socket: {
        data: (socket, chunk) => this.#receive(socket, chunk),
        drain: (socket) => write(socket, socket.data.unsent ?? ''),
        close: () => this.#done.reject(new Error('the server closed a connection')),
        error: fail,
        connectError: fail,
      },
    });
  }

  async measure(sockets: Socket<Connection>[]): Promise<RoundResult> {
    const { pid, milliseconds } = this.#load;
    const cpuBefore = cpuMicros(pid);
    const ownBefore = process.cpuUsage();
    const startedAt = performance.now();
    this.#endsAt = startedAt + milliseconds;
    this.#busy = sockets.length;
    for (const socket of sockets) this.#send(socket);
    await this.#done.promise;
    const seconds = (performance.now() - startedAt) / 1_000;
    const own = process.cpuUsage(ownBefore);
    const cpu = cpuMicros(pid) - cpuBefore;
    const latencies = Float64Array.from(this.#latencies).sort();
    const count = latencies.length;
    const at = (share: number) => latencies[Math.floor(count * share)] ?? 0;
    return {
      count,
      perSecond: count / seconds,
      cpuMicros: cpu / count,
      clientCpuMicros: (own.user + own.system) / count,
      latency: { p50Milliseconds: at(0.5), p99Milliseconds: at(0.99) },
      bodyBytes: this.#bodyBytes,
      failure: this.#failure,
    };
  }

  #send(socket: Socket<Connection>): void {
    socket.data.missing = -1;
    socket.data.startedAt = performance.now();
    write(socket, this.#load.next());
  }

  #receive(socket: Socket<Connection>, chunk: Buffer): void {
    const connection = socket.data;
    if (connection.missing >= 0) connection.missing -= chunk.byteLength;
    else if (!this.#readHead(connection, chunk)) return;
    if (connection.missing < 0) this.#fail(chunk, 'more bytes than its Content-Length');
    if (connection.missing > 0) return;
    const now = performance.now();
    this.#latencies.push(now - connection.startedAt);
    if (now < this.#endsAt) this.#send(socket);
    else if (--this.#busy === 0) this.#done.resolve();
  }

  /** Whether the head is whole; if it is, `requiredFault` tells what is to come. */
  #readHead(connection: Connection, chunk: Buffer): boolean {
    const bytes = connection.head === undefined ? chunk : Buffer.concat([connection.head, chunk]);
    const end = bytes.indexOf(HEAD_END);
    connection.head = end < 0 ? Buffer.from(bytes) : undefined;
    if (end < 0) return false;
    const length = contentLength(bytes);
    const expected = this.#load.bodyBytes ?? length;
    if (bytes[STATUS_AT] !== TWO) this.#fail(bytes, 'another status than 2xx');
    // Cursors, numbers and times vary in length.
    else if (Math.abs(length - expected) > 96 + expected / 20)
      this.#fail(bytes, `not ${expected} bytes long`);
    this.#bodyBytes = length;
    connection.missing = length - (bytes.byteLength - end - HEAD_END.byteLength);
    return true;
  }

  #fail(answer: Buffer, why: string): void {
    this.#failure ??= `${why}: ${answer.toString('utf8', 0, 1_000)}`;
  }
}

function contentLength(bytes: Buffer): number {
  const start = bytes.indexOf(CONTENT_LENGTH);
  if (start < 0) throw new Error('an answer without Content-Length');
  let length = 0;
  for (let at = start + CONTENT_LENGTH.byteLength; ; at++) {
    const digit = bytes[at] ?? 0;
    if (digit < ZERO || digit > NINE) return length;
    length = length * 10 + digit - ZERO;
  }
}

// A socket takes what fits; the remainder goes out when it drains.
function write(socket: Socket<Connection>, request: Uint8Array | string): void {
  const written = socket.write(request);
  socket.data.unsent =
    written < request.length ? Buffer.from(request.slice(Math.max(0, written)) as string) : undefined;
}

/** One HTTP/1.1 request as text; path, headers and body must be ASCII. */
export function httpRequest(method: string, path: string, headers: string, body = ''): string {
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}${length}\r\n${body}`;
}
