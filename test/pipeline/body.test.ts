// The strict body reader: what is read as JSON, what is refused, and that nothing is dropped or coerced on the way.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectRefusal, type FaultRow, versionOf } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const CONTACTS = '/api/v2/contacts';
const COMPANIES_V1 = '/api/v1/companies';
const MEBIBYTE = 1024 * 1024;
type Raw = string | Uint8Array<ArrayBuffer>;

const post = (raw: Raw, path = CONTACTS, headers: Record<string, string> = {}) =>
  harness.send('POST', path, { raw, headers });

describe('content types that are JSON', () => {
  const types = [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/merge-patch+json',
  ];
  for (const type of types) {
    test(type, async () => {
      expect((await post('{"first_name":"A"}', CONTACTS, { 'Content-Type': type })).status).toBe(201);
    });
  }

  test('none at all', async () => {
    // The harness would add one to text.
    const request = new Request(`http://localhost${CONTACTS}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${harness.v2}` },
      body: new Blob(['{"first_name":"A"}']),
    });
    expect(request.headers.get('Content-Type')).toBeNull();
    expect((await harness.handle(request)).status).toBe(201);
  });
});

describe('content types that are not', () => {
  const types = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json, application/json',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16le',
    'application/xml+json+xml',
    'json',
  ];
  for (const type of types) {
    test(type, async () => {
      const reply = await post('{"first_name":"A"}', CONTACTS, { 'Content-Type': type });
      expectRefusal(reply, 422, 'VALIDATION_INVALID_FORMAT', [['Content-Type', 'VALIDATION_INVALID_FORMAT']]);
    });
  }
});

const INVALID = 'VALIDATION_INVALID_FORMAT';
const FAILED = 'VALIDATION_FAILED';
const RANGE = 'VALIDATION_OUT_OF_RANGE';
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(
    Buffer.concat(
      parts.map((part) => Buffer.from(part as string, typeof part === 'string' ? 'utf8' : undefined)),
    ),
  );

const REFUSED: [name: string, raw: Raw, faults: FaultRow[], path?: string][] = [
  ['nothing', '', [['', INVALID]]],
  ['white space', ' \n\t ', [['', INVALID]]],
  ['a word', 'hello', [['', INVALID]]],
  ['single quotes', "{'first_name':'A'}", [['', INVALID]]],
  ['a trailing comma', '{"first_name":"A",}', [['', INVALID]]],
  ['a comment', '{"first_name":"A"/* */}', [['', INVALID]]],
  ['two values', '{"first_name":"A"}{"first_name":"B"}', [['', INVALID]]],
  ['an object that does not end', '{"first_name":"A"', [['', INVALID]]],
  ['a string that does not end', '{"first_name":"A', [['', INVALID]]],
  ['NaN', '{"custom":{"a":NaN}}', [['', INVALID]]],
  ['a number with a leading zero', '{"custom":{"a":01}}', [['', INVALID]]],
  ['a raw line break in a string', '{"first_name":"A\nB"}', [['', INVALID]]],
  ['a raw NUL in a string', '{"first_name":"A\0B"}', [['', INVALID]]],
  ['a raw NUL behind the value', '{"first_name":"A"}\0', [['', INVALID]]],
  ['a lone continuation byte', bytes('{"first_name":"', [0x80], '"}'), [['', INVALID]]],
  ['an overlong slash', bytes('{"first_name":"', [0xc0, 0xaf], '"}'), [['', INVALID]]],
  ['a surrogate in UTF-8', bytes('{"first_name":"', [0xed, 0xa0, 0x80], '"}'), [['', INVALID]]],
  ['Latin-1', bytes('{"first_name":"', [0xe9], '"}'), [['', INVALID]]],
  ['UTF-16 without a mark', new Uint8Array(Buffer.from('{"first_name":"A"}', 'utf16le')), [['', INVALID]]],
  ['a form', 'first_name=A&last_name=B', [['', INVALID]]],
  ['33 levels of objects', nested(33), [['', RANGE]]],
  ['33 levels of lists', lists(33), [['', RANGE]]],
  ['100,001 values', `[${'0,'.repeat(100_000)}0]`, [['', RANGE]]],
  ['100,001 values inside a batch', `[[${'0,'.repeat(99_999)}0]]`, [['', RANGE]], `${CONTACTS}/batch`],
  ['33 levels inside a batch', `[${nested(32)}]`, [['', RANGE]], `${CONTACTS}/batch`],
  ['a repeated key', '{"email":"a@b.co","email":"c@d.co"}', [['email', FAILED]]],
  ['a repeated key, once escaped', '{"email":"a@b.co","\\u0065mail":"c@d.co"}', [['email', FAILED]]],
  ['a repeated key with the same value', '{"first_name":"A","first_name":"A"}', [['first_name', FAILED]]],
  ['a repeated key further down', '{"first_name":"A","custom":{"x":1,"x":1}}', [['custom.x', FAILED]]],
  ['a repeated empty key', '{"first_name":"A","custom":{"":1,"":2}}', [['custom.', FAILED]]],
  ['a repeated key in a batch', '[{"first_name":"A"},{"a":1,"a":1}]', [['1.a', FAILED]], `${CONTACTS}/batch`],
  ['__proto__', '{"first_name":"A","__proto__":{"admin":true}}', [['__proto__', FAILED]]],
  ['__proto__, escaped', '{"first_name":"A","\\u005f_proto__":1}', [['__proto__', FAILED]]],
  ['__proto__ further down', '{"first_name":"A","custom":{"__proto__":1}}', [['custom.__proto__', FAILED]]],
  ['__proto__ in v1', '{"domain":"proto.test","__proto__":1}', [['__proto__', FAILED]], COMPANIES_V1],
  ['an escaped NUL', '{"first_name":"A\\u0000B"}', [['first_name', FAILED]]],
  ['an escaped NUL in a list', '{"phone":"1","alt_emails":["a@b.co","\\u0000"]}', [['alt_emails.1', FAILED]]],
  ['an escaped NUL in a key', '{"first_name":"A","custom":{"\\u0000":1}}', [['custom.\ufffd', FAILED]]],
  ['an escaped NUL in v1', '{"domain":"nul.test","note":"\\u0000"}', [['note', FAILED]], COMPANIES_V1],
  ['a lone high surrogate', '{"first_name":"\\ud83d"}', [['first_name', FAILED]]],
  ['a lone low surrogate', '{"first_name":"\\ude00"}', [['first_name', FAILED]]],
  ['surrogates the wrong way round', '{"first_name":"\\ude00\\ud83d"}', [['first_name', FAILED]]],
  ['a lone surrogate in a key', '{"first_name":"A","custom":{"\\ud800":1}}', [['custom.\ufffd', FAILED]]],
  ['2^53', '{"first_name":"A","custom":{"n":9007199254740992}}', [['custom.n', RANGE]]],
  ['2^53+1', '{"first_name":"A","custom":{"n":9007199254740993}}', [['custom.n', RANGE]]],
  ['-2^53', '{"first_name":"A","custom":{"n":-9007199254740992}}', [['custom.n', RANGE]]],
  ['1e16', '{"first_name":"A","custom":{"n":1e16}}', [['custom.n', RANGE]]],
  ['1E400', '{"first_name":"A","custom":{"n":1E400}}', [['custom.n', RANGE]]],
  ['-1e400 in v1', '{"domain":"big.test","n":-1e400}', [['n', RANGE]], COMPANIES_V1],
  ['toString', '{"first_name":"A","toString":1}', [['toString', FAILED]]],
  ['constructor', '{"first_name":"A","constructor":{"prototype":{}}}', [['constructor', FAILED]]],
];

