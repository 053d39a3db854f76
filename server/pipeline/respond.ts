// Last step, response: puts the envelope around the result of an operation or around an error.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { QuotaError } from '../../db/engine/quota.ts';
import { mapInTurns } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import { retryAfterSeconds } from '../../db/store.ts';
import { PAGE_BYTES_MAX } from '../../db/tables/page-size.ts';
import { ApiError } from '../errors.ts';
import type { IncludedRecord, IncludedRecords } from '../included.ts';
import type { Answer, BatchAnswer, ListAnswer } from '../operation.ts';
import { quotaRefusal } from '../quotas/quota-errors.ts';
import { type Exchange, type RequestMeta, responseMeta } from './exchange.ts';
import { UNIT_BYTES_MAX } from './response-reservation.ts';

/** A response that is ready to be sent, or to be stored and sent again. */
export interface Rendered {
  status: number;
  location: string | null;
  body: string;
  /** A body that stays open; null for its headers only. */
  stream?: ReadableStream<Uint8Array> | null;
}

export interface RenderedPage {
  rendered: Rendered;
  /** Whether there are more items after those it contains. */
  hasNextPage: boolean;
}

/** Puts the envelope around a result: at once, unless it is a large batch. */
export function renderAnswer(asked: RequestMeta, answer: Answer): Eventually<Rendered> {
  if (answer.status === 204) return { status: 204, location: null, body: '' };
  if (answer.object === 'list') return renderPage(asked, answer).rendered;
  const { object, data, status } = answer;
  const meta = responseMeta(asked);
  if (object === 'batch') return renderBatch(answer.data, meta);
  const location = answer.location === undefined ? null : asked.baseUrl + answer.location;
  const json = answer.version?.json;
  if (json == null) return { status, location, body: envelope({ object, data }, answer.included, { meta }) };
  return { status, location, body: `{"object":"${object}","data":${json},"meta":${JSON.stringify(meta)}}` };
}

// Each call of JSON.stringify costs as much as a small item.
const WRITTEN_AT_ONCE = 10;

// A hundred items can contain 30 MB of text: written in turns, and put together once, because each copy of so much takes long.
function renderBatch({ items, summary }: BatchAnswer['data'], meta: Data): Eventually<Rendered> {
  const pieces = ['{"object":"batch","data":{"items":['];
  const parts = Array.from({ length: Math.ceil(items.length / WRITTEN_AT_ONCE) }, (_, part) =>
    items.slice(part * WRITTEN_AT_ONCE, (part + 1) * WRITTEN_AT_ONCE),
  );
  const write = (part: readonly Data[]) =>
    pieces.push(pieces.length > 1 ? ',' : '', JSON.stringify(part).slice(1, -1));
  return andThen(mapInTurns(parts, write), () => {
    pieces.push('],"summary":', JSON.stringify(summary), '},"meta":', JSON.stringify(meta), '}');
    return { status: 200, location: null, body: pieces.join('') };
  });
}

/** Puts the envelope around a page, cut to the items that fit. */
export function renderPage(asked: RequestMeta, answer: ListAnswer): RenderedPage {
  const { data, hasNextPage } = answer;
  const rendered = renderWhole(asked, answer);
  if (rendered.body.length * UNIT_BYTES_MAX <= PAGE_BYTES_MAX) return { rendered, hasNextPage };
  const count = itemsThatFit(answer);
  if (count === data.length) return { rendered, hasNextPage };
  const { endCursor: _, ...others } = answer;
  const cut = { ...cutTo(count, others), hasNextPage: true };
  return { rendered: renderWhole(asked, cut), hasNextPage: true };
}

function renderWhole(
  asked: RequestMeta,
  { object, status, data, hasNextPage, cursorAfter, endCursor, pageInfo, included }: ListAnswer,
): Rendered {
  const end_cursor = endCursor ?? (data.length === 0 ? null : cursorAfter(data.length - 1));
  const page_info = { has_next_page: hasNextPage, end_cursor, ...pageInfo };
  const body = envelope({ object, data }, included, { page_info, meta: responseMeta(asked) });
  return { status, location: null, body };
}

// In pieces: an object with an ID as each property takes much longer to make, and text that grows is copied several times.
function envelope(begin: Data, included: IncludedRecords | undefined, end: Data): string {
  if (included === undefined) return JSON.stringify({ ...begin, ...end });
  const pieces = [JSON.stringify(begin).slice(0, -1), ',"included":{'];
  let before = '';
  for (const [name, records] of included.whole) {
    pieces.push(before, JSON.stringify(name), ':{');
    before = '';
    for (const { id, json } of records) {
      pieces.push(before, JSON.stringify(id), ':', json ?? 'null');
      before = ',';
    }
    before = '},';
  }
  pieces.push('}},', JSON.stringify(end).slice(1));
  return pieces.join('');
}

// With the item that exceeds the limit, and what it includes.
function itemsThatFit({ data, included }: ListAnswer): number {
  const counted = new Set<IncludedRecord>();
  let bytes = 0;
  let count = 0;
  for (const item of data) {
    if (bytes > PAGE_BYTES_MAX) break;
    bytes += Buffer.byteLength(JSON.stringify(item));
    for (const [, record] of included?.of(count) ?? []) {
      if (counted.has(record)) continue;
      counted.add(record);
      bytes += Buffer.byteLength(record.json ?? '');
    }
    count += 1;
  }
  return count;
}

// With the first items only, and what these include.
function cutTo(count: number, { data, included, ...others }: ListAnswer): ListAnswer {
  const cut = { ...others, data: data.slice(0, count) };
  if (included === undefined) return cut;
  const whole = new Map([...included.whole.keys()].map((group) => [group, new Set<IncludedRecord>()]));
  for (let index = 0; index < count; index += 1)
    for (const [group, record] of included.of(index)) whole.get(group)?.add(record);
  return { ...cut, included: { ...included, whole } };
}

/** Puts the envelope around an error; anything that is not an ApiError becomes a 500 without details. */
export function renderError(asked: RequestMeta, error: ApiError): Rendered {
  const { code, message, details } = error;
  const envelope = { object: 'error', error: { code, message, details }, meta: responseMeta(asked) };
  const location = error.location === null ? null : asked.baseUrl + error.location;
  return { status: error.status, location, body: JSON.stringify(envelope) };
}

/** The public form of anything thrown. */
export function publicError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof QuotaError) return quotaRefusal(error);
  const seconds = retryAfterSeconds(error);
  if (seconds !== null) {
    const message = 'The database cannot be reached or written to right now; try again later.';
    const headers = { 'Retry-After': String(seconds) };
    return new ApiError('DATABASE_UNAVAILABLE', message, { headers, cause: error });
  }
  const message = 'Something went wrong on our side; try again, and quote the request ID if it persists.';
  return new ApiError('INTERNAL_ERROR', message, { cause: error });
}

// The last one is nginx's: without it, events would wait in its buffers.
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** The HTTP response; for HEAD requests Elysia drops the body and keeps its length. */
export function toResponse({ headers }: Exchange, { status, location, body, stream }: Rendered): Response {
  if (location !== null) headers.Location = location;
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  if (stream !== undefined) {
    Object.assign(headers, STREAM_HEADERS);
    return new Response(stream, { status, headers });
  }
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['Cache-Control'] = 'no-store';
  return new Response(body, { status, headers });
}
