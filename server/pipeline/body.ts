// Step 4, body size: the bytes of the body, read no further than the limit.
import { ApiError, invalid } from '../errors.ts';

/**
 * The body's bytes.
 * @throws ApiError 413 as soon as there are more than `bytesMax`, 422 if the client goes away in the middle
 */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('Content-Length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  if (request.body === null) return new Uint8Array();
  try {
    // With a length given the server holds the sender to it; only streams of unknown length are counted as they come.
    if (declared > 0) return new Uint8Array(await request.arrayBuffer());
    return await readStream(request.body, bytesMax);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid('', 'The body must arrive whole.', 'VALIDATION_INVALID_FORMAT');
  }
}

async function readStream(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of stream) {
    total += chunk.byteLength;
    if (total > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(bytesMax: number): ApiError {
  const mebibytes = bytesMax / (1024 * 1024);
  return new ApiError('BODY_TOO_LARGE', `The body may have at most ${mebibytes} MiB.`);
}
