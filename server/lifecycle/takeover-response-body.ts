// The body of a response sent to another server, in pieces, so that its progress is known.
import { SMALL_BYTES_MAX } from '../quotas/in-flight-budget.ts';

/**
 * The response, with a large body in pieces; `onTaken` is called once the last piece is read, or the reader has stopped.
 */
export async function trackedResponse(response: Response, onTaken: () => void): Promise<Response> {
  const { status, headers } = response;
  if (response.body === null) {
    onTaken();
    return response;
  }
  const bytes = await response.bytes();
  if (bytes.byteLength > SMALL_BYTES_MAX) return new Response(inPieces(bytes, onTaken), { status, headers });
  onTaken();
  return new Response(bytes, { status, headers });
}

function inPieces(bytes: Uint8Array, onTaken: () => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + SMALL_BYTES_MAX));
      at += SMALL_BYTES_MAX;
      if (at < bytes.byteLength) return;
      controller.close();
      onTaken();
    },
    cancel: onTaken,
  });
}
