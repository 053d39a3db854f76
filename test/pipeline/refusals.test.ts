// Refusals that every route shares, by one table over all operations: what a new route gets without a test of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { describedOperations } from '../../server/interface.ts';
import type { Operation } from '../../server/operation.ts';
import { expectRefusal, type FaultRow, versionOf } from '../support/envelope.ts';
import { type Harness, type RequestInput, startHarness } from '../support/harness.ts';

let harness: Harness;
let limited: Harness;
const keys: Record<string, string> = {};

beforeAll(async () => {
  harness = await startHarness();
  limited = await startHarness({ keyLimit: 0 });
  const past = harness.clock.now - 1;
  for (const api of ['v1', 'v2'] as const) {
    keys[`unscoped ${api}`] = (await harness.issue({ api, scopes: [] })).key;
    keys[`expired ${api}`] = (await harness.issue({ api, expiresAt: past })).key;
    keys[`${api} at its limit`] = limited[api];
  }
});
afterAll(async () => {
  await harness.close();
  await limited.close();
});

interface Refusal {
  name: string;
  applies: (operation: Operation) => boolean;
  send: (api: 'v1' | 'v2') => RequestInput;
  query?: readonly string[];
  status: number;
  code: string;
  faults?: FaultRow[];
  headers?: Record<string, RegExp>;
}

const needsKey = (operation: Operation) => operation.admit === undefined;
const takesBody = (operation: Operation) => operation.body !== undefined;
const takesOne = (operation: Operation) => takesBody(operation) && operation.isBatch !== true;
const honoursKeys = ({ api, method }: Operation) => api === 'v2' && (method === 'POST' || method === 'PATCH');
const valid =
  (raw: RequestInput['raw'], headers = {}) =>
  () => ({ raw, headers });
const typed = (type: string) => valid('{}', { 'Content-Type': type });
const utf16 = new Uint8Array(Buffer.from('\ufeff{}', 'utf16le'));
const body = (code: string): FaultRow[] => [['', code]];
const FORMAT = 'VALIDATION_INVALID_FORMAT';

const unauthorized = { status: 401, headers: { 'WWW-Authenticate': /^Bearer$/ }, applies: needsKey };
const unreadable = { status: 422, code: FORMAT, faults: body(FORMAT), applies: takesBody };
const notJson = { ...unreadable, faults: [['Content-Type', FORMAT]] as FaultRow[] };

