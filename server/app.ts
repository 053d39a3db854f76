// createApp(): the whole server on one screen; importing or creating it has no effect until a request arrives.
import { Elysia } from 'elysia';
import { WINDOW_MS } from '../db/counters/counters.ts';
import type { SharedMemory } from '../db/counters/shared-memory.ts';
import type { Eventually } from '../db/engine/engine.ts';
import type { Network } from '../db/networks.ts';
import type { ReadStore } from '../db/store.ts';
import type { Access } from './access.ts';
import { docs, type PageMaker } from './docs/docs.ts';
import type { ApiError } from './errors.ts';
import { allOperations } from './interface.ts';
import type { Logger } from './logging/logger.ts';
import type { Operation } from './operation.ts';
import { BODY_TIMEOUTS, type BodyTimeouts } from './pipeline/body-timeouts.ts';
import { Authenticator } from './pipeline/credential.ts';
import { LOOK_EVERY_MS } from './pipeline/event-stream.ts';
import type { Executor } from './pipeline/execute.ts';
import { ExportAudit } from './pipeline/export-audit.ts';
import { FairTurns } from './pipeline/fair-turns.ts';
import { GarbageCollector } from './pipeline/garbage-collection.ts';
import type { Observer } from './pipeline/observer.ts';
import { answer, answerError, exchangeOf } from './pipeline/pipeline.ts';
import { queryReader } from './pipeline/query.ts';
import { KEY_LIMIT, ORG_LIMIT, RateLimiter } from './pipeline/rate-limit.ts';
import { Replays } from './pipeline/replay.ts';
import { apiOfPath, hostFault, methodNotAllowed, rawPath, routePath, unknownPath } from './pipeline/route.ts';
import type { Services } from './pipeline/services.ts';
import { UnsentResponses } from './pipeline/unsent-responses.ts';
import { HeldRequests } from './quotas/held-requests.ts';
import { IN_FLIGHT_LIMITS, InFlightBudget, type InFlightLimits } from './quotas/in-flight-budget.ts';
import { Cursors } from './signing/cursors.ts';
import { type Signing, signingOf } from './signing/signing.ts';

export interface AppOptions {
  store: ReadStore;
  executor: Executor;
  /** The public URL of the service, without a trailing slash; read for each request. */
  baseUrl: () => string;
  /** Unix milliseconds; the system's clock by default. */
  now?: () => number;
  /** Requests per minute and key, and per minute and organization. */
  keyLimit?: number;
  orgLimit?: number;
  /** Bytes of request bodies, and of responses, that an organization and the server can have in flight. */
  inFlightLimits?: InFlightLimits;
  /** How slowly bodies can arrive, and how long they wait for room, in milliseconds. */
  bodyTimeouts?: BodyTimeouts;
  /** Signals that the server is about to stop: incomplete requests are then answered with an error. */
  ending?: AbortSignal;
  bodyWaitMs?: number;
  /** Signals that a request must no longer be held open; by default, none has to be released. */
  releaseOf?: (request: Request) => AbortSignal;
  /** How often the key of a stream is looked at again, in milliseconds. */
  lookEveryMs?: number;
  /** Memory in which the threads of a process count bytes and held requests together; not given for a single thread. */
  common?: Pick<SharedMemory, 'bodies' | 'answers' | 'held'> | undefined;
  /** Closes the connection of a request after this many seconds of silence; 0 means never. */
  limitSilence?: (request: Request, seconds: number) => void;
  /** Whether the response to a request is still being sent. */
  isUnsent?: (request: Request) => boolean;
  /** The client IP. */
  addressOf?: (request: Request) => string;
  /** Where webhooks can be sent besides public addresses. */
  webhookNetworks?: readonly Network[] | undefined;
  logger?: Logger;
  observer?: Observer;
}

/** The server as an Elysia app; `handle(request)` answers, `listen` or `Bun.serve({ fetch })` serves. */
export function createApp(options: AppOptions) {
  const signing = signingOf(options.store);
  const services = servicesOf(options, signing);
  const { keyLimit = KEY_LIMIT, orgLimit = ORG_LIMIT } = options;
  const { webhookNetworks } = options;
  const operations = allOperations(signing, options.store.counters, {
    ...{ limits: { keyLimit, orgLimit }, webhookNetworks },
  });
  const app = new Elysia({ strictPath: true, normalize: false });
  // As sent: a percent-encoded letter makes a different path, and so a different ID.
  app.router.http.config.onParam = [];
  const page = pageMaker(services);
  app.use(docs(options.baseUrl, page));
  const toDocs = page(() => redirect(`${options.baseUrl()}/docs`));
  for (const method of ['GET', 'HEAD']) app.route(method, '/', toDocs);
  const health = page(() => Response.json({ status: 'ok' }));
  app.get('/healthz', health);
  const ready = page(() => readiness(options.store));
  app.get('/readyz', ready);
  for (const [path, routes] of Map.groupBy(operations.flatMap(routesOf(operations)), (route) => route.path)) {
    for (const { operation, fixed } of routes) {
      const served = { operation, readQuery: queryReader(operation.query) };
      const handler = handlerOf((request, params) => answer(services, served, request, fixed ?? params));
      const options = operation.method === 'GET' ? {} : { parse: 'none' as const };
      app.route(operation.method, routePath(path), handler, options);
    }
    const methods = routes.map(({ operation }) => operation.method);
    app.all(routePath(path), ({ request }) => refuse(services, request, methodNotAllowed(methods), path), {
      parse: 'none',
    });
  }
  app.all('/*', ({ request }) => refuse(services, request, unknownPath()), { parse: 'none' });
  app.onError(({ error, request }) => {
    return answerError(services, exchangeOf(services, request, apiOfPath(rawPath(request.url))), error);
  });
  return app;
}

