// An answer to a request that was handed over: it is known when the last of it is taken.
import { describe, expect, test } from 'bun:test';
import { trackedResponse } from '../../server/lifecycle/takeover-socket.ts';

const LARGE = 'é'.repeat(100_000);

describe('the body of an answer', () => {
  const followedBody = async (body: string | null, init?: ResponseInit) => {
    const seen = { taken: 0 };
    const response = await trackedResponse(new Response(body, init), () => {
      seen.taken += 1;
    });
    return { seen, response };
  };

  test('that is small, or that there is none, is taken at once', async () => {
    for (const [body, status] of [
      ['{}', 409],
      [null, 204],
    ] as const) {
      const { seen, response } = await followedBody(body, { status, headers: { 'X-Request-Id': 'req_1' } });
      expect(seen.taken).toBe(1);
      expect([response.status, response.headers.get('X-Request-Id')]).toEqual([status, 'req_1']);
      expect(await response.text()).toBe(body ?? '');
    }
  });

  test('that is large is taken with its last piece, and whole', async () => {
    const { seen, response } = await followedBody(LARGE);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const pieces = [(await reader.read()).value as Uint8Array];
    expect(seen.taken).toBe(0);
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    expect(seen.taken).toBe(1);
    expect(Buffer.concat(pieces).toString()).toBe(LARGE);
  });

  test('that nobody takes any more is over', async () => {
    const { seen, response } = await followedBody(LARGE);
    await response.body?.cancel();
    expect(seen.taken).toBe(1);
  });
});
