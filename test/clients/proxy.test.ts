// A validating proxy in front of the service: Prism reads the description and sees every operation keep to it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createInstance, getHttpOperationsFromSpec, type IHttpRequest } from '@stoplight/prism-http';
import { openApiDocument } from '../../server/openapi/document.ts';
import { prepared, sendRow } from '../support/contract-walk.ts';
import { ROWS, V1 } from '../support/endpoints.ts';
import { type Harness, type Json, type Send, startHarness } from '../support/harness.ts';

type Components = Parameters<typeof createInstance>[1];

const quiet = () => undefined;
const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger };

let harness: Harness;
let server: Bun.Server<undefined>;
let proxy: ReturnType<typeof createInstance>;
let operations: Awaited<ReturnType<typeof getHttpOperationsFromSpec>>;

beforeAll(async () => {
  harness = await startHarness();
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => harness.handle(request) });
  // It is changed there: references give way to what they refer to.
  operations = await getHttpOperationsFromSpec(structuredClone<Json>(await openApiDocument()));
  const config = {
    isProxy: true as const,
    upstream: server.url,
    upstreamProxy: undefined,
    checkSecurity: true,
    validateRequest: true,
    validateResponse: true,
    errors: false,
    mock: { dynamic: false },
  };
  proxy = createInstance(config, { logger: logger as unknown as Components['logger'] });
}, 300_000);
afterAll(async () => {
  await server.stop(true);
  await harness.close();
});

/** What the proxy remarks of one exchange, and what was answered. */
async function pass(
  method: string,
  path: string,
  {
    headers = {},
    raw,
    described = operations,
  }: { headers?: Record<string, string>; raw?: string; described?: typeof operations } = {},
) {
  const url = new URL(path, server.url);
  const request: IHttpRequest = {
    method: method.toLowerCase() as IHttpRequest['method'],
    url: { path: url.pathname, query: Object.fromEntries(url.searchParams) },
    headers: { ...headers, ...(raw !== undefined && { 'content-type': 'application/json' }) },
    ...(raw !== undefined && { body: JSON.parse(raw) }),
  };
  const outcome = await proxy.request(request, described)();
  if (outcome._tag === 'Left') throw outcome.left;
  const { output, validations } = outcome.right;
  const remarks = [...validations.input, ...validations.output].map(
    ({ path: place, message }) => `${place?.join('.')}: ${message}`,
  );
  return { output, remarks };
}

const throughProxy: Send = async (method, path, { key = '', raw } = {}) => {
  const { output, remarks } = await pass(method, path, {
    headers: { authorization: `Bearer ${key}` },
    ...(raw !== undefined && { raw: raw.toString() }),
  });
  expect(remarks).toEqual([]);
  const headers = new Headers(output.headers);
  return { status: output.statusCode, headers, text: '', body: output.body as Json };
};

describe('through the proxy', () => {
  for (const [index, row] of ROWS.entries()) {
    const [method, path, , success] = row;
    // The proxy waits for the end of a response.
    if (success.endsWith('stream')) continue;
    test(`${method} ${path}`, async () => {
      const reply = await sendRow(harness, row, index < V1.length ? harness.v1 : harness.v2, throughProxy);
      expect(String(reply.status)).toBe(success.split(' ')[0] ?? '');
    });
  }

  test('GET /api/v2/transcripts/download', async () => {
    const recording = await prepared(harness, '{recordings}');
    const shown = await harness.send('GET', `/api/v2/recordings/${recording}`);
    const { pathname, search } = new URL(shown.body.data.transcript_url);
    expect((await throughProxy('GET', pathname + search, {})).status).toBe(200);
  });

  test('errors of every kind', async () => {
    const email = 'taken@proxy.test';
    await harness.send('POST', '/api/v2/contacts', { body: { email } });
    const raw = JSON.stringify({ email });
    const { v1, v2 } = harness;
    const refused: [status: number, method: string, path: string, key: string, raw?: string][] = [
      [401, 'GET', '/api/v2/contacts', 'service_live_wrong'],
      [403, 'GET', '/api/v2/contacts', (await harness.issue({ scopes: ['deals:read'] })).key],
      [404, 'GET', '/api/v2/contacts/absent', v2],
      [404, 'GET', '/api/v1/people/absent', v1],
      [409, 'POST', '/api/v2/contacts', v2, raw],
      [422, 'POST', '/api/v2/contacts', v2, '{}'],
    ];
    for (const [status, method, path, key, body] of refused)
      expect((await throughProxy(method, path, { key, ...(body && { raw: body }) })).status).toBe(status);
  });
});

test('the proxy remarks what does not keep to the description', async () => {
  const headers = { authorization: `Bearer ${harness.v2}` };
  const unkeyed = await pass('GET', '/api/v2/contacts');
  expect(unkeyed.remarks.join()).toContain('Invalid security scheme used');
  const misfit = await pass('POST', '/api/v2/contacts', { headers, raw: '{"email":5}' });
  expect(misfit.remarks).toContain('body.email: Request body property email must be string,null');
  const unknown = await pass('GET', '/api/v2/contacts?limit=500', { headers });
  expect(unknown.remarks.join()).toContain('limit');
  await harness.send('POST', '/api/v2/notes', { body: { title: 'N' } });
  const narrowed = structuredClone<Json>(await openApiDocument());
  delete narrowed.components.schemas.Note.properties.title;
  const described = await getHttpOperationsFromSpec(narrowed);
  const undescribed = await pass('GET', '/api/v2/notes', { headers, described });
  expect(undescribed.remarks.join()).toContain("must NOT have additional properties; found 'title'");
});
