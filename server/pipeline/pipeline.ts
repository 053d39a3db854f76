// The order of checks that every request passes, one step after another; each step is a file beside this one.
import type { Access } from '../access.ts';
import {
  type Admission,
  type Api,
  BATCH_BODY_BYTES_MAX,
  BODY_BYTES_MAX,
  type Operation,
} from '../operation.ts';
import { readBytes } from './body.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { execute } from './execute.ts';
import { validateQuery } from './query.ts';
import { checkKeyFormat, type KeyedRequest, keyedRequest } from './replay.ts';
import { publicError, renderError, toResponse } from './respond.ts';
import { matchPath, rawPath, unknownPath } from './route.ts';
import { requireAccess } from './scope.ts';
import type { Services } from './services.ts';
import { validateBody } from './validate.ts';

/** Starts the exchange of a request. */
export function exchangeOf(services: Services, request: Request, api: Api): Exchange {
  return startExchange({ request, api, now: services.now(), baseUrl: services.baseUrl() });
}

/** Answers one request to an operation. */
export async function answer(services: Services, operation: Operation, request: Request): Promise<Response> {
  const exchange = exchangeOf(services, request, operation.api);
  const response = await passSteps(services, operation, exchange).catch((error) =>
    answerError(services, exchange, error),
  );
  services.logRequest(exchange, response.status);
  return response;
}

async function passSteps(services: Services, operation: Operation, exchange: Exchange): Promise<Response> {
  const { request, now } = exchange;

  const params = matchPath(operation.path, rawPath(request.url));
  if (params === undefined) throw unknownPath();
  const { access, headers } =
    operation.admit === undefined
      ? await admitByKey(services, operation, exchange)
      : operation.admit(request, now);
  Object.assign(exchange.headers, headers);
  const bytes = await bodyOf(operation, request);
  const keyed = keyedRequest(operation, request, access, bytes);
  if (keyed === null)
    return await answerFresh(services, operation, exchange, { params, access, bytes, keyed });
  return await answerKeyed(services, operation, exchange, { params, access, bytes, keyed });
}

async function admitByKey(
  { authenticator, addressOf, noteUse }: Services,
  operation: Operation,
  exchange: Exchange,
): Promise<Admission> {
  const { request, api, now } = exchange;
  const access = await authenticator.authenticate(request, { api, addressOf, now });
  exchange.keyId = access.keyId;
  noteUse(access, now);
  requireAccess(operation, access);
  return { access, headers: {} };
}

interface Admitted {
  params: Record<string, string>;
  access: Access;
  bytes: Uint8Array;
  keyed: KeyedRequest | null;
}

function bodyOf(operation: Operation, request: Request): Promise<Uint8Array> {
  if (operation.body === undefined) return Promise.resolve(new Uint8Array());
  return readBytes(request, operation.isBatch === true ? BATCH_BODY_BYTES_MAX : BODY_BYTES_MAX);
}

// One at a time for each key: whoever comes second gets the first one's answer, free of the rate limit.
async function answerKeyed(
  services: Services,
  operation: Operation,
  exchange: Exchange,
  admitted: Admitted & { keyed: KeyedRequest },
): Promise<Response> {
  const { replays, limiter, store } = services;
  const leave = await replays.enter(admitted.keyed);
  try {
    Object.assign(exchange.headers, limiter.describe(admitted.access, services.now()));
    const stored = await replays.find(store.read, admitted.keyed, exchange.now);
    if (stored !== undefined) return toResponse(exchange, stored, { 'Idempotent-Replayed': 'true' });
    return await answerFresh(services, operation, exchange, admitted);
  } finally {
    leave();
  }
}

async function answerFresh(
  services: Services,
  operation: Operation,
  exchange: Exchange,
  { params, access, bytes, keyed }: Admitted,
): Promise<Response> {
  const { request, now, baseUrl } = exchange;
  const { limiter, store, replays, cursors } = services;
  // By the clock as it is now: a body that was slow to come belongs to the minute in which it is let in.
  if (operation.admit === undefined) Object.assign(exchange.headers, limiter.admit(access, services.now()));
  checkKeyFormat(operation, request);
  const query = validateQuery(operation, request.url);
  const valid = await validateBody(operation, bytes, request.headers.get('Content-Type'));
  const call = { access, params, query, ...valid, now, baseUrl, cursors };
  return toResponse(exchange, await execute(store, replays, { operation, call, exchange, keyed }));
}

/** Answers a request that failed, and has the cause of an internal error logged. */
export function answerError(services: Services, exchange: Exchange, error: unknown): Response {
  const known = publicError(error);
  if (known.fault === 'INTERNAL_ERROR') services.logFailure(exchange, known.cause);
  return toResponse(exchange, renderError(exchange, known), known.headers);
}
