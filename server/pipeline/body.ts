// Step 4, body size: reads the body, no further than its limit and no faster than there is room for it.
import { ApiError, invalid } from '../errors.ts';
import type { InFlightClaim } from '../quotas/in-flight-budget.ts';
import { type BodyTimeout, BodyTimer } from './body-timeouts.ts';

export interface BodyReading {
  /** Maximum bytes of the body. */
  bytesMax: number;
  claim: InFlightClaim;
  timeout: BodyTimeout;
  /** Closes the connection of a request after this many seconds of silence; 0 means never. */
  limitSilence: (request: Request, seconds: number) => void;
  /** Signals that the server is about to stop. */
  ending?: AbortSignal | undefined;
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

const NO_BYTES = new Uint8Array();
/** A body up to this size mostly arrives together with the head. */
const PROBED_BYTES_MAX = 16 * 1024;
/** Seconds for which a connection can be silent, except while a body arrives. */
export const SILENT_SECONDS = 60;

/**
 * The bytes of the body.
 * @throws ApiError 413 as soon as there are too many, 422 if the client disconnects before the end, 429 if there is no
 *   room, 408 if it arrives too slowly, 503 if the server stops before the end
 */
export async function readBytes(request: Request, reading: BodyReading): Promise<Uint8Array> {
  const { bytesMax, claim } = reading;
  const declared = Number(request.headers.get('Content-Length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const grown = declared > 0 ? claim.grow(declared) : undefined;
  if (grown !== undefined) await grown;
  try {
    const whole = declared > 0 && declared <= PROBED_BYTES_MAX ? probe(request) : undefined;
    if (whole !== undefined) return whole;
    if (request.body === null) return NO_BYTES;
    return await gather(request.body.getReader(), { ...reading, request, declared });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid('', 'The body must arrive completely.', 'VALIDATION_INVALID_FORMAT');
  }
}

// Cloning the request shows at half the cost of a stream whether the body has arrived.
function probe(request: Request): Uint8Array | undefined {
  const copied = request.clone().bytes();
  if (Bun.peek.status(copied) === 'fulfilled') return Bun.peek(copied) as Uint8Array;
  // The clone receives the rest of the body as well.
  copied.catch(() => undefined);
  return undefined;
}

interface Gathering extends BodyReading {
  request: Request;
  declared: number;
}

// Bun counts a body that arrives in small pieces as silence until its end, so its time is limited here.
async function gather(reader: Reader, gathering: Gathering): Promise<Uint8Array> {
  const { request, bytesMax, claim, declared, timeout, limitSilence, ending } = gathering;
  limitSilence(request, 0);
  const clock = new BodyTimer(timeout, {
    hint: hintOf(request.headers.get('Expect')),
    ...(ending && { ending }),
  });
  const gathered = new Bun.ArrayBufferSink();
  gathered.start({ asUint8Array: true, highWaterMark: declared });
  let size = 0;
  try {
    let { done, value } = await clock.limit(reader.read());
    while (!done && value !== undefined) {
      size += value.byteLength;
      if (size > bytesMax) throw tooLarge(bytesMax);
      const grown = declared > 0 ? undefined : claim.grow(value.byteLength);
      if (grown !== undefined) await grown;
      gathered.write(value);
      if (size > PROBED_BYTES_MAX) free(value);
      ({ done, value } = await clock.limit(reader.read()));
    }
    return gathered.end() as Uint8Array;
  } finally {
    clock.stop();
    limitSilence(request, SILENT_SECONDS);
  }
}

// Bun answers only this exact value (oven-sh/bun#30248).
function hintOf(expected: string | null): string {
  if (expected === null || expected === '100-continue') return '';
  return 'The Expect header is supported only with the value "100-continue" in lower case; leave it out.';
}

function tooLarge(bytesMax: number): ApiError {
  const mebibytes = bytesMax / (1024 * 1024);
  return new ApiError('BODY_TOO_LARGE', `The body must not be larger than ${mebibytes} MiB.`);
}

// Pieces of large bodies would be garbage for longer than there is memory for.
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
