// The order of checks that every request passes, one step after another; each step is a file beside this one.

import type { Api } from '../../db/tables/key-format.ts';
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX, type Operation } from '../operation.ts';
import { readBytes } from './body.ts';
import type { BodyClaim } from './body-budget.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { execute } from './execute.ts';
import { checkKeyFormat, type KeyedRequest, keyedRequest } from './replay.ts';
import { publicError, renderError, toResponse } from './respond.ts';
import { rawPath, unknownPath } from './route.ts';
import { requireAccess } from './scope.ts';
import type { ServedOperation } from './served-operation.ts';
import type { Services } from './services.ts';
import { type ValidBody, validateBody } from './validate.ts';

/** Starts the exchange of a request. */
export function exchangeOf(services: Services, request: Request, api: Api): Exchange {
  return startExchange({ request, api, now: services.now(), baseUrl: services.baseUrl() });
}

/** Answers one request to an operation. */
export async function answer(
  services: Services,
  served: ServedOperation,
  request: Request,
): Promise<Response> {
  const exchange = exchangeOf(services, request, served.operation.api);
  let response: Response;
  try {
    response = await passSteps(services, served, exchange);
  } catch (error) {
    response = answerError(services, exchange, error);
  }
  services.logRequest(exchange, response.status);
  return response;
}

async function passSteps(services: Services, served: ServedOperation, exchange: Exchange): Promise<Response> {
  const { operation } = served;
  const { request } = exchange;

  const params = served.matchPath(rawPath(request.url));
  if (params === undefined) throw unknownPath();
  const access =
    operation.admit === undefined
      ? await admitByKey(services, operation, exchange)
      : admitByItself(operation.admit, exchange);
  const room = operation.body === undefined ? null : services.bodies.open(access.orgId);
  try {
    const bytes = room === null ? NO_BYTES : await bodyOf(services, operation, exchange, { access, room });
    const keyed = keyedRequest(operation, request, access, bytes);
    if (keyed === null)
      return await answerFresh(services, served, exchange, { params, access, bytes, keyed });
    return await answerKeyed(services, served, exchange, { params, access, bytes, keyed });
  } finally {
    room?.release();
  }
}

async function admitByKey(
  { authenticator, addressOf, noteUse }: Services,
  operation: Operation,
  exchange: Exchange,
): Promise<Access> {
  const { request, api, now } = exchange;
  const access = await authenticator.authenticate(request, { api, addressOf, now });
  exchange.keyId = access.keyId;
  noteUse(access, now);
  requireAccess(operation, access);
  return access;
}

function admitByItself(admit: NonNullable<Operation['admit']>, exchange: Exchange): Access {
  const { access, headers } = admit(exchange.request, exchange.now);
  Object.assign(exchange.headers, headers);
  return access;
}

interface Admitted {
  params: Record<string, string>;
  access: Access;
  bytes: Uint8Array;
  keyed: KeyedRequest | null;
}

const NO_BYTES = new Uint8Array();
const NO_BODY: ValidBody = { body: null, itemFaults: [] };
/** Seconds without a byte of the body after which its connection is closed, and without anything once it is whole. */
const SILENT_BODY_SECONDS = 15;
export const SILENT_SECONDS = 60;

async function bodyOf(
  { limiter, limitSilence, now }: Services,
  operation: Operation,
  { request, headers }: Exchange,
  { access, room }: { access: Access; room: BodyClaim },
): Promise<Uint8Array> {
  limitSilence(request, SILENT_BODY_SECONDS);
  const bytes = await readBytes(
    request,
    operation.isBatch === true ? BATCH_BODY_BYTES_MAX : BODY_BYTES_MAX,
    room,
  ).catch((error) => {
    // Counted nowhere, and yet told where the limits stand.
    if (error instanceof ApiError && error.status === 429)
      Object.assign(headers, limiter.describe(access, now()));
    throw error;
  });
  limitSilence(request, SILENT_SECONDS);
  return bytes;
}

// One at a time for each key: whoever comes second gets the first one's answer, free of the rate limit.
async function answerKeyed(
  services: Services,
  served: ServedOperation,
  exchange: Exchange,
  admitted: Admitted & { keyed: KeyedRequest },
): Promise<Response> {
  const { replays, limiter, store } = services;
  const leave = await replays.enter(admitted.keyed);
  try {
    Object.assign(exchange.headers, limiter.describe(admitted.access, services.now()));
    const stored = await replays.find(store.read, admitted.keyed, exchange.now);
    if (stored !== undefined) return toResponse(exchange, stored, { 'Idempotent-Replayed': 'true' });
    return await answerFresh(services, served, exchange, admitted);
  } finally {
    leave();
  }
}

async function answerFresh(
  services: Services,
  { operation, readQuery }: ServedOperation,
  exchange: Exchange,
  { params, access, bytes, keyed }: Admitted,
): Promise<Response> {
  const { request, baseUrl } = exchange;
  const { limiter, store, replays, cursors } = services;
  // By the clock as it is now: a body that was slow to come belongs to the minute in which it is let in.
  if (operation.admit === undefined) Object.assign(exchange.headers, limiter.admit(access, services.now()));
  checkKeyFormat(operation, request);
  const query = readQuery(request.url);
  const valid =
    operation.body === undefined
      ? NO_BODY
      : await validateBody(operation, bytes, request.headers.get('Content-Type'));
  const call = { access, params, query, ...valid, baseUrl, cursors };
  const executable = { operation, call, exchange, keyed, clock: services.now };
  return toResponse(exchange, await execute(store, replays, executable));
}

/** Answers a request that failed, and has the cause of an internal error logged. */
export function answerError(services: Services, exchange: Exchange, error: unknown): Response {
  const known = publicError(error);
  if (known.code === 'INTERNAL_ERROR') services.logFailure(exchange, known.cause);
  return toResponse(exchange, renderError(exchange, known), known.headers);
}
