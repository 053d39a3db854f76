// What only a socket can show: raw requests against the server as it listens.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { openStore } from '../../db/store.ts';
import { LOOPBACK } from '../../server/pipeline/client-address.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';
import type { Json } from '../support/harness.ts';
import { type Dribbled, dribble } from '../support/slow-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
const MEBIBYTE = 1024 * 1024;
let server: RunningServer;
let key = '';
// They take their quarter of a minute while the other tests run.
let halted: Promise<Dribbled>;
let crawled: Promise<Dribbled>;

beforeAll(async () => {
  const db = join(folder, 'crm.db');
  const store = await openStore(db);
  const now = Date.now();
  const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
  const scopes = ['contacts:read', 'contacts:write', 'deals:write'];
  const options = { orgNumber: org.number, api: 'v2', name: null, scopes, access: 'organization' } as const;
  const issued = await store.write('accounts', (trx) =>
    issueKey(trx, { ...options, userId: null, expiresAt: null, now }),
  );
  key = issued.key;
  await store.close();
  const limits = { keyLimit: 100_000, orgLimit: 100_000 };
  server = await startServer({
    db,
    host: '127.0.0.1',
    port: 0,
    trustedProxies: LOOPBACK,
    log: 'off',
    ...limits,
  });
  halted = slowly(['{"first_name": "Ada"']);
  crawled = slowly(['{"first_name":', '"Ada"', '}'.padStart(40 - 19)], 6_000);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  head: string;
  body: string;
  json: Json;
}

/** Sends the bytes as they are and gives the first answer, as soon as its head and announced body are here. */
function exchange(...parts: (string | Uint8Array)[]): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const isHead = typeof parts[0] === 'string' && parts[0].startsWith('HEAD');
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let text = '';
  const finish = () => {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = text.slice(0, end);
    const body = text.slice(end + 4);
    const length = isHead ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (Buffer.byteLength(body) < length) return;
    socket.destroy();
    const json = body.startsWith('{') ? JSON.parse(body) : undefined;
    resolve({ status: Number(head.split(' ')[1]), head, body, json });
  };
  socket.on('data', (chunk) => {
    text += chunk.toString();
    finish();
  });
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`closed after: ${text}`)));
  for (const part of parts) socket.write(part);
  return promise;
}

const request = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: crm.test', ...headers].join('\r\n')}\r\n\r\n`;
const bearer = () => `Authorization: Bearer ${key}`;
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code];

describe('credentials', () => {
  const rows: [name: string, headers: () => string[], status: number, code?: string][] = [
    ['one', () => [bearer()], 200],
    ['the same twice', () => [bearer(), bearer()], 401, 'AUTH_INVALID_API_KEY'],
    ['Bearer and something else', () => [bearer(), 'Authorization: Basic eDp5'], 401, 'AUTH_INVALID_API_KEY'],
    [
      'X-Service-Api-Key twice',
      () => [`X-Service-Api-Key: ${key}`, `x-service-api-key: ${key}`],
      401,
      'AUTH_INVALID_API_KEY',
    ],
    ['both headers', () => [`X-Service-Api-Key: ${key}`, bearer()], 401, 'AUTH_INVALID_API_KEY'],
    ['none', () => [], 401, 'AUTH_MISSING_CREDENTIALS'],
  ];
  for (const [name, headers, status, code] of rows) {
    test(name, async () => {
      const answer = await exchange(request('GET /api/v2/contacts', ...headers()));
      expect(codeOf(answer)).toEqual([status, code]);
    });
  }

  test('guesses are counted by the address that the proxy saw last', async () => {
    const guess = (from: string) =>
      exchange(request('GET /api/v2/contacts', 'X-Service-Api-Key: x', `X-Forwarded-For: ${from}`));
    const statuses: number[] = [];
    for (let count = 0; count < 61; count++) {
      statuses.push((await guess(`10.0.0.${count}, 192.0.2.1`)).status);
    }
    // The minute may turn in between; the limit holds within each.
    expect(statuses.slice(0, 60)).toEqual(Array(60).fill(401));
    expect((await guess('192.0.2.1, 192.0.2.2')).status).toBe(401);
  });
});

describe('HEAD', () => {
  test('has the status and headers of GET, its length included, and no body', async () => {
    const rows: [path: string, status: number][] = [
      ['/api/v2/contacts', 200],
      ['/api/v2/contacts/absent', 404],
      ['/api/v2/contacts/', 404],
      ['/api/v2/contacts?limit=0', 422],
    ];
    for (const [path, status] of rows) {
      const [get, head] = [
        await exchange(request(`GET ${path}`, bearer())),
        await exchange(request(`HEAD ${path}`, bearer())),
      ];
      const length = String(get.body.length);
      expect([path, get.status, head.status, head.body]).toEqual([path, status, status, '']);
      expect(/^content-length: (\d+)/im.exec(head.head)?.[1]).toBe(length);
      expect(head.head).toMatch(/^content-type: application\/json/im);
    }
    const absent = await exchange(request('HEAD /api/v2/deals/a/contacts/b', bearer()));
    expect([absent.status, absent.body]).toEqual([405, '']);
  });
});

