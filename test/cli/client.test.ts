// The HTTP client against a server that misbehaves on purpose: limits, failures, broken connections, strangers.
import { afterAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type RequestOptions } from '../../cli/api/client.ts';
import { CliError } from '../../cli/errors.ts';
import type { Wait } from '../../cli/terminal/wait-reasons.ts';
import { generateKey } from '../../db/tables/key-format.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { freePort } from '../support/ports.ts';

type Step = (request: Request, body: string) => Response;

const META = { request_id: 'req_body', api_version: '2', timestamp: '2026-01-01T00:00:00.000Z' };
const fine: Step = () => Response.json({ object: 'success', data: { id: '1' }, meta: META });
const failing = (status: number, headers: Record<string, string> = {}, code = 'X'): Step => {
  const error = { code, message: 'It is wrong.', details: [{ path: 'a.0', message: 'must be b', code }] };
  return () => Response.json({ object: 'error', error, meta: META }, { status, headers });
};

let steps: Step[] = [];
const seen: { method: string; url: string; headers: Headers; body: string }[] = [];
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const body = await request.text();
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    return (steps.shift() ?? fine)(request, body);
  },
});
afterAll(() => server.stop(true));
const url = `http://127.0.0.1:${server.port}`;

let waits: Wait[] = [];
beforeEach(() => {
  steps = [];
  seen.length = 0;
  waits = [];
});

function send(method: string, options: RequestOptions = {}, base = url) {
  const client = new Client({ url: base, apiKey: 'service_live_x', onWait: (wait) => waits.push(wait) });
  return client.request(method, '/api/v2/contacts', options);
}

async function failure(promise: Promise<unknown>): Promise<CliError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CliError) return error;
  throw new Error(`no CliError but ${error}`);
}

describe('a request', () => {
  test('carries key, query and body, and gives back the envelope and its text', async () => {
    const response = await send('POST', { query: { a: 'ü&=' }, body: { email: 'é' } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ object: 'success', data: { id: '1' }, meta: META });
    expect(JSON.parse(response.text)).toEqual(response.body);
    const [request] = seen;
    expect(request?.url).toBe(`${url}/api/v2/contacts?a=%C3%BC%26%3D`);
    expect(request?.body).toBe('{"email":"é"}');
    expect(request?.headers.get('authorization')).toBe('Bearer service_live_x');
    expect(request?.headers.get('content-type')).toStartWith('application/json');
  });

  test('sends JSON text as it is written', async () => {
    await send('POST', { rawBody: '{"a":1,"a":2}' });
    expect(seen[0]?.body).toBe('{"a":1,"a":2}');
  });

  test('has an idempotency key of its own on POST and PATCH, the given one, and none on others', async () => {
    await send('POST');
    await send('PATCH');
    await send('POST', { idempotencyKey: 'mine' });
    await send('GET');
    await send('DELETE');
    const [post, patch, given, get, remove] = seen.map((request) => request.headers.get('idempotency-key'));
    expect(post).toBeString();
    expect(patch).toBeString();
    expect(patch).not.toBe(post ?? '');
    expect(given).toBe('mine');
    expect([get, remove]).toEqual([null, null]);
  });

  test('of a dry run has the header and no idempotency key, once the server is known to take it', async () => {
    const tried: Step = () =>
      Response.json({ object: 'success', data: {}, meta: META }, { headers: { 'dry-run': 'true' } });
    steps = [fine, tried, tried];
    const client = new Client({ url, apiKey: 'service_live_x' });
    await client.request('POST', '/api/v2/contacts', { body: {}, isDryRun: true, idempotencyKey: 'mine' });
    await client.request('DELETE', '/api/v2/contacts/1', { isDryRun: true });
    await client.request('DELETE', '/api/v2/contacts/1');
    expect(
      seen.map((request) => [
        `${request.method} ${request.url.slice(url.length)}`,
        request.headers.get('dry-run'),
        request.headers.get('idempotency-key'),
      ]),
    ).toEqual([
      ['GET /api/v2/authenticate', null, null],
      ['POST /api/v2/contacts', 'true', null],
      ['DELETE /api/v2/contacts/1', 'true', null],
      ['DELETE /api/v2/contacts/1', null, null],
    ]);
  });

  test('of a dry run is not sent to a server that would ignore the header and write', async () => {
    steps = [failing(404, {}, 'RESOURCE_NOT_FOUND')];
    const error = await failure(send('POST', { body: {}, isDryRun: true }));
    expect(error.message).toBe('This server is too old for a dry run. Nothing was written.');
    expect(seen.map((request) => request.method)).toEqual(['GET']);
    steps = [failing(401, {}, 'AUTH_INVALID_API_KEY')];
    expect((await failure(send('POST', { isDryRun: true }))).exitCode).toBe(4);
    expect(seen.map((request) => request.method)).toEqual(['GET', 'GET']);
  });

  test('of a dry run fails loudly if a proxy kept the header back', async () => {
    const error = await failure(send('POST', { body: {}, isDryRun: true }));
    expect(error.message).toContain('The dry run was carried out for real');
  });

  test('takes 204 without a body', async () => {
    steps = [() => new Response(null, { status: 204 })];
    expect((await send('DELETE')).body).toEqual({ object: 'none' });
  });

  test('reaches a server behind a path', async () => {
    await send('GET', {}, `${url}/crm/`);
    expect(seen[0]?.url).toBe(`${url}/crm/api/v2/contacts`);
  });

  test('takes the URL of an API version for that of its server', async () => {
    await send('GET', {}, `${url}/api/v2/`);
    expect(seen[0]?.url).toBe(`${url}/api/v2/contacts`);
  });
});