const REFUSALS: Refusal[] = [
  { ...unauthorized, name: 'no key', send: () => ({ key: null }), code: 'AUTH_MISSING_CREDENTIALS' },
  {
    ...unauthorized,
    name: 'a wrong key',
    send: () => ({ key: 'service_live_wrong' }),
    code: 'AUTH_INVALID_API_KEY',
  },
  {
    ...unauthorized,
    name: "the other version's key",
    send: (api) => ({ key: harness[api === 'v1' ? 'v2' : 'v1'] }),
    code: 'AUTH_INVALID_API_KEY',
  },
  {
    ...unauthorized,
    name: 'an expired key',
    send: (api) => ({ key: keys[`expired ${api}`] }),
    code: 'AUTH_EXPIRED_API_KEY',
  },
  {
    name: 'a key without scopes',
    applies: (operation) => operation.scopes.length > 0,
    send: (api) => ({ key: keys[`unscoped ${api}`] }),
    status: 403,
    code: 'AUTH_INSUFFICIENT_SCOPE',
  },
  {
    name: 'an unknown query parameter',
    applies: (operation) => needsKey(operation) && !takesBody(operation),
    query: ['nope=1'],
    send: () => ({}),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: [['nope', 'VALIDATION_FAILED']],
  },
  {
    name: 'a query parameter beside a body',
    applies: takesBody,
    query: ['limit=5'],
    send: valid('{}'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: [['limit', 'VALIDATION_FAILED']],
  },
  { ...unreadable, name: 'an empty body', send: valid('') },
  { ...unreadable, name: 'malformed JSON', send: valid('{"a":1,}') },
  { ...unreadable, name: 'invalid UTF-8', send: valid(new Uint8Array([0x22, 0xc3, 0x28, 0x22])) },
  { ...unreadable, name: 'UTF-16', send: valid(utf16) },
  { ...notJson, name: 'a form', send: typed('application/x-www-form-urlencoded') },
  { ...notJson, name: 'a multipart form', send: typed('multipart/form-data; boundary=x') },
  { ...notJson, name: 'plain text', send: typed('text/plain') },
  { ...notJson, name: 'another charset', send: typed('application/json; charset=utf-16') },
  {
    name: 'too deep a body',
    applies: takesBody,
    send: valid('['.repeat(100_000)),
    status: 422,
    code: 'VALIDATION_OUT_OF_RANGE',
    faults: body('VALIDATION_OUT_OF_RANGE'),
  },
  {
    name: 'a repeated key',
    applies: takesOne,
    send: valid('{"a":1,"\\u0061":2}'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: [['a', 'VALIDATION_FAILED']],
  },
  {
    name: '__proto__',
    applies: takesOne,
    send: valid('{"__proto__":{}}'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: [['__proto__', 'VALIDATION_FAILED']],
  },
  {
    name: 'a scalar',
    applies: takesBody,
    send: valid('5'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: body('VALIDATION_FAILED'),
  },
  {
    name: 'null',
    applies: takesBody,
    send: valid('null'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: body('VALIDATION_FAILED'),
  },
  {
    name: 'an array for an object',
    applies: takesOne,
    send: valid('[]'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: body('VALIDATION_FAILED'),
  },
  {
    name: 'an object for a batch',
    applies: (operation) => operation.isBatch === true,
    send: valid('{}'),
    status: 422,
    code: 'VALIDATION_FAILED',
    faults: body('VALIDATION_FAILED'),
  },
  {
    name: 'an array of 101 for a batch',
    applies: (operation) => operation.isBatch === true,
    send: valid(JSON.stringify(Array(101).fill({}))),
    status: 422,
    code: 'VALIDATION_OUT_OF_RANGE',
    faults: body('VALIDATION_OUT_OF_RANGE'),
  },
  {
    name: 'more than 1 MiB',
    applies: takesOne,
    send: valid(' '.repeat(1024 * 1024 + 1)),
    status: 413,
    code: 'VALIDATION_OUT_OF_RANGE',
  },
  {
    name: 'an idempotency key with a space',
    applies: honoursKeys,
    send: valid('{}', { 'Idempotency-Key': 'a b' }),
    status: 422,
    code: FORMAT,
    faults: [['Idempotency-Key', FORMAT]],
  },
];

const OPERATIONS = describedOperations();
const pathOf = (operation: Operation) => operation.path.replaceAll(/\{\w+\}/g, 'some-id');

function requiredIn({ query }: Operation): string[] {
  return Object.entries(query).flatMap(([name, { isRequired, type }]) =>
    isRequired === true ? [`${name}=${type[0]}`] : [],
  );
}

for (const refusal of REFUSALS) {
  describe(refusal.name, () => {
    const operations = OPERATIONS.filter(refusal.applies);
    test('there are routes to try it on', () => expect(operations.length).toBeGreaterThan(6));
    for (const operation of operations) {
      const { api, method } = operation;
      test(`${method} ${operation.path} → ${refusal.status}`, async () => {
        const input = refusal.send(api);
        // From an address of its own: wrong keys are counted per address.
        const headers = { 'X-Test-Address': operation.path, ...input.headers };
        const query = [...requiredIn(operation), ...(refusal.query ?? [])].join('&');
        const path = pathOf(operation) + (query && `?${query}`);
        const reply = await harness.send(method, path, { ...input, headers });
        expectRefusal(reply, refusal.status, refusal.code, refusal.faults, versionOf(path));
        for (const [name, pattern] of Object.entries(refusal.headers ?? {}))
          expect(reply.headers.get(name) ?? '').toMatch(pattern);
      });
    }
  });
}

describe('a spent limit', () => {
  for (const operation of OPERATIONS.filter(needsKey)) {
    const { api, method } = operation;
    test(`${method} ${operation.path} → 429`, async () => {
      const path = pathOf(operation);
      const reply = await limited.send(method, path, { key: keys[`${api} at its limit`] });
      expectRefusal(reply, 429, 'RATE_LIMIT_EXCEEDED', undefined, versionOf(path));
      expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      expect(reply.headers.get('X-RateLimit-Remaining')).toBe('0');
    });
  }
});
