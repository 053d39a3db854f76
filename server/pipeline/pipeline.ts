// The order of checks that every request passes, one step after another; each step is a file beside this one.
import type { Access } from '../access.ts';
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX, type Operation } from '../operation.ts';
import { linkGone } from '../transcript-links.ts';
import { readBytes } from './body.ts';
import { type Exchange, startExchange } from './exchange.ts';
import { execute } from './execute.ts';
import { validateQuery } from './query.ts';
import { checkKeyFormat, type KeyedRequest, keyedRequest } from './replay.ts';
import { publicError, type Rendered, renderError, toResponse } from './respond.ts';
import { matchPath, rawPath, unknownPath } from './route.ts';
import { requireAccess } from './scope.ts';
import type { Services } from './services.ts';
import { validateBody } from './validate.ts';
import { limitExceeded, limitHeaders } from './window.ts';

/** Answers one request to an operation. */
export async function answer(services: Services, operation: Operation, request: Request): Promise<Response> {
  const exchange = startExchange(request, operation.api, services.now());
  const response = await passSteps(services, operation, exchange).catch((error) =>
    answerError(services, exchange, error),
  );
  services.logRequest(exchange, response.status);
  return response;
}

async function passSteps(services: Services, operation: Operation, exchange: Exchange): Promise<Response> {
  const { request } = exchange;

  const params = matchPath(operation.path, rawPath(request.url));
  if (params === undefined) throw unknownPath();
  if (operation.isTokenAuthorized === true) return await answerToken(services, operation, exchange, params);
  const access = await services.authenticator.authenticate(
    request,
    operation.api,
    services.addressOf,
    exchange.now,
  );
  exchange.keyId = access.keyId;
  services.noteUse(access, exchange.now);
  requireAccess(operation, access);
  const bytes = await bodyOf(operation, request);
  const keyed = keyedRequest(operation, request, access, bytes);
  if (keyed === null)
    return await answerFresh(services, operation, exchange, { params, access, bytes, keyed });
  return await answerKeyed(services, operation, exchange, { params, access, bytes, keyed });
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
  const { request, now } = exchange;
  // By the clock as it is now: a body that was slow to come belongs to the minute in which it is let in.
  Object.assign(exchange.headers, services.limiter.admit(access, services.now()));
  checkKeyFormat(operation, request);
  const query = validateQuery(operation, request.url);
  const valid = await validateBody(operation, bytes, request.headers.get('Content-Type'));
  const call = { ...contextOf(services), access, params, query, ...valid, now };
  const rendered = await execute(operation, call, exchange, services.store, keyed, services.replays);
  return toResponse(exchange, rendered);
}

// The link of a transcript: its token stands for a key, and is limited by itself.
async function answerToken(
  services: Services,
  operation: Operation,
  exchange: Exchange,
  params: Record<string, string>,
): Promise<Response> {
  const { request, now } = exchange;
  const { transcriptLinks, store } = services;
  // A credential comes before validation: whatever is wrong with the token, it opens nothing.
  const [token = '', ...more] = new URL(request.url).searchParams.getAll('token');
  const recording = more.length > 0 ? undefined : transcriptLinks.open(token, now);
  if (recording === undefined) throw linkGone();
  admitDownload(transcriptLinks.downloads, token, exchange);
  const query = validateQuery(operation, request.url);
  const access: Access = { ...NOBODY, orgId: recording.orgId };
  const call = { ...contextOf(services), access, params, query, body: null, itemFaults: [], now };
  return toResponse(exchange, await execute(operation, call, exchange, store, null, services.replays));
}

const NOBODY: Access = {
  orgId: '',
  keyId: '',
  level: 'organization',
  userId: null,
  scopes: new Set<string>(),
};

function admitDownload(
  downloads: Services['transcriptLinks']['downloads'],
  token: string,
  exchange: Exchange,
): void {
  const state = downloads.peek(token, exchange.now);
  if (state.remaining === 0)
    throw limitExceeded(state, exchange.now, `This link was used ${state.limit} times in this minute`);
  downloads.count(token, exchange.now);
  Object.assign(exchange.headers, limitHeaders(downloads.peek(token, exchange.now)));
}

function contextOf({ cursors, transcriptLinks, baseUrl }: Services) {
  return { cursors, transcriptLinks, baseUrl: baseUrl() };
}

/** Answers a request that failed, and has the cause of an internal error logged. */
export function answerError(services: Services, exchange: Exchange, error: unknown): Response {
  const known = publicError(error);
  if (known.fault === 'INTERNAL_ERROR') services.logFailure(exchange, known.cause);
  const rendered: Rendered = renderError(exchange, known);
  return toResponse(exchange, rendered, known.headers);
}