describe('waiting and retrying', () => {
  test('429 is waited out by Retry-After, as often as it takes, with the same key', async () => {
    const limited = failing(429, { 'retry-after': '1' }, 'RATE_LIMIT_EXCEEDED');
    steps = [limited, limited];
    expect((await send('POST')).status).toBe(200);
    expect(waits).toEqual([
      { seconds: 1, reason: 'rate limit' },
      { seconds: 1, reason: 'rate limit' },
    ]);
    expect(new Set(seen.map((request) => request.headers.get('idempotency-key'))).size).toBe(1);
  });

  test('5xx is retried with the same key and body', async () => {
    steps = [failing(500), failing(503), () => new Response('<html>', { status: 502 })];
    expect((await send('PATCH', { body: { a: 1 } })).status).toBe(200);
    expect(waits.map((wait) => wait.reason)).toEqual(['server error', 'unavailable', 'server error']);
    // Each time up to twice as long, and never at the moment when all others try again.
    for (const [tries, { seconds }] of waits.entries())
      expect(seconds * 2 ** -tries).toBeWithin(0.25, 0.500_001);
    expect(seen.map((request) => request.body)).toEqual(Array(4).fill('{"a":1}'));
    expect(new Set(seen.map((request) => request.headers.get('idempotency-key'))).size).toBe(1);
  });

  test('a DELETE whose record is gone after a failed attempt was carried out by that one', async () => {
    const gone = failing(404, {}, 'RESOURCE_NOT_FOUND');
    steps = [failing(502), gone];
    expect(await send('DELETE')).toMatchObject({ status: 204, body: { object: 'none' } });
    steps = [gone];
    expect((await failure(send('DELETE'))).message).toContain('It is wrong');
    steps = [failing(429, { 'retry-after': '1' }, 'RATE_LIMIT_EXCEEDED'), gone];
    expect((await failure(send('DELETE'))).message).toContain('It is wrong');
    steps = [failing(502), gone];
    expect((await failure(send('PATCH'))).message).toContain('It is wrong');
    steps = [failing(502), () => new Response('<html>', { status: 404 })];
    expect((await failure(send('DELETE'))).message).not.toContain('It is wrong');
  });

  test('a connection that breaks within the answer is retried with the same key', async () => {
    const requests: string[] = [];
    const text = '{"object":"success","data":{"id":"1"}}';
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`;
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket, data) => {
          requests.push(data.toString());
          socket.end(requests.length === 1 ? head + text.slice(0, 9) : head + text);
        },
      },
    });
    const response = await send('POST', {}, `http://127.0.0.1:${listener.port}`);
    listener.stop(true);
    expect(response.text).toBe(text);
    expect(waits.map((wait) => wait.reason)).toEqual(['connection']);
    const keys = requests.map((request) => /idempotency-key: (\S+)/i.exec(request)?.[1]);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toBeString();
  });

  test('expectErrors still retries 5xx, and gives 4xx back', async () => {
    steps = [failing(503), failing(422)];
    const response = await send('POST', { expectErrors: true });
    expect(response.status).toBe(422);
    expect(response.body.object).toBe('error');
    expect(seen).toHaveLength(2);
  });

  test('a server that never answered is given up soon, with what to do', async () => {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const error = await failure(send('GET', {}, base));
    expect(error.message).toBe(`No response from ${base}: connection refused, no server listens there.`);
    expect(error.nextSteps[0]).toBe(`start the server: crm serve --port ${port}`);
    expect(waits.length).toBeLessThan(5);
    expect(waits).not.toBeEmpty();
  });

  describe('what will be the same the next time is reported at once', () => {
    const ssh = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'), data: () => undefined },
    });
    afterAll(() => ssh.stop(true));
    const secure = url.replace('http:', 'https:');

    test.each([
      [
        'a host name that is not known',
        'https://nobody.invalid',
        'nobody.invalid cannot be resolved',
        'host name',
      ],
      ['TLS to a plain server', secure, 'does not support TLS', `--url ${url}`],
      ['HTTP to what does not speak it', `http://127.0.0.1:${ssh.port}`, 'is not HTTP', 'the port'],
    ])('%s', async (_what, base, reason, next) => {
      const error = await failure(send('GET', {}, base));
      expect(error.message).toStartWith(`No response from ${base}: `);
      expect(error.message).toContain(reason);
      expect(error.nextSteps.join()).toContain(next);
      expect(error.nextSteps.join()).not.toContain('crm serve');
      expect(waits).toEqual([]);
    });
  });

  test.skipIf(!hasOpenssl)('a certificate that is not trusted too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-client-'));
    const { certFile, keyFile } = makeCertificate(folder, 'localhost');
    const secure = Bun.serve({
      port: 0,
      tls: { cert: Bun.file(certFile), key: Bun.file(keyFile) },
      fetch: () => new Response(),
    });
    const error = await failure(send('GET', {}, `https://127.0.0.1:${secure.port}`));
    await secure.stop(true);
    rmSync(folder, { recursive: true });
    expect(error.message).toMatch(/its certificate is (not trusted|for another name)/);
    expect(error.nextSteps.join()).toContain('NODE_EXTRA_CA_CERTS');
    expect(waits).toEqual([]);
  });

  test('a name that is not known any more, once the server was reached, is retried like a broken connection', async () => {
    const client = new Client({ url, apiKey: 'k', onWait: (wait) => waits.push(wait) });
    await client.request('GET', '/api/v2/contacts');
    const fetched = spyOn(globalThis, 'fetch');
    fetched.mockRejectedValueOnce(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    const { status } = await client.request('GET', '/api/v2/contacts');
    fetched.mockRestore();
    expect({ status, waits: waits.map(({ reason }) => reason) }).toEqual({
      status: 200,
      waits: ['connection'],
    });
  });

  test('a client with a bound waits no longer in all, and gives back the last failure', async () => {
    const limited = failing(429, { 'retry-after': '1' }, 'RATE_LIMIT_EXCEEDED');
    steps = [limited, limited, failing(429, { 'retry-after': '30' }, 'RATE_LIMIT_EXCEEDED')];
    const client = new Client({ url, apiKey: 'k', onWait: (wait) => waits.push(wait), waitSecondsMax: 3 });
    const response = await client.request('POST', '/api/v2/contacts', { expectErrors: true });
    expect([response.status, response.headers.get('retry-after'), waits.length]).toEqual([429, '30', 2]);
    steps = [failing(503)];
    const hasty = new Client({ url, apiKey: 'k', waitSecondsMax: 0 });
    expect((await failure(hasty.request('GET', '/api/v2/contacts'))).status).toBe(503);
  });

  test('an abort ends the waiting', async () => {
    steps = [failing(429, { 'retry-after': '3600' })];
    const controller = new AbortController();
    const client = new Client({ url, apiKey: 'k', onWait: () => controller.abort(new Error('enough')) });
    const request = client.request('GET', '/api/v2/contacts', { signal: controller.signal });
    await expect(request).rejects.toThrow('enough');
  });

  test.each([400, 401, 403, 404, 409, 413, 422])('%d is not retried', async (status) => {
    steps = [failing(status)];
    expect((await failure(send('POST'))).status).toBe(status);
    expect(seen).toHaveLength(1);
  });
});

