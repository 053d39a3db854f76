// A load generator: keep-alive connections that each send one request after another, over plain sockets.
import type { Socket } from 'bun';

export interface Load {
  port: number;
  /** The next request, as HTTP/1.1 bytes. */
  next: () => string;
  connections: number;
  durationMs: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Answers with another status than 2xx. */
  failures: number;
}

interface Pending {
  startedAt: number;
  missing: number;
  head: string;
}

/** Sends requests for a while and tells how many were answered, and how fast. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const endsAt = performance.now() + load.durationMs;
  const startedAt = performance.now();
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const pending: Pending = { startedAt: 0, missing: -1, head: '' };
      const send = (socket: Socket) => {
        pending.startedAt = performance.now();
        pending.missing = -1;
        pending.head = '';
        writeAll(socket, Buffer.from(load.next()));
      };
      const answered = (socket: Socket) => {
        latencies.push(performance.now() - pending.startedAt);
        if (performance.now() < endsAt) send(socket);
        else socket.end();
      };
      Bun.connect({
        hostname: '127.0.0.1',
        port: load.port,
        socket: {
          open: send,
          data: (socket, chunk) => {
            let bytes = chunk.byteLength;
            if (pending.missing < 0) {
              pending.head += chunk.toString('latin1');
              const end = pending.head.indexOf('\r\n\r\n');
              if (end < 0) return;
              if (!/^HTTP\/1\.1 2/.test(pending.head)) failures++;
              const length = Number(/content-length: (\d+)/i.exec(pending.head.slice(0, end))?.[1] ?? 0);
              bytes = pending.head.length - end - 4;
              pending.missing = length;
            }
            pending.missing -= bytes;
            if (pending.missing <= 0) answered(socket);
          },
          drain: (socket) => writeAll(socket, rest.get(socket) ?? Buffer.alloc(0)),
          close: () => resolve(),
          error: (_, error) => reject(error),
          connectError: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  await Promise.all(Array.from({ length: load.connections }, one));
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { requestsPerSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), failures };
}

const rest = new WeakMap<Socket, Buffer>();

// A socket takes what fits; the remainder goes out when it drains.
function writeAll(socket: Socket, bytes: Buffer): void {
  const written = socket.write(bytes);
  if (written < bytes.byteLength) rest.set(socket, bytes.subarray(Math.max(0, written)));
  else rest.delete(socket);
}

/** One HTTP/1.1 request as text; the body must be ASCII. */
export function httpRequest(method: string, path: string, key: string, body = ''): string {
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${length}\r\n${body}`;
}
