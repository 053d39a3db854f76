// A client that sends a request in pieces, with pauses, and listens all the while.
import { connect } from 'node:net';

export interface Dribbled {
  /** Of the answer; 0 where the connection was closed without one. */
  status: number;
  head: string;
  body: string;
  /** Milliseconds from the first piece to the answer, or to the end of the connection. */
  ms: number;
  /** The longest time for which it sent nothing before it had the answer; longer than asked for where this thread stalled. */
  pauseMs: number;
  /** Resolves once the server has closed the connection. */
  closed: Promise<void>;
}

export interface DribbleOptions {
  gapMs?: number;
  /** Begins again with the last piece, for as long as there is no answer. */
  isEndless?: boolean;
}

/** Sends pieces one after another, and gives the answer, or that there was none. */
export async function dribble(
  url: string,
  pieces: readonly string[],
  { gapMs = 0, isEndless = false }: DribbleOptions = {},
): Promise<Dribbled> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  const [closed, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [text, isOver] = ['', false];
  const end = () => {
    isOver = true;
    answered.resolve();
  };
  socket.on('data', (data) => {
    text += data.toString();
    if (isWhole(text)) end();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    end();
    closed.resolve();
  });
  const startedMs = performance.now();
  let pauseMs = 0;
  const send = async () => {
    for (let index = 0; !isOver && (isEndless || index < pieces.length); index++) {
      const sentMs = performance.now();
      socket.write(pieces[Math.min(index, pieces.length - 1)] ?? '');
      if (gapMs > 0) await Promise.race([answered.promise, Bun.sleep(gapMs)]);
      pauseMs = Math.max(pauseMs, performance.now() - sentMs);
    }
  };
  await Promise.all([send(), answered.promise]);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const ms = performance.now() - startedMs;
  return { status: Number(head.split(' ')[1] ?? 0), head, body, ms, pauseMs, closed: closed.promise };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
  return end >= 0 && Buffer.byteLength(text) >= end + 4 + length;
}

/** The beginning of a request. */
export function requestHead(line: string, headers: Record<string, string | number> = {}): string {
  const fields = Object.entries({ Host: 'crm.test', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${[`${line} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n`;
}

/** A piece of a body whose length is not given; the last one is empty. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
