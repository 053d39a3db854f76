// One thread's way from the network to the app and back: its listener, with what the app has to know of connections.
import type { Network } from '../../db/networks.ts';
import { type AppOptions, createApp } from '../app.ts';
import { clientAddress, membership } from '../pipeline/client-address.ts';
import type { Fetch } from './drain.ts';
import { Listener, type ListenOptions } from './listener.ts';
import type { WaitingRoom } from './queueing-listener.ts';
import { Handover } from './takeover-old-server.ts';

export interface FrontOptions
  extends Omit<ListenOptions, 'fetch'>,
    Omit<AppOptions, 'baseUrl' | 'ending' | 'limitSilence' | 'isUnsent' | 'addressOf'> {
  /** Path of the database file, or the address of a database. */
  db: string;
  /** Where clients reach the service, if that is not where it listens. */
  baseUrl?: string;
  /** Whose X-Forwarded-For is believed; nobody's unless said. */
  trustedProxies?: readonly Network[];
}

export interface Addresses {
  /** Where clients reach the service, without a trailing slash. */
  url: string;
  listensOn: string;
}

export interface Front extends Addresses {
  listener: Listener;
  handover: Handover;
}

/** The addresses of what listens on a port that is known. */
export function addressesOf({
  host,
  port,
  baseUrl,
  certificate,
}: Pick<FrontOptions, 'host' | 'port' | 'baseUrl' | 'certificate'>): Addresses {
  const scheme = certificate === undefined ? 'http' : 'https';
  const listensOn = `${scheme}://${hostOf(host)}:${port}`;
  return { listensOn, url: baseUrl?.replace(/\/+$/, '') ?? listensOn };
}

/**
 * Listens, and answers what comes.
 * @param room where requests wait already; it listens
 * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate or its key cannot be used
 */
export function openFront(options: FrontOptions, room: WaitingRoom | null = null): Front {
  const fetch: Fetch = (request) => app.fetch(withUsualHost(request));
  const listener = room?.listener ?? new Listener({ ...options, fetch });
  const addresses = addressesOf({ ...options, port: listener.port });
  const isTrusted = membership(options.trustedProxies ?? []);
  const app = createApp({
    ...options,
    baseUrl: () => addresses.url,
    ending: listener.ending,
    limitSilence: (request, seconds) => listener.limitSilence(request, seconds),
    isUnsent: (request) => listener.isUnsent(request),
    addressOf: (request) =>
      clientAddress(listener.peerOf(request), request.headers.get('X-Forwarded-For'), isTrusted),
  });
  room?.open(fetch);
  return { listener, handover: new Handover(listener, options.db, addresses.url), ...addresses };
}

const PATH_AT_MIN = 11;

// Elysia looks for the path from the twelfth character of the URL on: past that of `http://crm/…`, or of no host at all.
// A new Request would not do: its body, sent in chunks, is lost when the answer comes before the end of it.
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
