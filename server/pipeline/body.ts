// Step 4, body size: the bytes of the body, read no further than the limit, and no faster than there is room for them.
import { nextTurn } from '../../db/event-loop.ts';
import { ApiError, invalid } from '../errors.ts';
import { BodyClock, type BodyPace } from './body-clock.ts';
import { Gathered } from './gathered.ts';
import type { InFlightClaim } from './in-flight.ts';

export interface BodyReading {
  /** The most bytes that it may have. */
  bytesMax: number;
  claim: InFlightClaim;
  pace: BodyPace;
  /** Closes the connection of a request that has been silent for so many seconds; never for 0. */
  limitSilence: (request: Request, seconds: number) => void;
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

const NO_BYTES = new Uint8Array();
/** Seconds for which a connection may be silent, but while a body comes. */
export const SILENT_SECONDS = 60;

/**
 * The body's bytes.
 * @throws ApiError 413 as soon as there are too many, 422 if the client goes away in the middle, 429 if there is no room,
 *   408 if it comes too slowly
 */
export async function readBytes(request: Request, reading: BodyReading): Promise<Uint8Array> {
  const { bytesMax, claim } = reading;
  const declared = Number(request.headers.get('Content-Length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const grown = declared > 0 ? claim.grow(declared) : undefined;
  if (grown !== undefined) await grown;
  try {
    // What came with the head is there a turn later, and costs less to take than to wait for.
    await nextTurn();
    if (request.body === null) return NO_BYTES;
    const reader: Reader = request.body.getReader();
    const first = reader.read();
    // With a length given the server holds the sender to it; only streams of unknown length are counted as they come.
    if (declared > 0 && Bun.peek.status(first) === 'fulfilled') {
      const { value } = await first;
      if (value?.byteLength === declared) return value;
    }
    return await gather(reader, { ...reading, request, declared, first });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid('', 'The body must arrive whole.', 'VALIDATION_INVALID_FORMAT');
  }
}

interface Gathering extends BodyReading {
  request: Request;
  declared: number;
  /** What was read first. */
  first: ReturnType<Reader['read']>;
}

// Bun counts a body that comes in small pieces as silence until it is whole, so the time that it takes is limited here.
async function gather(reader: Reader, gathering: Gathering): Promise<Uint8Array> {
  const { request, bytesMax, claim, declared, pace, limitSilence } = gathering;
  limitSilence(request, 0);
  const clock = new BodyClock(pace);
  const gathered = new Gathered(declared);
  try {
    let { done, value } = await clock.limit(gathering.first);
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

function tooLarge(bytesMax: number): ApiError {
  const mebibytes = bytesMax / (1024 * 1024);
  return new ApiError('BODY_TOO_LARGE', `The body may have at most ${mebibytes} MiB.`);
}