describe('paths', () => {
  const rows: [target: string, status: number][] = [
    ['/api/v2/contacts/%zz', 404],
    ['/api/v2/contacts/%', 404],
    ['/api/v2/contacts/%00', 404],
    ['/api/v2/contacts/a%2Fb', 404],
    ['/api/v2/contacts/%E2%98%83', 404],
    ['/api/v2/contacts/\u2603', 404],
    [`/api/v2/contacts/${'x'.repeat(5_000)}`, 404],
    ['/api/v2/%63ontacts', 404],
    ['/api%2Fv2/contacts', 404],
    ['//api/v2/contacts', 404],
    ['/api/v2//contacts', 404],
    ['/api/v2/contacts;x=1', 404],
    ['/api/v2/contacts?', 200],
    // What the URL's own rules would make another path of is not that path.
    ['/docs/../api/v2/contacts', 404],
    ['/docs/%2e%2E/api/v2/contacts', 404],
    ['/docs\\..\\api\\v2\\contacts', 404],
    ['/api/v2/deals/../contacts', 404],
    ['/api/v2/contacts/x/..', 404],
    ['/api/v2/./contacts', 404],
    ['/api/v2/contacts/.', 404],
    ['/api/v2/meetings\\..\\contacts', 404],
    ['/x/../docs/json', 404],
    ['/x/..', 404],
    ['/docs/../healthz?a=1', 404],
    ['http://crm.test/docs/../api/v2/contacts', 404],
    ['http://crm.test/api/v2/contacts', 200],
    ['/api/v2/contacts?email=a/../b@x.example', 200],
  ];
  for (const [target, status] of rows) {
    test(target.slice(0, 60), async () => {
      const answer = await exchange(request(`GET ${target}`, bearer()));
      expect(codeOf(answer)).toEqual([status, status === 404 ? 'RESOURCE_NOT_FOUND' : undefined]);
    });
  }

  // Elysia by itself finds no path after a host of under four characters.
  for (const host of ['x', 'crm', 'X:80', 'crm.test:4000', '[::1]', 'a b', '']) {
    test(`are found at the host "${host}"`, async () => {
      const at = (head: string) => head.replace('Host: crm.test', `Host: ${host}`);
      expect((await exchange(at(request('GET /api/v2/contacts?limit=1', bearer())))).status).toBe(200);
      expect((await exchange(at(request('GET /api/v2/contacts?limit=0', bearer())))).status).toBe(422);
      expect((await exchange(at(request('GET /api/v2/contacts/', bearer())))).status).toBe(404);
      const created = request('POST /api/v2/contacts', bearer(), 'Content-Length: 20');
      expect((await exchange(at(created), '{"first_name":"Ada"}')).head).toContain(`${server.url}/api/v2/`);
    });
  }

  for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'PUT', 'DELETE', 'PATCH']) {
    test(`${method} is a 405 in the envelope`, async () => {
      const answer = await exchange(request(`${method} /api/v2/contacts`));
      expect(codeOf(answer)).toEqual([405, 'OPERATION_FORBIDDEN']);
      expect(answer.head).toMatch(/^allow: GET, HEAD, POST\r?$/im);
    });
  }
});