describe('refused', () => {
  for (const [name, raw, faults, path = CONTACTS] of REFUSED) {
    test(name, async () => {
      const reply = await post(raw, path);
      expectRefusal(reply, 422, faults[0]?.[1] ?? '', faults, versionOf(path));
    });
  }

  test('100,000 levels', async () => {
    for (const raw of [lists(100_000), '['.repeat(100_000), '{"a":'.repeat(100_000)])
      expectRefusal(await post(raw), 422, RANGE, [['', RANGE]]);
  });

  test('an item that cannot be stored harms no other of its batch', async () => {
    const raw =
      '[{"first_name":"\\u0000"},{"first_name":"Fine"},{"phone":"1","custom":{"n":1e16}},5,null,[]]';
    const { items, summary } = (await post(raw, `${CONTACTS}/batch`)).body.data;
    expect(items.map((item: Json) => item.error?.code ?? item.status)).toEqual([
      FAILED,
      'created',
      RANGE,
      FAILED,
      FAILED,
      FAILED,
    ]);
    expect(summary).toEqual({ total: 6, succeeded: 1, failed: 5 });
  });
});

describe('kept to the letter', () => {
  const values: [name: string, json: string, value: Json][] = [
    ['2^53-1', '9007199254740991', 9007199254740991],
    ['-(2^53-1)', '-9007199254740991', -9007199254740991],
    ['a fraction', '0.1', 0.1],
    ['an exponent', '1.5e3', 1500],
    ['a pair of surrogates, escaped', '"\\ud83d\\ude00"', '😀'],
    ['an escaped backslash before u', '"\\\\u0000"', '\\u0000'],
    ['braces and quotes', '"}]{[\\"__proto__\\": 1,"', '}]{["__proto__": 1,'],
    ['other planes and marks', '"e\u0301 \u202e ﷺ 👩‍👩‍👧 \ufeff"', 'e\u0301 \u202e ﷺ 👩‍👩‍👧 \ufeff'],
    ['spaces at the ends', '"  a  "', '  a  '],
    ['true', 'true', true],
  ];
  for (const [name, json, value] of values) {
    test(name, async () => {
      const created = await post(`{"first_name":"A","custom":{"v":${json}}}`);
      expect(created.status).toBe(201);
      const fetched = await harness.send('GET', `${CONTACTS}/${created.body.data.id}`);
      expect(fetched.body.data.custom).toEqual({ v: value });
    });
  }

  test('a byte order mark is not part of the value', async () => {
    expect((await post('\ufeff{"first_name":"A"}')).body.data.first_name).toBe('A');
  });

  test('keys that JavaScript objects have', async () => {
    const custom = { constructor: 'a', toString: 'b', hasOwnProperty: 'c', '': 'd' };
    const created = await post(JSON.stringify({ first_name: 'A', custom }));
    expect(created.body.data.custom).toEqual(custom);
    const v1 = await post('{"domain":"keys.test","constructor":"a","valueOf":1}', COMPANIES_V1);
    const shown = await harness.send('GET', `${COMPANIES_V1}/${v1.body.data.id}`);
    expect(shown.body.data).toMatchObject({ constructor: 'a', valueOf: 1 });
  });

  test('a very long key is not repeated whole with every fault below it', async () => {
    const long = 'k'.repeat(10_000);
    const reply = await post(`{"${long}":[${'"\\u0000",'.repeat(199)}"\\u0000"]}`);
    expect([reply.status, reply.body.error.code]).toEqual([422, FAILED]);
    const paths: string[] = reply.body.error.details.map(({ path }: Json) => path);
    expect(paths.slice(0, 2)).toEqual([`${'k'.repeat(256)}….0`, `${'k'.repeat(256)}….1`]);
    expect(Math.max(...paths.map((path) => path.length))).toBeLessThan(300);
    const deep = await post(`{"${long}":{"a":1,"a":1}}`);
    expect(deep.body.error.details).toMatchObject([{ path: `${'k'.repeat(256)}….a`, code: FAILED }]);
  });

  test('32 levels are read', async () => {
    const faults: FaultRow[] = [
      ['a', FAILED],
      ['email', 'VALIDATION_REQUIRED_FIELD'],
    ];
    expectRefusal(await post(nested(32)), 422, FAILED, faults);
    expectRefusal(await post(lists(32)), 422, FAILED, [['', FAILED]]);
  });
});

