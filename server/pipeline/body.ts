// Step 4, body size: the bytes of the body, read no further than the limit.
import { ApiError, invalid } from '../errors.ts';
import type { InFlightClaim } from './in-flight.ts';

/**
 * The body's bytes, read no faster than there is room for them.
 * @throws ApiError 413 as soon as there are more than `bytesMax`, 422 if the client goes away in the middle, 429 if
 *   there is no room
 */
export async function readBytes(
  request: Request,
  bytesMax: number,
  claim: InFlightClaim,
): Promise<Uint8Array> {
  const declared = Number(request.headers.get('Content-Length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  if (declared > 0) await claim.grow(declared);
  try {
    // With a length given the server holds the sender to it; only streams of unknown length are counted as they come.
    if (declared > 0) return new Uint8Array(await request.arrayBuffer());
    return request.body === null ? new Uint8Array() : await readStream(request.body, bytesMax, claim);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid('', 'The body must arrive whole.', 'VALIDATION_INVALID_FORMAT');
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
  claim: InFlightClaim,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of stream) {
    total += chunk.byteLength;
    if (total > bytesMax) throw tooLarge(bytesMax);
    await claim.grow(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(bytesMax: number): ApiError {
  const mebibytes = bytesMax / (1024 * 1024);
  return new ApiError('BODY_TOO_LARGE', `The body may have at most ${mebibytes} MiB.`);
}