describe('bodies', () => {
  const chunk = (bytes: number) =>
    Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), Buffer.alloc(bytes, 0x20), Buffer.from('\r\n')]);
  const chunks = (total: number) => Array.from({ length: total / 65_536 }, () => chunk(65_536));
  const CHUNKED = 'Transfer-Encoding: chunked';
  const LAST = '0\r\n\r\n';
  const tooLarge = [413, 'VALIDATION_OUT_OF_RANGE'];

  test('in chunks, without a length', async () => {
    const parts = ['5\r\n{"fir\r\n', 'f\r\nst_name":"Ada"}\r\n', LAST];
    const answer = await exchange(request('POST /api/v2/contacts', bearer(), CHUNKED), ...parts);
    expect([answer.status, answer.json.data.first_name]).toEqual([201, 'Ada']);
  });

  test('without a content type', async () => {
    const body = '{"first_name":"Ada"}';
    const head = request('POST /api/v2/contacts', bearer(), `Content-Length: ${body.length}`);
    expect((await exchange(head, body)).status).toBe(201);
  });

  test('no body at all is a 422', async () => {
    for (const length of [[], ['Content-Length: 0']]) {
      const answer = await exchange(request('POST /api/v2/contacts', bearer(), ...length));
      expect(codeOf(answer)).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
    }
  });

  test('over 1 MiB in chunks is a 413, ended or not', async () => {
    const head = request('POST /api/v2/contacts', bearer(), CHUNKED);
    expect(codeOf(await exchange(head, ...chunks(2 * MEBIBYTE), LAST))).toEqual(tooLarge);
    expect(codeOf(await exchange(head, ...chunks(2 * MEBIBYTE)))).toEqual(tooLarge);
    const atShortHost = head.replace('crm.test', 'x');
    expect(codeOf(await exchange(atShortHost, ...chunks(2 * MEBIBYTE)))).toEqual(tooLarge);
  });

  test('announced over 1 MiB is a 413 before any of it comes', async () => {
    const head = request('POST /api/v2/contacts', bearer(), `Content-Length: ${MEBIBYTE + 1}`);
    expect(codeOf(await exchange(head))).toEqual(tooLarge);
  });

  test('a batch over 32 MiB is a 413, announced or in chunks', async () => {
    const announced = request(
      'POST /api/v2/contacts/batch',
      bearer(),
      `Content-Length: ${32 * MEBIBYTE + 1}`,
    );
    expect(codeOf(await exchange(announced))).toEqual(tooLarge);
    const head = request('POST /api/v2/contacts/batch', bearer(), CHUNKED);
    expect(codeOf(await exchange(head, ...chunks(33 * MEBIBYTE)))).toEqual(tooLarge);
  });

  test('a refusal comes before the body where no key or scope lets it in', async () => {
    const length = `Content-Length: ${20 * MEBIBYTE}`;
    expect(codeOf(await exchange(request('POST /api/v2/contacts', length)))).toEqual([
      401,
      'AUTH_MISSING_CREDENTIALS',
    ]);
    expect(codeOf(await exchange(request('POST /api/v2/tasks', bearer(), length)))).toEqual([
      403,
      'AUTH_INSUFFICIENT_SCOPE',
    ]);
  });
});

describe('headers that a client should not send', () => {
  const body = '{"first_name":"Ada"}';
  const post = (...headers: string[]) =>
    exchange(request('POST /api/v2/contacts', bearer(), `Content-Length: ${body.length}`, ...headers), body);

  test.each([
    ['gzip', 422],
    ['Identity', 201],
    ['identity, gzip', 422],
  ])('Content-Encoding: %s is a %d', async (encoding, status) => {
    const answer = await post(`Content-Encoding: ${encoding}`);
    expect(answer.status).toBe(status);
    if (status !== 422) return;
    expect(answer.json.error).toMatchObject({
      code: 'VALIDATION_INVALID_FORMAT',
      message: expect.stringContaining('send the body uncompressed'),
      details: [{ path: 'Content-Encoding' }],
    });
  });

  test('a second Host is a 422, be it the same', async () => {
    for (const host of ['crm.test', 'other.test', '']) {
      for (const answer of [
        await post(`Host: ${host}`),
        await exchange(request('GET /api/v2/contacts', bearer(), `Host: ${host}`)),
      ]) {
        expect(codeOf(answer)).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
        expect(answer.json.error.details[0].path).toBe('Host');
      }
    }
  });

  test.each(['/', '/healthz', '/readyz', '/docs', '/docs/json', '/docs/page.js'])(
    'a second Host is a 422 at %s too',
    async (path) => {
      const twice = await exchange(request(`GET ${path}`, 'Host: other.test'));
      expect(codeOf(twice)).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
      expect(twice.json.error.details[0].path).toBe('Host');
      expect((await exchange(request(`GET ${path}`))).status).toBeLessThan(400);
    },
  );
});

test('Location is absolute, where the server is reached', async () => {
  const body = '{"first_name":"Ada"}';
  const answer = await exchange(
    request('POST /api/v2/contacts', bearer(), `Content-Length: ${body.length}`),
    body,
  );
  const location = /^location: (.*?)\r?$/im.exec(answer.head)?.[1] ?? '';
  expect(location).toBe(`${server.url}/api/v2/contacts/${answer.json.data.id}`);
  expect((await fetch(location, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
});

const slowly = (pieces: string[], gapMs = 0) => {
  const head = request('POST /api/v2/contacts', bearer(), 'Content-Length: 40');
  return dribble(server.url, [head, ...pieces], { gapMs });
};

test('a body that comes to a halt is answered, and its connection closed, after fifteen seconds', async () => {
  const { status, body, ms, closed } = await halted;
  expect(status).toBe(408);
  expect(body).toContain('No data of the body arrived for 15 s');
  expect(ms).toBeWithin(14_000, 22_000);
  await closed;
}, 300_000);

// By itself Bun takes what comes as slowly as this for silence.
test('a body that goes on coming, a byte now and then, is read for longer than that', async () => {
  expect((await crawled).status).toBe(201);
}, 300_000);
