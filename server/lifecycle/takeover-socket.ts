// Where a server takes requests from the one whose place it took, with what that saw of whoever sent them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fetch } from './drain.ts';
import { followed } from './takeover-response-body.ts';

/** Named by the former server alone: it takes away what its clients send of these names, and nobody else gets here. */
const PEER_HEADER = 'Crm-Handed-Over-From';
const URL_HEADER = 'Crm-Handed-Over-URL';
// unix(7): with the NUL at its end.
const PATH_BYTES_MAX = 107;
// What belongs to one connection only, and what has been done once it is read.
const OF_CONNECTION = ['Connection', 'Keep-Alive', 'Transfer-Encoding', 'TE', 'Upgrade', 'Expect'];

/** The socket's path, and what removes it. */
export interface InletPlace {
  path: string;
  remove(): void;
}

/** A place for the socket that this user alone can reach; null where there is none. */
export function inletPlace(): InletPlace | null {
  try {
    // Made with mode 0700.
    const folder = mkdtempSync(join(tmpdir(), 'crm-'));
    const path = join(folder, 'inlet');
    const remove = () => {
      process.off('exit', remove);
      rmSync(folder, { recursive: true, force: true });
    };
    process.on('exit', remove);
    if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, remove };
    remove();
  } catch {
    // Without a folder for what is temporary no request is handed over, and the former server ends as it can.
  }
  return null;
}

/** Gives each request that is handed over the address and the path that it came with. */
export class Arrivals {
  readonly #peers = new WeakMap<Request, string>();
  readonly #unsent = new WeakSet<Request>();

  /** Answers as `fetch` does, to requests that were handed over. */
  answer(fetch: Fetch): Fetch {
    return async (request) => {
      const { headers } = request;
      this.#peers.set(request, headers.get(PEER_HEADER) ?? '');
      const value = headers.get(URL_HEADER) ?? request.url;
      Object.defineProperty(request, 'url', { value, configurable: true });
      for (const name of [PEER_HEADER, URL_HEADER]) headers.delete(name);
      this.#unsent.add(request);
      return followed(await fetch(request), () => this.#unsent.delete(request));
    };
  }

  /** Whether the answer to a request is still being taken by the server that handed it over. */
  isUnsent(request: Request): boolean {
    return this.#unsent.has(request);
  }

  /** The network address at the other end; undefined for a request that was not handed over. */
  peerOf(request: Request): string | undefined {
    return this.#peers.get(request);
  }
}

/**
 * Has another server answer a request.
 * @param inlet path of its socket
 * @param peer network address of whoever sent the request
 * @throws the system's error, ENOENT or ECONNREFUSED if nobody is there, any other if it ends in the midst of it
 */
export function sendTo(inlet: string, request: Request, peer: string): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of OF_CONNECTION) headers.delete(name);
  headers.set(PEER_HEADER, peer);
  headers.set(URL_HEADER, request.url);
  const { method, body, signal } = request;
  return fetch('http://crm/', {
    ...{ unix: inlet, keepalive: false, redirect: 'manual', decompress: false },
    ...{ method, headers, body, signal },
  });
}