type Params = Record<string, string>;

/** A path at which an operation is found, and its parameters if they are not in the path. */
interface Route {
  path: string;
  operation: Operation;
  fixed?: Params;
}

// An operation whose path could also be that of a record shares it with the operations of records.
function routesOf(operations: readonly Operation[]) {
  return (operation: Operation): Route[] => {
    const { path, recordPath } = operation;
    const beside = operations.filter((other) => other.path === recordPath);
    const fixed = { id: path.slice(path.lastIndexOf('/') + 1) };
    return [{ path, operation }, ...beside.map((other) => ({ path, operation: other, fixed }))];
  };
}

// Bound, because Elysia analyses the source of unbound handlers, and awaits whatever they return from a call even if it is
// not a promise.
function handlerOf(respond: (request: Request, params: Params) => Eventually<Response>) {
  const handler = ({ request, params = {} }: { request: Request; params?: Params }) =>
    respond(request, params);
  return handler.bind(null);
}

function redirect(url: string): Response {
  return new Response(null, { status: 302, headers: { Location: url } });
}

const NEVER = new AbortController().signal;

function servicesOf(options: AppOptions, signing: Signing): Services {
  const { store, executor, logger, observer } = options;
  const uses = new Map<string, number>();
  const { keyLimit = KEY_LIMIT, orgLimit = ORG_LIMIT, addressOf = () => 'local' } = options;
  const { limitSilence = () => undefined, isUnsent = () => false } = options;
  const limiter = new RateLimiter(store.counters, { keyLimit, orgLimit });
  const { inFlightLimits: limits = IN_FLIGHT_LIMITS, common } = options;
  const bodies = new InFlightBudget({
    ...{ limits, memory: common?.bodies },
    ...(options.bodyWaitMs !== undefined && { waitMs: options.bodyWaitMs }),
    ...{ limit: 'bodies', subject: 'request bodies' },
  });
  const answers = new InFlightBudget({
    ...{ limits, memory: common?.answers },
    ...{ limit: 'answers', subject: 'responses', isSmallFree: true },
  });
  const held = new HeldRequests(common?.held);
  observer?.watch({ limiter, bodies, answers, held });
  return {
    store,
    executor,
    exportAudit: new ExportAudit((event) => executor.record(event), addressOf),
    cursors: new Cursors(signing),
    authenticator: new Authenticator(store),
    limiter,
    bodies,
    bodyTimeouts: options.bodyTimeouts ?? BODY_TIMEOUTS,
    garbage: new GarbageCollector(),
    ending: options.ending,
    answers,
    held,
    lookEveryMs: options.lookEveryMs ?? LOOK_EVERY_MS,
    releaseOf: options.releaseOf ?? (() => NEVER),
    unsent: new UnsentResponses({ isUnsent, limitSilence }),
    fairTurns: new FairTurns(),
    replays: new Replays(),
    baseUrl: options.baseUrl,
    now: options.now ?? Date.now,
    isTimed: observer !== undefined,
    limitSilence,
    addressOf,
    noteUse: (access, now) => noteUse(executor, uses, access, now),
    isLogged: logger !== undefined,
    logRequest: (exchange, status) => {
      logger?.request(exchange, status);
      observer?.responded(exchange, status);
    },
    logFailure: (exchange, cause) => logger?.failure(exchange, cause),
  };
}

// At most once per minute and key.
function noteUse(executor: Executor, uses: Map<string, number>, access: Access, now: number): void {
  const minute = Math.floor(now / WINDOW_MS) * WINDOW_MS;
  if (uses.get(access.keyId) === minute) return;
  uses.set(access.keyId, minute);
  executor.noteUse({ orgNumber: access.orgNumber, id: access.keyId }, minute);
}

async function readiness(store: ReadStore): Promise<Response> {
  try {
    await store.ready();
    return Response.json({ status: 'ready' });
  } catch {
    return Response.json({ status: 'not ready' }, { status: 503 });
  }
}

function pageMaker(services: Services): PageMaker {
  return (respond) => {
    return ({ request }) => {
      const fault = hostFault(request);
      return fault === null ? respond(request) : refuse(services, request, fault);
    };
  };
}

// For requests that reach no operation.
function refuse(services: Services, request: Request, error: ApiError, route?: string): Response {
  const exchange = exchangeOf(services, request, apiOfPath(rawPath(request.url)));
  if (route !== undefined) exchange.route = route;
  const response = answerError(services, exchange, error);
  services.logRequest(exchange, response.status);
  return response;
}
