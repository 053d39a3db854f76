// What every answer must be like, whatever it answers: the envelope whole, the ids agreeing, nothing internal in it.
import { expect } from 'bun:test';
import type { Json, Reply } from './harness.ts';

/** One fault of an error: path and code. */
export type FaultRow = [path: string, code: string];

// Words of the inside: engine, queries, stack traces, paths of the build machine.
const INTERNAL =
  /sqlite|kysely|typebox|elysia|select \*|insert into|no such (table|column)|\bat \S+ \(|\.ts:\d|node_modules|\/home\/|\/work\/|undefined|\[object/i;

/** Asserts the envelope's kind, that its meta is whole and of the version, and that X-Request-Id repeats it. */
export function expectEnvelope(reply: Reply, object: string, version: '1' | '2'): Json {
  const { meta, ...rest } = reply.body ?? {};
  expect(rest.object).toBe(object);
  expect(meta).toEqual({
    request_id: expect.stringMatching(/^req_[\w-]{16,}$/),
    api_version: version,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  if (!reply.headers.has('Idempotent-Replayed')) {
    expect(reply.headers.get('X-Request-Id')).toBe(meta.request_id);
  }
  expect(reply.headers.get('Content-Type')).toStartWith('application/json');
  return rest;
}

/**
 * Asserts an error: status, code, exactly these faults in any order, and nothing internal in its text.
 * @param faults undefined where details must be null
 */
export function expectRefusal(
  reply: Reply,
  status: number,
  code: string,
  faults?: readonly FaultRow[],
  version: '1' | '2' = '2',
): Json {
  const { error } = reply.body ?? {};
  const found = error?.details?.map((detail: Json) => [detail.path, detail.code]) ?? undefined;
  const byText = (list?: readonly FaultRow[]) => list?.map((fault) => fault.join(' ')).sort();
  expect({ status: reply.status, code: error?.code, faults: byText(found) }).toEqual({
    status,
    code,
    faults: byText(faults),
  });
  expectEnvelope(reply, 'error', version);
  expect(Object.keys(reply.body).sort()).toEqual(['error', 'meta', 'object']);
  expect(Object.keys(error).sort()).toEqual(['code', 'details', 'message']);
  expect(error.message.length).toBeGreaterThan(3);
  for (const { message } of error.details ?? []) expect(message.length).toBeGreaterThan(3);
  expect(JSON.stringify(error)).not.toMatch(INTERNAL);
  return error;
}

/** The version that a path belongs to. */
export function versionOf(path: string): '1' | '2' {
  return path.startsWith('/api/v1') ? '1' : '2';
}
