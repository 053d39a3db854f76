// The check that every answer of the suite passes: it lets through what the document describes, and nothing else.
import { describe, expect, test } from 'bun:test';
import { openApiDocument } from '../../server/openapi/document.ts';
import type { Json } from '../support/harness.ts';
import { checkAgainstDocument } from '../support/openapi.ts';

const document: Json = await openApiDocument();

describe('the check of answers against the document', () => {
  const limits = {
    'X-RateLimit-Limit': '200',
    'X-RateLimit-Remaining': '199',
    'X-RateLimit-Reset': '1767225660',
  };
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1', ETag: '"1a"', ...limits };
  const media = (path: string) => document.paths[path].get.responses[200].content['application/json'];
  const note = media('/api/v2/notes/{id}').example;
  const check = (method: string, path: string, status: number, more: Record<string, string>, body: Json) =>
    checkAgainstDocument(method, path, status, new Headers({ ...headers, ...more }), body);

  test('passes what is described, and what is not of the interface', async () => {
    await check('GET', '/api/v2/notes/1?x=1', 200, {}, note);
    await check('HEAD', '/api/v2/notes/1', 200, {}, undefined);
    await check('GET', '/healthz', 418, {}, { any: 'thing' });
  });

  const faulty: [string, () => Promise<void>, RegExp][] = [
    ['a status', () => check('GET', '/api/v2/notes/1', 409, {}, note), /does not describe this status/],
    ['a method', () => check('PUT', '/api/v2/notes/1', 200, {}, note), /does not describe this status/],
    [
      'a field',
      () => check('GET', '/api/v2/notes/1', 200, {}, { ...note, data: { ...note.data, colour: 'red' } }),
      /\/data.*additional properties/,
    ],
    [
      'a type',
      () => check('GET', '/api/v2/notes/1', 200, {}, { ...note, data: { ...note.data, title: 5 } }),
      /\/data\/title must be string/,
    ],
    [
      "the other version's meta",
      () => check('GET', '/api/v2/notes/1', 200, {}, { ...note, meta: { ...note.meta, api_version: '1' } }),
      /api_version/,
    ],
    ['a body on a 204', () => check('DELETE', '/api/v2/notes/1', 204, {}, note), /has a body/],
    [
      'a header',
      () => check('GET', '/api/v2/notes/1', 200, { Location: 'http://x/y' }, note),
      /header Location/,
    ],
    [
      'a wrong header',
      () => check('GET', '/api/v2/notes/1', 200, { 'X-RateLimit-Reset': 'soon' }, note),
      /X-RateLimit-Reset: soon/,
    ],
    [
      'a missing header',
      () =>
        checkAgainstDocument('GET', '/api/v2/notes/1', 200, new Headers({ 'X-Request-Id': 'req_1' }), note),
      /X-RateLimit-Limit is missing/,
    ],
    [
      'another type of content',
      () => check('GET', '/api/v2/notes/1', 200, { 'Content-Type': 'text/plain' }, note),
      /text\/plain/,
    ],
  ];
  for (const [what, run, message] of faulty) {
    test(`refuses ${what} that is not described`, () => expect(run()).rejects.toThrow(message));
  }
});