test("a body that does not arrive whole is the client's fault, and writes nothing", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(Buffer.from('{"first_name":"Half","phone":"half"}'));
      controller.error(new Error('gone'));
    },
  });
  const headers = { Authorization: `Bearer ${harness.v2}` };
  const request = new Request(`http://localhost${CONTACTS}`, { method: 'POST', headers, body: broken });
  const response = await harness.handle(request);
  expect([response.status, ((await response.json()) as Json).error.code]).toEqual([422, INVALID]);
  expect((await harness.send('GET', `${CONTACTS}?phone=half`)).body.data).toEqual([]);
});

describe('size', () => {
  const padded = (size: number, json: string) => json + ' '.repeat(size - json.length);
  /** A stream of unknown length, as a chunked request is. */
  const streamed = (size: number, json: string) => {
    let left = size - json.length;
    return new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(json)),
      pull: (controller) => {
        const chunk = Math.min(left, 256 * 1024);
        left -= chunk;
        if (chunk === 0) controller.close();
        else controller.enqueue(new Uint8Array(chunk).fill(0x20));
      },
    });
  };
  const rows: [string, number, number, string, string][] = [
    ['1 MiB is read', MEBIBYTE, 201, CONTACTS, '{"first_name":"A"}'],
    ['1 MiB and a byte is not', MEBIBYTE + 1, 413, CONTACTS, '{"first_name":"A"}'],
    ['1 MiB is read in v1', MEBIBYTE, 200, '/api/v1/people/query', '{}'],
    ['1 MiB and a byte is not in v1', MEBIBYTE + 1, 413, '/api/v1/people/query', '{}'],
    ['32 MiB are read as a batch', 32 * MEBIBYTE, 200, `${CONTACTS}/batch`, '[]'],
    ['32 MiB and a byte are not', 32 * MEBIBYTE + 1, 413, `${CONTACTS}/batch`, '[]'],
  ];
  for (const [name, size, status, path, json] of rows) {
    const key = () => (versionOf(path) === '1' ? harness.v1 : harness.v2);
    const send = async (body: string | ReadableStream, headers = {}) => {
      const all = { Authorization: `Bearer ${key()}`, 'Content-Type': 'application/json', ...headers };
      const request = new Request(`http://localhost${path}`, { method: 'POST', headers: all, body });
      return harness.handle(request);
    };
    test(`${name}, with and without its length`, async () => {
      for (const response of [
        await send(padded(size, json), { 'Content-Length': String(size) }),
        await send(streamed(size, json)),
      ]) {
        const body = (await response.json()) as Json;
        expect([response.status, body.meta.api_version]).toEqual([status, versionOf(path)]);
        if (status === 413) expect(body.error.code).toBe(RANGE);
      }
    });
  }
});
