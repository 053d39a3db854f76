// Well-formed HTTP with anything in it: operations of the interface, paths beside them, odd headers, bodies that were corrupted.
import fc from 'fast-check';
import type { Operation } from '../../../server/operation.ts';
import { bodyOf, known, knownOf, queryOf, SOURCES, scalar } from './bodies.ts';

/** A request as it goes over the wire. */
export interface FuzzedRequest {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Uint8Array | null;
}

const encoder = new TextEncoder();
const DEEP = 100_000;
const LARGE = 1_200_000;

const ODD_TEXTS = [
  ...['', ' ', '\ufeff', 'null', '"', '{', '[', '{}', '[]', '0', 'nul', 'NaN', '-', '01', '1e400', '-1e400'],
  ...[
    '{"first_name":1e400}',
    '{"first_name":99999999999999999999999}',
    '{"employee_count":9007199254740993}',
  ],
  ...['{"name":"a","name":"b"}', '{"__proto__":{"name":"a"}}', '{"constructor":{"prototype":1}}'],
  ...[
    '{"first_name":"\\ud800"}',
    '{"first_name":"\\u0000"}',
    '{"a":1}{"a":2}',
    '{"a":1,}',
    '// a\n{}',
    "{'a':1}",
  ],
  ...['{"first_name":"\t"}', '{"first_name":"\u2028"}', '\u00a0{}', '{"custom":{"a":{"b":1}}}'],
  ...[`${'['.repeat(DEEP)}`, `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, `${'['.repeat(33)}${']'.repeat(33)}`],
  ...[`{"first_name":"${'x'.repeat(1_001)}"}`, `{"content":"${'😀'.repeat(50_001)}","title":"t"}`],
  ...[`{"name":"${'n'.repeat(LARGE)}"}`, `[${'{},'.repeat(100)}{}]`, `{"custom":{${fields(101)}}}`],
];

function fields(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join();
}

/** Text in which something is out of place. */
function corrupted(text: string): fc.Arbitrary<Uint8Array> {
  const bytes = encoder.encode(text);
  const cut = fc.nat(bytes.length).map((at) => bytes.subarray(0, at));
  const flipped = fc.tuple(fc.nat(Math.max(0, bytes.length - 1)), fc.nat(255)).map(([at, byte]) => {
    const copy = bytes.slice();
    copy[at] = byte;
    return copy;
  });
  const doubled = fc.nat(bytes.length).map((at) => {
    const end = Math.min(bytes.length, at + 12);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at, end), bytes.subarray(end)]);
  });
  return fc.oneof(cut, flipped, doubled);
}

function bytesOf(operation: Operation): fc.Arbitrary<Uint8Array | null> {
  const odd = fc.constantFrom(...ODD_TEXTS).map((text) => encoder.encode(text));
  const noise = fc.uint8Array({ maxLength: 60 });
  if (operation.body === undefined)
    return fc.oneof(
      { weight: 12, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: odd },
      { weight: 1, arbitrary: noise },
    );
  const text = bodyOf(operation).map((body) => JSON.stringify(body));
  return fc.oneof(
    { weight: 12, arbitrary: text.map((body) => encoder.encode(body)) },
    { weight: 3, arbitrary: text.chain(corrupted) },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: noise },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~!$&*+'), minLength: 1, maxLength: 12 });
const visible = fc.string({ unit: fc.constantFrom(...'aZ09 ,;=/?*"\'\\<>()[]{}%'), maxLength: 40 });

/** Headers that make something of a request, and what nobody sends in them. */
const ODD_HEADERS: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.constantFrom<[string, string]>(
    ...(
      [
        ['Content-Type', 'text/plain'],
        ['Content-Type', 'application/json; charset=utf-16'],
        ['Content-Type', 'application/json; charset="UTF-8"; x=y'],
        ['Content-Type', 'multipart/form-data; boundary=x'],
        ['Content-Type', ''],
        ['Content-Encoding', 'gzip'],
        ['Accept', 'text/html;q=0'],
        ['Accept-Encoding', 'br, gzip'],
        ['Origin', 'https://elsewhere.test'],
        ['Expect', '100-continue'],
        ['Expect', 'the-unexpected'],
        ['Upgrade', 'websocket'],
        ['If-None-Match', '*'],
        ['Range', 'bytes=0-1'],
        ['X-Forwarded-For', '::1, 256.0.0.1, "'],
        ['X-Forwarded-Proto', 'gopher'],
        ['Forwarded', 'for=unknown;proto=;'],
        ['X-HTTP-Method-Override', 'DELETE'],
        ['Cookie', 'a='.repeat(500)],
        ['Idempotency-Key', 'ü'],
        ['Idempotency-Key', 'k'.repeat(256)],
        ['Idempotency-Key', ''],
        ['Authorization', 'Basic YTpi'],
        ['Authorization', 'Bearer'],
        ['X-Service-Api-Key', ''],
      ] as [string, string][]
    ).map((pair) => pair),
  ),
  fc.tuple(token, visible),
  fc.tuple(fc.constant('Idempotency-Key'), fc.constantFrom('a', 'b', 'c', 'd')),
);

const oddSegment = fc.oneof(
  { weight: 2, arbitrary: known.map(encodeURIComponent) },
  { weight: 2, arbitrary: scalar.map((one) => encodeURIComponent(String(one).toWellFormed())) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '%2F',
      '%00',
      '%ff',
      '%',
      '%zz',
      '',
      'batch',
      '*',
      'a;b=c',
      '@',
    ),
  },
);

// Of v1 and v2, and of what is linked.
const CALLED: Record<string, string> = { people: 'contacts', members: 'contacts', records: 'deals' };

function targetOf(operation: Operation): fc.Arbitrary<string> {
  const names = operation.path.split('/').filter((_, index, parts) => parts[index + 1]?.startsWith('{'));
  const resources = names.map((name) => CALLED[name] ?? name);
  const segments = resources.map((name) =>
    fc.oneof(
      { weight: 8, arbitrary: name === 'external_ids' ? fc.constantFrom(...SOURCES) : knownOf(name) },
      { weight: 2, arbitrary: oddSegment },
    ),
  );
  return fc.tuple(fc.tuple(...segments), queryOf(operation), fc.nat(60)).map(([drawn, query, twist]) => {
    let place = 0;
    const path = operation.path.replaceAll(/\{\w+\}/g, () => drawn[place++] || 'x');
    const whole = path + (query || (operation.path.endsWith('/download') ? '?token=a.b' : ''));
    return twist < TWISTS.length ? (TWISTS[twist]?.(path, query) ?? whole) : whole;
  });
}

// Paths beside those that there are.
const TWISTS: ((path: string, query: string) => string)[] = [
  (path, query) => `${path}/${query}`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace('/api/v2', '/api/v1'),
  (path) => path.replace('/api/', '/api/./'),
  (path, query) => `${path}${query}&&==&a&=b&a=%`,
  (path) => `${path}?${'q'.repeat(4_000)}`,
  (path) => `${path}#fragment`,
];

/** A request of an operation by its key, or with another credential or method. */
export function requestOf(operations: readonly Operation[], keyOf: Keys): fc.Arbitrary<FuzzedRequest> {
  return fc.nat(operations.length - 1).chain((index) => {
    const operation = operations[index] as Operation;
    const own: [string, string][] = [['X-Service-Api-Key', keyOf[operation.api]]];
    const other = operation.api === 'v1' ? 'v2' : 'v1';
    const credentials = fc.oneof(
      { weight: 60, arbitrary: fc.constant(own) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<[string, string][]>(
          [['Authorization', `Bearer ${keyOf[operation.api]}`]],
          [['X-Service-Api-Key', keyOf[other]]],
          [...own, ...own],
          [...own, ['Authorization', `Bearer ${keyOf[operation.api]}`]],
          [],
        ),
      },
    );
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
    return fc
      .record({
        method: fc.oneof(
          { weight: 30, arbitrary: fc.constant(operation.method as string) },
          { weight: 1, arbitrary: fc.constantFrom(...methods) },
        ),
        target: targetOf(operation),
        credentials,
        odd: fc.oneof(
          { weight: 5, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(ODD_HEADERS, { maxLength: 3 }) },
        ),
        body: bytesOf(operation),
      })
      .map(({ credentials: sent, odd, ...rest }) => ({ ...rest, headers: [...sent, ...odd] }));
  });
}

/** A key of each version. */
export type Keys = Record<'v1' | 'v2', string>;

/** The request as bytes. */
export function bytesOfRequest({ method, target, headers, body }: FuzzedRequest): Uint8Array {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`;
  const head = Buffer.from(
    `${method} ${target} HTTP/1.1\r\nHost: fuzz.test\r\n${lines}${length}\r\n`,
    'utf8',
  );
  return body === null ? head : Buffer.concat([head, body]);
}
