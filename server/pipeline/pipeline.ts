// The order of checks that every request passes; each step is a file in this folder.

import type { RateLimitUsage } from '../../db/counters/counters.ts';
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { sharedNextTurn } from '../../db/event-loop.ts';
import type { Api } from '../../db/tables/key-format.ts';
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX, type Operation } from '../operation.ts';
import type { InFlightClaim } from '../quotas/in-flight-budget.ts';
import { readBytes } from './body.ts';
import { requireNetwork } from './credential.ts';
import { offDeadline, withDeadline } from './deadline.ts';
import { dryRunHeader, startDryRun } from './dry-run.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { execute } from './execute.ts';
import { HeldRequest } from './held-request.ts';
import { ifMatchOf } from './preconditions.ts';
import type { QueryReader } from './query.ts';
import { checkKeyFormat, keyedRequest } from './replay.ts';
import { publicError, type Rendered, renderError, toResponse } from './respond.ts';
import { expectedBytes, ResponseReservation } from './response-reservation.ts';
import { requireOneHost } from './route.ts';
import { requireAccess } from './scope.ts';
import type { Services } from './services.ts';
import { type ValidBody, validateBody } from './validate.ts';
import { keepReservation, refundRateLimit, replay } from './waiting-responses.ts';

/** Starts the exchange of a request. */
export function exchangeOf(services: Services, request: Request, api: Api): Exchange {
  const exchange = startExchange({ request, api, now: services.now(), baseUrl: services.baseUrl() });
  if (services.isTimed) exchange.begunAt = performance.now();
  // Early, because the client IP is unknown once the client has disconnected.
  if (services.isLogged) exchange.address = services.addressOf(request);
  return exchange;
}

/** An operation, and the reader of its query parameters, made once. */
export interface ServedOperation {
  operation: Operation;
  readQuery: QueryReader;
}

/** Answers one request to an operation; `params` are those of its path. */
export function answer(
  services: Services,
  served: ServedOperation,
  request: Request,
  params: Record<string, string>,
): Eventually<Response> {
  const exchange = exchangeOf(services, request, served.operation.api);
  const work = passSteps(services, served, exchange, params);
  // Bun sends a response that is available at once for two thirds of the cost of one that it must wait for.
  if (Bun.peek.status(work) !== 'fulfilled') return answerLater(services, exchange, work);
  return respond(services, exchange, Bun.peek(work) as Rendered);
}

function respond(services: Services, exchange: Exchange, rendered: Rendered): Response {
  const { request, reservation } = exchange;
  if (reservation?.isHeld) services.unsent.watch(request, reservation);
  const response = toResponse(exchange, rendered);
  services.logRequest(exchange, response.status);
  return response;
}

async function answerLater(
  services: Services,
  exchange: Exchange,
  work: Promise<Rendered>,
): Promise<Response> {
  try {
    const { deadline } = services.store;
    return respond(
      services,
      exchange,
      await (deadline === null ? work : withDeadline(deadline, exchange, work)),
    );
  } catch (error) {
    const response = answerError(services, exchange, error);
    services.logRequest(exchange, response.status);
    return response;
  }
}

