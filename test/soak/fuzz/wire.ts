// HTTP/1.1 as bytes on a socket: whatever is to be sent is sent, and what comes back is read strictly.
import { connect, type Socket } from 'node:net';
import { patienceMs } from '../patience.ts';

// Longer than a request can wait for changes.
const ANSWER_MS_MAX = patienceMs(35_000);
const STREAM = 'text/event-stream';
const HEAD_END = Buffer.from('\r\n\r\n');

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** What came of some bytes: the answers, and whether the connection was closed after them. */
export interface Outcome {
  answers: Answer[];
  isClosed: boolean;
  /** What is no HTTP in what came; empty where all is. */
  fault: string;
}

/** A connection on which one exchange follows another, opened again where it was closed. */
export class Wire {
  readonly #port: number;
  #socket: Socket | null = null;
  #received = Buffer.alloc(0);
  #wake: () => void = () => undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends bytes and reads that many answers, or what comes before the connection is closed. */
  async exchange(bytes: Uint8Array, methods: readonly string[]): Promise<Outcome> {
    const socket = this.#socket ?? (await this.#open());
    socket.write(bytes);
    const answers: Answer[] = [];
    const endAt = performance.now() + ANSWER_MS_MAX;
    while (answers.length < methods.length) {
      const read = readAnswer(this.#received, methods[answers.length] === 'HEAD');
      if (typeof read === 'string') return this.#end(answers, read);
      if (read !== null) {
        this.#received = this.#received.subarray(read.length);
        if (read.answer.status >= 200) answers.push(read.answer);
        // A stream has no end to wait for.
        if (read.answer.headers.get('content-type') === STREAM) return this.#end(answers, '');
        continue;
      }
      if (this.#socket === null) return this.#end(answers, '');
      if (performance.now() > endAt) return this.#end(answers, `no answer within ${ANSWER_MS_MAX / 1_000} s`);
      await this.#more(endAt - performance.now());
    }
    if (answers.at(-1)?.headers.get('connection') === 'close') return this.#end(answers, '');
    return { answers, isClosed: this.#socket === null, fault: '' };
  }

  /** Sends bytes, reads for a moment what comes of them, and cuts the connection off. */
  async abandon(bytes: Uint8Array, ms: number): Promise<Outcome> {
    const socket = this.#socket ?? (await this.#open());
    socket.write(bytes);
    await Bun.sleep(ms);
    const answers: Answer[] = [];
    let fault = '';
    for (;;) {
      const read = readAnswer(this.#received, false);
      if (typeof read === 'string') fault = read;
      if (read === null || typeof read === 'string') break;
      this.#received = this.#received.subarray(read.length);
      answers.push(read.answer);
    }
    return this.#end(answers, fault);
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = Buffer.alloc(0);
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1');
      socket.on('data', (chunk) => {
        this.#received = Buffer.concat([this.#received, chunk as Buffer]);
        this.#wake();
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = null;
        this.#wake();
      });
      socket.on('connect', () => {
        this.#socket = socket;
        resolve(socket);
      });
    });
  }

  async #more(ms: number): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#wake = waiting.resolve;
    const timer = setTimeout(waiting.resolve, ms);
    await waiting.promise;
    clearTimeout(timer);
  }

  #end(answers: Answer[], fault: string): Outcome {
    this.close();
    return { answers, isClosed: true, fault };
  }
}

// The first answer in some bytes; null while it is not whole, a text of what is wrong with it.
function readAnswer(bytes: Buffer, isHead: boolean): { answer: Answer; length: number } | null | string {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]);
  if (!(status >= 100)) return `no status line: ${first.slice(0, 80)}`;
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) return `no header: ${line.slice(0, 80)}`;
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const bodyAt = headEnd + HEAD_END.length;
  const hasNone = isHead || status < 200 || status === 204 || status === 304;
  const isStream = headers.get('content-type') === STREAM;
  if (headers.has('transfer-encoding') && !hasNone && !isStream) return 'an answer in chunks';
  const length = hasNone ? 0 : Number(headers.get('content-length') ?? 0);
  if (bytes.length < bodyAt + length) return null;
  const body = bytes.subarray(bodyAt, bodyAt + length).toString('utf8');
  return { answer: { status, headers, body }, length: bodyAt + length };
}
