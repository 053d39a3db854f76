// A whole service for a test: a database of its own in a temporary folder, createApp on it, a clock to turn.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganization, createUser } from '../../db/accounts/accounts.ts';
import { type AccessLevel, issueKey } from '../../db/accounts/keys.ts';
import { createSharedMemory } from '../../db/counters/shared-memory.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { openStore, type Store } from '../../db/store.ts';
import { makeSigningSecret, makeWebhookKey } from '../../db/tables/settings.ts';
import { createApp } from '../../server/app.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { storeExecutor } from '../../server/pipeline/execute.ts';
import type { Observer } from '../../server/pipeline/observer.ts';
import type { InFlightLimits } from '../../server/quotas/in-flight-budget.ts';
import { beginningOf, isStream } from './event-stream.ts';
import { dropDatabase, freshDatabase, freshFile, isPostgres } from './fresh-databases.ts';
import type { Json } from './json.ts';
import { checkAgainstDocument } from './openapi.ts';
import { type ReaderApp, readerApp, usesReaderThread } from './reader-app.ts';
import { rehearsed } from './rehearsed-store.ts';

export type { Json } from './json.ts';

export const BASE_URL = 'http://crm.test';
// On a machine whose cores are taken, many requests at once can take longer than the nine seconds of production.
const RESPONSE_MS_MAX = 300_000;
const MINUTE_MS = 60_000;
// Limits start over every minute: a test that counts should not meet its end.
const beginningOfMinute = (ms: number): number => ms - (ms % MINUTE_MS);

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

export interface RequestInput {
  key?: string | null;
  body?: Json;
  /** Sent as it is, instead of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

export type Send = (method: string, path: string, input?: RequestInput) => Promise<Reply>;

export interface KeyOptions {
  api?: 'v1' | 'v2';
  scopes?: readonly string[];
  access?: AccessLevel;
  userId?: string | null;
  expiresAt?: number | null;
  orgNumber?: number;
  prefix?: string;
  networks?: readonly string[];
  requestsPerMinute?: number;
}

export interface Harness {
  store: Store;
  /** The path of the file, or the address on PostgreSQL. */
  dbPath: string;
  orgNumber: number;
  otherOrgNumber: number;
  /** Two users of the organization. */
  alice: string;
  bob: string;
  /** Organization-wide keys with every scope. */
  v1: string;
  v2: string;
  /** Turns the clock, Unix milliseconds. By itself it goes on by one with each request that may write. */
  clock: { now: number };
  send: Send;
  /** Answers a request as it is. */
  handle(request: Request): Promise<Response>;
  issue(options?: KeyOptions): Promise<{ key: string; id: string }>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  /** A database that is there already, and empty; one of its own unless given. */
  db?: string;
  /** Where the clock begins, Unix milliseconds; with the current minute unless given. */
  now?: number;
  keyLimit?: number;
  orgLimit?: number;
  inFlightLimits?: InFlightLimits;
  /** How long a body waits for its room, in milliseconds. */
  bodyWaitMs?: number;
  /** How often the key of a stream is looked at again, in milliseconds. */
  lookEveryMs?: number;
  /** What releases a request that is held open; nothing does unless given. */
  releaseOf?: (request: Request) => AbortSignal;
  /** Whether the answer to a request is still being sent; none is unless given. */
  isUnsent?: (request: Request) => boolean;
  observer?: Observer;
  /** Whether every job is run twice. */
  isRehearsed?: boolean;
  /** Takes the log as JSON lines; without it, failures go to stderr and nothing else is logged. */
  log?: (line: string) => void;
}

