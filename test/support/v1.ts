// A client of v1 for tests, with v2 at its side: short ways to send, and to say what an answer must be.
import { expect } from 'bun:test';
import { expectEnvelope, expectRefusal } from './envelope.ts';
import type { Harness, Json, Reply } from './harness.ts';

export interface V1Client {
  v1(method: string, path: string, body?: Json, key?: string): Promise<Reply>;
  v2(method: string, path: string, body?: Json): Promise<Reply>;
  /** What a GET shows. */
  shown(path: string): Promise<Json>;
}

/** A client with the organization's own keys. */
export function v1ClientOf({ send }: Pick<Harness, 'send'>): V1Client {
  const v1: V1Client['v1'] = (method, path, body, key) => send(method, `/api/v1${path}`, { body, key });
  return {
    v1,
    v2: (method, path, body) => send(method, `/api/v2${path}`, { body }),
    shown: async (path) => dataOf(await v1('GET', path), 200),
  };
}

/** The data of an answer that must have that status, in a whole envelope. */
export function dataOf(reply: Reply, status: number): Json {
  expect([reply.status, reply.body?.error]).toEqual([status, undefined]);
  expectEnvelope(reply, 'success', '1');
  return reply.body.data;
}

/** Asserts an error whose faults, at these paths, all have its code. */
export function refusedAs(reply: Reply, status: number, code: string, ...paths: string[]): Json {
  const faults = paths.length === 0 ? undefined : paths.map((path): [string, string] => [path, code]);
  return expectRefusal(reply, status, code, faults, '1');
}