// The order of the checks: a check that fails saves the cost of later ones and reveals nothing about them.
async function passSteps(
  services: Services,
  served: ServedOperation,
  exchange: Exchange,
  params: Record<string, string>,
): Promise<Rendered> {
  const { operation } = served;
  const { request, baseUrl } = exchange;
  const { bodies, garbage, answers, fairTurns, replays, limiter } = services;

  exchange.route = operation.path;
  // For the audit log; what notes exports finds the client IP by itself.
  const { isDelete, isAudited } = operation;
  if (operation.method === 'DELETE' || isDelete || isAudited)
    exchange.address ??= services.addressOf(request);

  // A body that came with the head is available one turn later, which is cheaper than waiting for it.
  if (operation.body !== undefined) await sharedNextTurn();
  const admitted = admit(services, operation, exchange);
  const access = admitted instanceof Promise ? await admitted : admitted;
  requireAccess(operation, access);

  const bodyClaim = operation.body === undefined ? null : bodies.open(access);
  const reservation = new ResponseReservation(answers, access);
  const holding = new HeldRequest(services, { exchange, access, counted: () => counting });
  let leave: (() => void) | null = null;
  let counting: Promise<void> | null = null;
  try {
    const bytes =
      bodyClaim === null
        ? NO_BYTES
        : await bodyOf(services, operation, exchange, { access, claim: bodyClaim });

    const dryRun = dryRunHeader(operation, request);
    const keyed = dryRun === null ? keyedRequest(operation, request, access, bytes) : null;
    if (keyed !== null) {
      leave = await replays.enter(keyed);
      const replayed = await replay(services, exchange, { operation, access, keyed, reservation });
      if (replayed !== null) return keepReservation(exchange, reservation, replayed);
    }

    if (operation.admit === undefined) counting = count(services, exchange, access);
    const isStream = operation.answerKind === 'stream';
    if (operation.isWrite || keyed !== null || isStream || limiter.wasRefused(access)) await counting;

    const isDryRun = startDryRun(exchange, dryRun);
    requireOneHost(request);
    checkKeyFormat(operation, request);
    const ifMatch = ifMatchOf(operation, request);
    const query = served.readQuery(request.url);
    const valid =
      operation.body === undefined ? NO_BODY : await validateBody(operation, bytes, request.headers);

    const { body, itemFaults } = valid;
    const call = { access, origin: exchange, params, query, body, itemFaults, baseUrl, ifMatch };
    if (!reservation.take(expectedBytes(operation, bytes.byteLength, body)))
      await offDeadline(exchange, reservation.wait());
    for (;;) {
      if (fairTurns.isSpent(access.orgNumber)) await fairTurns.turn(access.orgNumber);
      const asked = { operation, call, exchange, keyed, isDryRun, reservation, holding };
      const executing = execute(services, asked);
      const executed = executing instanceof Promise ? await executing : executing;
      fairTurns.spend(access.orgNumber, reservation.bytes);
      if (executed !== null) {
        // If the count rejects the request, what the read found is discarded.
        if (counting !== null) await counting;
        return keepReservation(exchange, reservation, executed);
      }
      if (reservation.isLacking) {
        await offDeadline(exchange, reservation.wait());
        continue;
      }
      await limiter.giveBack(access, exchange.countedIn);
      const replayed = keyed && (await replay(services, exchange, { operation, access, keyed, reservation }));
      if (replayed !== null) return keepReservation(exchange, reservation, replayed);
      counting = count(services, exchange, access);
      await counting;
    }
  } catch (error) {
    reservation.release();
    // If the count rejects the request, that is the answer, whatever else failed.
    if (counting !== null) await counting;
    if (error instanceof ApiError && (error.limit === 'answers' || error.limit === 'held_requests'))
      await refundRateLimit(services, exchange, access);
    throw error;
  } finally {
    holding.end();
    leave?.();
    if (bodyClaim !== null) garbage.add(bodyClaim.bytes);
    bodyClaim?.release();
  }
}

function admit(
  { authenticator, addressOf, noteUse }: Services,
  operation: Operation,
  exchange: Exchange,
): Eventually<Access> {
  const { request, api, now } = exchange;
  if (operation.admit !== undefined)
    return operation.admit(request, now).then(({ access, headers, uncount }) => {
      Object.assign(exchange.headers, headers);
      exchange.uncount = uncount;
      return access;
    });
  return andThen(authenticator.authenticate(request, { api, addressOf, now }), (key) => {
    const { access } = key;
    exchange.keyId = access.keyId;
    exchange.organizationId = access.organizationId;
    requireNetwork(key, request, addressOf);
    noteUse(access, now);
    return access;
  });
}

const NO_BYTES = new Uint8Array();
const NO_BODY: ValidBody = { body: null, itemFaults: [] };

async function bodyOf(
  { garbage, limiter, limitSilence, bodyTimeouts, ending }: Services,
  operation: Operation,
  exchange: Exchange,
  { access, claim }: { access: Access; claim: InFlightClaim },
): Promise<Uint8Array> {
  const isBatch = operation.isBatch === true;
  const bytesMax = isBatch ? BATCH_BODY_BYTES_MAX : BODY_BYTES_MAX;
  const timeout = isBatch ? bodyTimeouts.batch : bodyTimeouts.record;
  const reading = { bytesMax, claim, timeout, limitSilence, ending };
  try {
    const bytes = await offDeadline(exchange, readBytes(exchange.request, reading));
    // Reading it leaves as much as processing it.
    garbage.add(bytes.byteLength);
    return bytes;
  } catch (error) {
    // Not counted, but the response still describes the limits.
    if (error instanceof ApiError && error.status === 429)
      Object.assign(exchange.headers, await limiter.describe(access));
    throw error;
  }
}

// A slow body counts in the minute in which it is admitted. Null if the engine counts at once; else a read does not wait.
function count({ limiter }: Services, exchange: Exchange, access: Access): Promise<void> | null {
  const usage = limiter.count(access);
  const admitIfCounted = (known: RateLimitUsage) => {
    Object.assign(exchange.headers, limiter.admit(access, known));
    exchange.countedIn = known.minute;
  };
  if (!(usage instanceof Promise)) {
    admitIfCounted(usage);
    return null;
  }
  const counting = usage.then(admitIfCounted);
  counting.catch(() => undefined);
  return counting;
}

/** Answers a request that failed, and logs the cause of an internal error. */
export function answerError(services: Services, exchange: Exchange, error: unknown): Response {
  const known = publicError(error);
  if (known.code === 'INTERNAL_ERROR') services.logFailure(exchange, known.cause);
  exchange.refusedBy = known.limit;
  Object.assign(exchange.headers, known.headers);
  return toResponse(exchange, renderError(exchange, known));
}
