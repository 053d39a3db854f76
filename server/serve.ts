// Starts the service: lock, database, app, socket; and stops it in the opposite order.

import { type DatabaseError, lockForServing, openStore, type Store } from '../db/store.ts';
import { purgeStoredResponses } from '../db/tables/idempotency.ts';
import { getSigningSecret } from '../db/tables/settings.ts';
import { createApp } from './app.ts';
import { clientAddress, membership, type Network } from './client-address.ts';
import { LineWriter, stderrWrite } from './line-writer.ts';
import { type CertificateFiles, Listener } from './listener.ts';
import { createLogger, type LogStyle, lostLine } from './log.ts';
import type { BodyLimits } from './pipeline/body-budget.ts';
import { storeExecutor } from './pipeline/execute.ts';

export interface ServeOptions {
  /** Path of the database file. */
  db: string;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where clients reach the service, if that is not where it listens. */
  baseUrl?: string;
  tls?: CertificateFiles;
  /** Whose X-Forwarded-For is believed; nobody's unless said. */
  trustedProxies?: readonly Network[];
  keyLimit: number;
  orgLimit: number;
  /** Bytes of request bodies that an organization, and all together, may have under way. */
  bodyLimits?: BodyLimits;
  log: LogStyle;
}

export interface RunningServer {
  /** Where clients reach it. */
  url: string;
  /** Where it listens. */
  listensOn: string;
  docsUrl: string;
  /** Whether the database has no organization yet. */
  isEmpty: boolean;
  /**
   * Reads certificate and key anew; false where it serves no HTTPS.
   * @throws the reason why they cannot be used; what was served before goes on being served
   */
  reopenCertificates(): Promise<boolean>;
  /** Writes lines for the operator to stderr, at once and in order with those of the log. */
  tell(text: string): void;
  /**
   * Goes on for a moment but sends clients elsewhere: for so many milliseconds, else as long as requests come, for at most
   * 2 s. It is within the 10 s of `stop`.
   */
  drain(ms?: number): Promise<void>;
  /** Lets running requests finish, for at most 10 s, and closes everything. */
  stop(): Promise<void>;
}

const PURGE_EVERY_MS = 10 * 60_000;

/**
 * Serves a database.
 * @throws DatabaseError if the file cannot be used or is served already; the system's error if the port is taken
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const unlock = lockForServing(options.db, {
    pid: process.pid,
    since: new Date().toISOString(),
    address: `${options.host}:${options.port}`,
  });
  const lines = new LineWriter(stderrWrite(), (count) => lostLine(options.log, count));
  const endLines = () => lines.end();
  // However the process ends, if JavaScript hears of it.
  process.on('exit', endLines);
  const release = () => {
    process.off('exit', endLines);
    endLines();
    unlock();
  };
  try {
    const store = await openStore(options.db, {
      onDiskFailure: (error) => exitOnDiskFailure(lines, error),
      onTrouble: (trouble) => tellTrouble(lines, trouble, 'Writes are refused (503).'),
      onUnready: (trouble) => tellTrouble(lines, trouble, 'Until that is over /readyz answers 503.'),
      onWarning: (warning) => tell(lines, warning),
    });
    return await listen(store, lines, options, release).catch(async (error) => {
      await store.close();
      throw error;
    });
  } catch (error) {
    release();
    throw error;
  }
}

async function listen(
  store: Store,
  lines: LineWriter,
  options: ServeOptions,
  release: () => void,
): Promise<RunningServer> {
  const signingSecret = await store.write('accounts', getSigningSecret);
  let url = '';
  let addressOf = (_request: Request): string => '';
  let limitSilence = (_request: Request, _seconds: number): void => undefined;
  const app = createApp({
    store,
    executor: storeExecutor(store),
    signingSecret,
    baseUrl: () => url,
    keyLimit: options.keyLimit,
    orgLimit: options.orgLimit,
    ...(options.bodyLimits && { bodyLimits: options.bodyLimits }),
    limitSilence: (request, seconds) => limitSilence(request, seconds),
    addressOf: (request) => addressOf(request),
    logger: createLogger(options.log, (line) => lines.add(line)),
  });
  const listener = await Listener.open({ ...options, fetch: (request) => app.fetch(withUsualHost(request)) });
  const scheme = options.tls === undefined ? 'http' : 'https';
  const listensOn = `${scheme}://${hostOf(options.host)}:${listener.port}`;
  url = options.baseUrl?.replace(/\/+$/, '') ?? listensOn;
  limitSilence = (request, seconds) => listener.limitSilence(request, seconds);
  const isTrusted = membership(options.trustedProxies ?? []);
  addressOf = (request) =>
    clientAddress(listener.peerOf(request), request.headers.get('X-Forwarded-For'), isTrusted);
  const purging = setInterval(() => {
    // What goes wrong is left for the next time; requests that write tell of the same trouble.
    store.alone(() => purge(store)).catch(() => undefined);
  }, PURGE_EVERY_MS);
  const organization = await store.read.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
  return {
    url,
    listensOn,
    docsUrl: `${url}/docs`,
    isEmpty: organization === undefined,
    reopenCertificates: () => listener.reopenCertificates(),
    tell: (text) => tell(lines, text),
    drain: (ms) => listener.drain(ms),
    stop: async () => {
      clearInterval(purging);
      await listener.stop();
      await store.close();
      release();
    },
  };
}

async function purge(store: Store): Promise<void> {
  await purgeStoredResponses(store, Date.now());
  await store.counters.purge();
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

// After a failed write nothing in memory can be trusted; a restart reads what is really on the disk.
function exitOnDiskFailure(lines: LineWriter, error: unknown): void {
  tell(
    lines,
    `The disk under the database failed: ${error instanceof Error ? error.message : error}`,
    'The server stops, so that a restart can settle what was written.',
  );
  process.exit(1);
}

function tellTrouble(lines: LineWriter, trouble: DatabaseError | null, effect: string): void {
  if (trouble === null) tell(lines, 'The database is as it should be again: writes go on.');
  else tell(lines, trouble.message, effect, ...trouble.nextSteps.map((step) => `Next: ${step}`));
}

// At once, as the process may be about to end.
function tell(lines: LineWriter, ...texts: readonly string[]): void {
  for (const text of texts) lines.add(text);
  lines.flush();
}