/** Starts a service; limits are out of the way unless given. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  const dbPath = options.db ?? (isPostgres ? await freshDatabase() : join(folder, 'crm.db'));
  if (options.db === undefined && !isPostgres) await freshFile(dbPath);
  const clock = { now: options.now ?? beginningOfMinute(Date.now()) };
  const common = usesReaderThread ? createSharedMemory() : undefined;
  const opened = await openStore(dbPath, { clock: () => clock.now, ...(common && { common }) });
  const store = options.isRehearsed === true ? rehearsed(opened) : opened;
  const thread =
    common &&
    readerApp(store, {
      db: dbPath,
      common,
      clock: () => clock.now,
    });
  const app = await appOn(store, clock, options, thread);
  const { now } = clock;
  const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
  const other = await store.write('accounts', (trx) => createOrganization(trx, 'Other', now));
  const user = (email: string) =>
    store.write('accounts', (trx) => createUser(trx, { orgNumber: org.number, email, name: null, now }));
  const issue: Harness['issue'] = async (key = {}) => {
    const api = key.api ?? 'v2';
    const issued = await store.write('accounts', (trx) =>
      issueKey(trx, {
        orgNumber: key.orgNumber ?? org.number,
        api,
        name: null,
        scopes: key.scopes ?? (api === 'v1' ? ['ALL'] : V2_SCOPES),
        access: key.access ?? (key.userId ? 'user' : 'organization'),
        userId: key.userId ?? null,
        expiresAt: key.expiresAt ?? null,
        now: clock.now,
        ...(key.prefix !== undefined && { prefix: key.prefix }),
        ...(key.networks !== undefined && { networks: key.networks }),
        ...(key.requestsPerMinute !== undefined && { requestsPerMinute: key.requestsPerMinute }),
      }),
    );
    return { key: issued.key, id: issued.row.id };
  };
  const v1 = (await issue({ api: 'v1' })).key;
  const v2 = (await issue()).key;
  return {
    store,
    dbPath,
    orgNumber: org.number,
    otherOrgNumber: other.number,
    alice: (await user('alice@acme.test')).id,
    bob: (await user('bob@acme.test')).id,
    v1,
    v2,
    clock,
    issue,
    handle: (request) => app.handle(request),
    send: sender(onClock(app, clock), { v1, v2 }),
    close: async () => {
      thread?.store.close();
      await store.close();
      if (isPostgres && options.db === undefined) await dropDatabase(dbPath);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The service on a store, by a clock that is turned by hand. */
export async function appOn(
  store: Store,
  clock: Harness['clock'],
  options: HarnessOptions = {},
  thread?: ReaderApp,
) {
  await store.write('accounts', makeSigningSecret);
  await store.write('accounts', makeWebhookKey);
  return createApp({
    ...(thread ?? {
      store: { ...store, deadline: store.deadline && { ...store.deadline, ms: RESPONSE_MS_MAX } },
      executor: storeExecutor(store, { clock: () => clock.now }),
    }),
    baseUrl: () => BASE_URL,
    now: () => clock.now,
    keyLimit: options.keyLimit ?? 1_000_000,
    orgLimit: options.orgLimit ?? 1_000_000,
    ...(options.inFlightLimits && { inFlightLimits: options.inFlightLimits }),
    ...(options.bodyWaitMs !== undefined && { bodyWaitMs: options.bodyWaitMs }),
    ...(options.lookEveryMs !== undefined && { lookEveryMs: options.lookEveryMs }),
    ...(options.releaseOf && { releaseOf: options.releaseOf }),
    ...(options.isUnsent && { isUnsent: options.isUnsent }),
    ...(options.observer && { observer: options.observer }),
    logger: (options.log && createLogger('json', options.log)) ?? {
      request: () => undefined,
      failure: (_, cause) => console.error(cause),
    },
    addressOf: (request) => request.headers.get('X-Test-Address') ?? 'local',
  });
}

/** Moves the clock forward from one write to the next, as in production. */
export function onClock(app: Awaited<ReturnType<typeof appOn>>, clock: Harness['clock']) {
  return (request: Request): Promise<Response> => {
    if (!['GET', 'HEAD'].includes(request.method)) clock.now += 1;
    return app.handle(request);
  };
}

/**
 * Sends requests to whatever answers them, with the organization's key for the path's version unless told otherwise.
 * Every response is checked against the OpenAPI document.
 */
export function sender(
  handle: (request: Request) => Response | Promise<Response>,
  keys: { v1: string; v2: string },
  origin = 'http://localhost',
): Send {
  return async (method, path, input = {}) => {
    const headers = new Headers(input.headers);
    const key = input.key === undefined ? (path.startsWith('/api/v1') ? keys.v1 : keys.v2) : input.key;
    if (key !== null) headers.set('Authorization', `Bearer ${key}`);
    const body = input.raw ?? (input.body === undefined ? undefined : JSON.stringify(input.body));
    if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    const response = await handle(new Request(origin + path, { method, headers, body }));
    const text = isStream(response) ? await beginningOf(response) : await response.text();
    const isJson = text !== '' && (response.headers.get('Content-Type') ?? '').includes('json');
    const parsed = isJson ? JSON.parse(text) : undefined;
    await checkAgainstDocument(
      method,
      path,
      response.status,
      response.headers,
      isStream(response) ? text : parsed,
      selectsFields(path, input),
    );
    return { status: response.status, headers: response.headers, text, body: parsed };
  };
}

/** Whether a request asks for some fields only, in its query or in the body of a query. */
function selectsFields(path: string, { body, raw }: RequestInput): boolean {
  if (/[?&]fields=/.test(path) || body?.fields !== undefined) return true;
  return path.endsWith('/query') && raw !== undefined && Buffer.from(raw).includes('"fields":');
}
