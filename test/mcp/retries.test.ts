// Calls over a line that breaks: a retried request keeps its idempotency key, a second call is new, and waiting has an end.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Assistant, recordIn } from '../support/assistant.ts';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';

type Fault = 'drop' | 'fail' | 'limit';

let sandbox: Sandbox;
let server: RunningServer;
let line: Server;
let assistant: Assistant;
// What happens to the next responses, after the server has carried out their requests; a limit is before that.
let faults: Fault[] = [];
let limitSeconds = 1;
const keys: (string | undefined)[] = [];

beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  server = await sandbox.serveOrganization();
  line = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method !== 'GET') keys.push(request.headers['idempotency-key'] as string | undefined);
    const fault = faults.shift();
    if (fault === 'limit') {
      const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.', details: [] };
      response.writeHead(429, { 'retry-after': String(limitSeconds), 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'error', error, meta: {} }));
      return;
    }
    const headers = new Headers(request.headers as Record<string, string>);
    headers.delete('host');
    headers.delete('content-length');
    headers.set('accept-encoding', 'identity');
    const { method = 'GET' } = request;
    const body = method === 'GET' ? undefined : Buffer.concat(parts);
    const answer = await fetch(`${server.url}${request.url}`, { method, headers, ...(body && { body }) });
    const text = await answer.text();
    if (fault === 'drop') request.socket.destroy();
    else if (fault === 'fail') response.writeHead(502).end('<html>');
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  const { port } = line.address() as AddressInfo;
  assistant = await Assistant.start(sandbox, ['--write', '--allow-delete'], {
    CRM_URL: `http://127.0.0.1:${port}`,
  });
  await assistant.ok('describe');
});
afterAll(async () => {
  await assistant[Symbol.asyncDispose]();
  line.closeAllConnections();
  line.close();
  await server.stop();
  await sandbox[Symbol.asyncDispose]();
});
beforeEach(() => {
  faults = [];
  keys.length = 0;
});

const tasksNamed = async (name: string) =>
  ndjson(await sandbox.ok(['list', 'tasks'])).filter((task) => task.name === name);

test.each<[string, Fault[]]>([
  ['a connection that breaks', ['drop']],
  ['a server that fails', ['fail', 'fail']],
  ['a limit', ['limit', 'drop']],
])('after %s a call is carried out once', async (name, some) => {
  faults = [...some];
  const { id } = recordIn(await assistant.ok('add_task', { name }));
  expect((await tasksNamed(name)).map((task) => task.id)).toEqual([id]);
  expect(keys).toEqual(Array(some.length + 1).fill(keys[0]));
  expect(keys[0]).toBeString();
});

test('a second call with the same arguments is new', async () => {
  for (let call = 0; call < 2; call += 1) await assistant.ok('add_task', { name: 'Twice' });
  expect(await tasksNamed('Twice')).toHaveLength(2);
  expect(new Set(keys).size).toBe(2);
});

test('a delete whose answer was lost is done, not missing', async () => {
  const { id } = recordIn(await assistant.ok('add_task', { name: 'Deleted' }));
  faults = ['drop'];
  expect(await assistant.ok('delete', { resource: 'tasks', id })).toStartWith(`Deleted tasks ${id}.`);
  expect(await tasksNamed('Deleted')).toEqual([]);
});

test('what only reads has no key', async () => {
  await assistant.ok('query', { resource: 'tasks' });
  expect(keys).toEqual([undefined]);
});

test('a limit that lasts is told, with the seconds to wait, before the client gives up', async () => {
  limitSeconds = 45;
  faults = ['limit'];
  const begun = performance.now();
  const text = await assistant.refusal('add_task', { name: 'Later' });
  limitSeconds = 1;
  expect(text).toBe('RATE_LIMIT_EXCEEDED: Too many requests.\nNext: Call again in 45 seconds.');
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(await tasksNamed('Later')).toEqual([]);
});

test('a call that is given up ends its waiting', async () => {
  limitSeconds = 20;
  faults = ['limit'];
  const controller = new AbortController();
  const call = assistant.client.callTool({ name: 'add_task', arguments: { name: 'Given up' } }, undefined, {
    signal: controller.signal,
  });
  const failed = call.then(
    () => false,
    () => true,
  );
  while (keys.length === 0) await Bun.sleep(10);
  controller.abort();
  limitSeconds = 1;
  expect(await failed).toBe(true);
  await assistant.ok('add_task', { name: 'After' });
  expect(keys).toHaveLength(2);
  expect(await tasksNamed('Given up')).toEqual([]);
});
