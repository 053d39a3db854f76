// One thread's path from the network to the app and back: its listener, and what the app needs to know of connections.
import type { Network } from '../../db/networks.ts';
import { type AppOptions, createApp } from '../app.ts';
import { clientAddress, networkMatcher } from '../pipeline/client-address.ts';
import type { Fetch } from './drain.ts';
import { Listener, type ListenOptions } from './listener.ts';
import type { QueueingListener } from './request-queue.ts';
import { ListenerHandover } from './takeover-old-server.ts';

export interface AppServerOptions
  extends Omit<ListenOptions, 'fetch'>,
    Omit<AppOptions, 'baseUrl' | 'ending' | 'releaseOf' | 'limitSilence' | 'isUnsent' | 'addressOf'> {
  /** Path of the database file, or database URL. */
  db: string;
  /** The public URL of the service, if it differs from the listen address. */
  baseUrl?: string;
  /** Proxies whose X-Forwarded-For is trusted; none by default. */
  trustedProxies?: readonly Network[];
}

export interface ServerAddresses {
  /** The public URL of the service, without a trailing slash. */
  url: string;
  listensOn: string;
}

export interface AppServer extends ServerAddresses {
  listener: Listener;
  handover: ListenerHandover;
}

/** The addresses of a server whose port is known. */
export function serverAddresses({
  host,
  port,
  baseUrl,
  certificate,
}: Pick<AppServerOptions, 'host' | 'port' | 'baseUrl' | 'certificate'>): ServerAddresses {
  const scheme = certificate === undefined ? 'http' : 'https';
  const listensOn = `${scheme}://${hostOf(host)}:${port}`;
  return { listensOn, url: baseUrl?.replace(/\/+$/, '') ?? listensOn };
}

/**
 * Listens, and answers requests.
 * @param queueing a listener that already queues requests; without it, a new one is opened
 * @throws the system's error if the port is taken, or OpenSSL's if the certificate or its key cannot be used
 */
export function startAppServer(
  options: AppServerOptions,
  queueing: QueueingListener | null = null,
): AppServer {
  const fetch: Fetch = (request) => app.fetch(withUsualHost(request));
  const listener = queueing?.listener ?? new Listener({ ...options, fetch });
  const addresses = serverAddresses({ ...options, port: listener.port });
  const isTrusted = networkMatcher(options.trustedProxies ?? []);
  const app = createApp({
    ...options,
    baseUrl: () => addresses.url,
    ending: listener.ending,
    releaseOf: (request) => listener.releaseOf(request),
    limitSilence: (request, seconds) => listener.limitSilence(request, seconds),
    isUnsent: (request) => listener.isUnsent(request),
    addressOf: (request) =>
      clientAddress(listener.peerOf(request), request.headers.get('X-Forwarded-For'), isTrusted),
  });
  queueing?.open(fetch);
  return { listener, handover: new ListenerHandover(listener, options.db, addresses.url), ...addresses };
}

const PATH_AT_MIN = 11;

// Elysia searches for the path from the twelfth character of the URL, which is too late for short or missing hosts. A new
// Request would lose a chunked body if the response comes before its end.
function withUsualHost(request: Request): Request {
  const { url } = request;
  const pathAt = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  if (pathAt >= PATH_AT_MIN) return request;
  return Object.defineProperty(request, 'url', { value: `http://localhost${url.slice(pathAt)}` });
}

function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
