// The HTTP client against a server that misbehaves on purpose: limits, failures, broken connections, strangers.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { Client, type RequestOptions } from '../../cli/api/client.ts';
import { CliError } from '../../cli/errors.ts';
import type { Wait } from '../../cli/terminal/waits.ts';
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

  test('takes 204 without a body', async () => {
    steps = [() => new Response(null, { status: 204 })];
    expect((await send('DELETE')).body).toEqual({ object: 'none' });
  });

  test('reaches a server behind a path', async () => {
    await send('GET', {}, `${url}/crm/`);
    expect(seen[0]?.url).toBe(`${url}/crm/api/v2/contacts`);
  });

  test('takes the address of a version for that of its server', async () => {
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
    expect(waits.map((wait) => wait.reason)).toEqual(['server error', 'server error', 'server error']);
    expect(seen.map((request) => request.body)).toEqual(Array(4).fill('{"a":1}'));
    expect(new Set(seen.map((request) => request.headers.get('idempotency-key'))).size).toBe(1);
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
    const base = `http://127.0.0.1:${await freePort()}`;
    const error = await failure(send('GET', {}, base));
    expect(error.message).toContain(base);
    expect(error.nextSteps.join()).toContain('crm serve');
    expect(waits.length).toBeLessThan(5);
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
  ] satisfies [string, Step][])('from a stranger (%s) points to the address', async (_what, step) => {
    steps = [step];
    const error = await failure(send('GET'));
    expect(error.message).toContain('does not come from a crm server');
    expect(error.nextSteps.join()).toContain('CRM_URL');
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
