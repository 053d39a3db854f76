// The Unix socket on which a new server receives the requests that reached the old one: made, answered and sent to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMALL_BYTES_MAX } from '../quotas/in-flight-budget.ts';
import type { Fetch } from './drain.ts';

/** Set only by the old server, which overwrites what a client sent; others cannot reach the socket. */
const PEER_HEADER = 'Crm-Handed-Over-From';
const URL_HEADER = 'Crm-Handed-Over-URL';
// unix(7): including the final NUL.
const PATH_BYTES_MAX = 107;
// Headers about a single connection, and those that no longer apply once the request is read.
const OF_CONNECTION = ['Connection', 'Keep-Alive', 'Transfer-Encoding', 'TE', 'Upgrade', 'Expect'];

/** The socket's path, and how to remove it. */
export interface TakeoverSocket {
  path: string;
  remove(): void;
}

/** A place for the socket that only this user can access; null if there is none. */
export function createTakeoverSocket(): TakeoverSocket | null {
  try {
    // Created with mode 0700.
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
    // Without a folder for temporary files no requests are forwarded, and the old server drains by itself.
  }
  return null;
}

/** Restores the client address and the path of each forwarded request. */
export class ForwardedRequests {
  readonly #peers = new WeakMap<Request, string>();
  readonly #unsent = new WeakSet<Request>();

  /** Answers forwarded requests with `fetch`. */
  answer(fetch: Fetch): Fetch {
    return async (request) => {
      const { headers } = request;
      this.#peers.set(request, headers.get(PEER_HEADER) ?? '');
      const value = headers.get(URL_HEADER) ?? request.url;
      Object.defineProperty(request, 'url', { value, configurable: true });
      for (const name of [PEER_HEADER, URL_HEADER]) headers.delete(name);
      this.#unsent.add(request);
      return trackedResponse(await fetch(request), () => this.#unsent.delete(request));
    };
  }

  /** Whether the old server is still reading the response to a request. */
  isUnsent(request: Request): boolean {
    return this.#unsent.has(request);
  }

  /** The client's network address; undefined for a request that was not forwarded. */
  peerOf(request: Request): string | undefined {
    return this.#peers.get(request);
  }
}

/**
 * Sends a request to the new server.
 * @param takeoverSocket path of its socket
 * @param peer network address of the client
 * @throws the system's error: ENOENT or ECONNREFUSED if no server listens, another if it fails midway
 */
export function forwardRequest(takeoverSocket: string, request: Request, peer: string): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of OF_CONNECTION) headers.delete(name);
  headers.set(PEER_HEADER, peer);
  headers.set(URL_HEADER, request.url);
  const { method, body, signal } = request;
  return fetch('http://crm/', {
    ...{ unix: takeoverSocket, keepalive: false, redirect: 'manual', decompress: false },
    ...{ method, headers, body, signal },
  });
}

/**
 * The response, with a large body in pieces; `onTaken` is called once the last piece is read, or the reader has stopped.
 */
export async function trackedResponse(response: Response, onTaken: () => void): Promise<Response> {
  const { status, headers } = response;
  if (response.body === null) {
    onTaken();
    return response;
  }
  const bytes = await response.bytes();
  if (bytes.byteLength > SMALL_BYTES_MAX) return new Response(inPieces(bytes, onTaken), { status, headers });
  onTaken();
  return new Response(bytes, { status, headers });
}

function inPieces(bytes: Uint8Array, onTaken: () => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + SMALL_BYTES_MAX));
      at += SMALL_BYTES_MAX;
      if (at < bytes.byteLength) return;
      controller.close();
      onTaken();
    },
    cancel: onTaken,
  });
}
