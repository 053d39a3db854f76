// Step 4, body size: the bytes of the body, read no further than the limit, and no faster than there is room for them.
import { ApiError, invalid } from '../errors.ts';
import type { InFlightClaim } from '../quotas/in-flight-budget.ts';
import { BodyClock, type BodyPace } from './body-timeouts.ts';
import { Gathered } from './byte-buffer.ts';

export interface BodyReading {
  /** The most bytes that it may have. */
  bytesMax: number;
  claim: InFlightClaim;
  pace: BodyPace;
  /** Closes the connection of a request that has been silent for so many seconds; never for 0. */
  limitSilence: (request: Request, seconds: number) => void;
  /** Says when the server is about to stop. */
  ending?: AbortSignal | undefined;
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

const NO_BYTES = new Uint8Array();
/** What is no larger mostly comes together with the head. */
const PROBED_BYTES_MAX = 16 * 1024;
/** Seconds for which a connection may be silent, but while a body comes. */
export const SILENT_SECONDS = 60;

/**
 * The body's bytes.
 * @throws ApiError 413 as soon as there are too many, 422 if the client goes away in the middle, 429 if there is no room,
 *   408 if it comes too slowly, 503 if the server stops before it is whole
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
    throw invalid('', 'The body must arrive whole.', 'VALIDATION_INVALID_FORMAT');
  }
}

// For half of what it costs to make a stream a copy of the request tells whether its body has come.
function probe(request: Request): Uint8Array | undefined {
  const copied = request.clone().bytes();
  if (Bun.peek.status(copied) === 'fulfilled') return Bun.peek(copied) as Uint8Array;
  // What is still to come goes to both.
  copied.catch(() => undefined);
  return undefined;
}

interface Gathering extends BodyReading {
  request: Request;
  declared: number;
}

// Bun counts a body that comes in small pieces as silence until it is whole, so the time that it takes is limited here.
async function gather(reader: Reader, gathering: Gathering): Promise<Uint8Array> {
  const { request, bytesMax, claim, declared, pace, limitSilence, ending } = gathering;
  limitSilence(request, 0);
  const clock = new BodyClock(pace, {
    hint: hintOf(request.headers.get('Expect')),
    ...(ending && { ending }),
  });
  const gathered = new Gathered(declared);
  try {
    let { done, value } = await clock.limit(reader.read());
    while (!done && value !== undefined) {
      if (gathered.size + value.byteLength > bytesMax) throw tooLarge(bytesMax);
      const grown = declared > 0 ? undefined : claim.grow(value.byteLength);
      if (grown !== undefined) await grown;
      gathered.add(value);
      ({ done, value } = await clock.limit(reader.read()));
    }
    return gathered.bytes();
  } finally {
    clock.stop();
    limitSilence(request, SILENT_SECONDS);
  }
}

// Bun answers what says just that, and nothing else (oven-sh/bun#30248).
function hintOf(expected: string | null): string {
  if (expected === null || expected === '100-continue') return '';
  return 'The header Expect is answered only if it is "100-continue", in lower case; leave it out.';
}

function tooLarge(bytesMax: number): ApiError {
  const mebibytes = bytesMax / (1024 * 1024);
  return new ApiError('BODY_TOO_LARGE', `The body may have at most ${mebibytes} MiB.`);
}