describe('an error', () => {
  test('quotes message, code, details and request id, and says what to do', async () => {
    steps = [failing(422, { 'x-request-id': 'req_header' }, 'VALIDATION_FAILED')];
    const error = await failure(send('POST'));
    expect(error.exitCode).toBe(1);
    expect(error.message).toBe(
      'It is wrong. (422 VALIDATION_FAILED, POST /api/v2/contacts)\n  a.0: must be b',
    );
    expect(error.requestId).toBe('req_header');
    expect(error.nextSteps).not.toBeEmpty();
  });

  const v2Key = generateKey('service_live');
  const wrongEnd = v2Key.endsWith('0') ? '1' : '0';
  test.each([
    [
      'a word',
      'abc',
      '/api/v2/deals',
      'does not look like an API key',
      'service_live_ and has 62 characters',
    ],
    ['a word, for v1', 'abc', '/api/v1/people/query', 'a v1 key starts with service_api_', '--api v1'],
    ['part of a key', v2Key.slice(0, -3), '/api/v2/deals', 'has 59 characters', 'copy the complete key'],
    ['a mistyped key', v2Key.slice(0, -1) + wrongEnd, '/api/v2/deals', 'has a typo', 'copy the complete key'],
    ['a v1 key', generateKey('service_pk'), '/api/v2/deals', 'is for v1', 'crm keys issue --org'],
    ['a v2 key', v2Key, '/api/v1/people/query', 'is for v2', '--all-scopes --api v1'],
    [
      'the key of another server',
      v2Key,
      '/api/v2/deals',
      'it was revoked or rotated, or belongs to another',
      'CRM_API_KEY',
    ],
  ])('says of %s what is wrong with it, and never shows it', async (_what, apiKey, path, reason, next) => {
    steps = [failing(401, { 'x-request-id': 'req_9' }, 'AUTH_INVALID_API_KEY')];
    const error = await failure(new Client({ url, apiKey }).request('GET', path));
    const told = [error.message, ...error.nextSteps].join('\n');
    expect(error).toMatchObject({ exitCode: 4, requestId: 'req_9' });
    expect(told).toContain(reason);
    expect(told).toContain(next);
    expect(told).toContain('crm keys issue');
    expect(told).not.toContain('It is wrong.');
    if (apiKey !== 'abc') expect(told).not.toContain(apiKey.slice(-12));
  });

  test('says of the old secret of a rotated key what the server says, whatever its words', async () => {
    const message = 'Use the new one.';
    steps = [
      () =>
        Response.json(
          {
            object: 'error',
            error: {
              code: 'AUTH_INVALID_API_KEY',
              message,
              details: [{ path: 'key.secret', message: 'must be the new secret' }],
            },
          },
          { status: 401 },
        ),
    ];
    const error = await failure(new Client({ url, apiKey: v2Key }).request('GET', '/api/v2/deals'));
    expect(error.message).toBe(
      `${message} (401 AUTH_INVALID_API_KEY, GET /api/v2/deals)\n  key.secret: must be the new secret`,
    );
    expect(error).toMatchObject({ exitCode: 4, nextSteps: [expect.stringContaining('crm keys rotate')] });
  });

  test('says of what is not an id that it is none, and where ids are shown', async () => {
    steps = [failing(404, {}, 'RESOURCE_NOT_FOUND')];
    const client = new Client({ url, apiKey: 'k' });
    const error = await failure(client.request('GET', '/api/v2/contacts/ada%40acme.example'));
    expect(error.nextSteps).toEqual([
      'use an ID instead of "ada@acme.example". To find it: crm search ada@acme.example --types contacts',
    ]);
  });

  test.each([
    [401, 'AUTH_INVALID_API_KEY', 4],
    [401, 'AUTH_EXPIRED_API_KEY', 4],
    [403, 'AUTH_INSUFFICIENT_SCOPE', 4],
    [403, 'OPERATION_FORBIDDEN', 4],
    [404, 'RESOURCE_NOT_FOUND', 1],
    [409, 'RESOURCE_CONFLICT', 1],
    [413, 'VALIDATION_OUT_OF_RANGE', 1],
  ])('%d %s ends with %d', async (status, code, exitCode) => {
    steps = [failing(status, {}, code)];
    const error = await failure(send('POST'));
    expect(error).toMatchObject({ exitCode, requestId: 'req_body' });
    expect(error.nextSteps).not.toBeEmpty();
  });

  test('names the existing record of a conflict', async () => {
    steps = [failing(409, { location: 'http://crm/api/v2/contacts/7' }, 'RESOURCE_CONFLICT')];
    expect((await failure(send('POST'))).nextSteps.join()).toContain('crm get contacts 7');
  });

  test.each([
    ['a page', () => new Response('<html>', { status: 200 })],
    ['foreign JSON', () => Response.json({ ok: true })],
    ['null', () => Response.json(null)],
    ['a foreign 404', () => new Response('nothing here', { status: 404 })],
  ] satisfies [string, Step][])('from a stranger (%s) points to the server URL', async (_what, step) => {
    steps = [step];
    const error = await failure(send('GET'));
    expect(error.message).toContain('is not from a crm server');
    expect(error.nextSteps.join()).toContain('CRM_URL');
  });

  test.each([414, 431])('status %d says that the request is too long', async (status) => {
    steps = [() => new Response(null, { status })];
    const error = await failure(send('GET'));
    expect(error.message).toContain(`is too long for the server (status ${status}).`);
    expect(error.nextSteps.join()).toBe('use fewer or shorter values, then run the command again.');
  });

  test('a redirect is not followed: the key would go along', async () => {
    steps = [() => Response.redirect('https://elsewhere.example/', 302)];
    const error = await failure(send('GET'));
    expect(error.message).toContain('https://elsewhere.example/');
    expect(seen).toHaveLength(1);
  });

  test.each(['localhost:4000', 'ftp://x', 'http://', '', 'http://x/?a=1'])(
    '%p is no address: exit 2',
    async (base) => {
      expect(() => new Client({ url: base, apiKey: 'k' })).toThrow(CliError);
    },
  );
});
