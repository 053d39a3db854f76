// Calls over a line that breaks: a retried request keeps its idempotency key, a second call is new, and waiting has an end.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as HttpClient } from '../../cli/api/client.ts';
import { failureText } from '../../cli/mcp/failures.ts';
import { Service } from '../../cli/mcp/service.ts';
import { Assistant, recordIn } from '../support/assistant.ts';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

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

/** What a read and a write of calls that may take 0.2 s say of a server that treats requests so. */
async function toldOf(
  treat: (request: IncomingMessage) => unknown,
): Promise<{ read: string; written: string }> {
  const odd = createServer((request) => void treat(request));
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  const { port } = odd.address() as AddressInfo;
  const client = new HttpClient({ url: `http://127.0.0.1:${port}`, apiKey: 'x', waitSecondsMax: 0 });
  const service = () => new Service(client, new AbortController().signal, 0.2);
  const read = await service().get('/api/v2/authenticate').then(String, failureText);
  const written = await service().write('/api/v2/tasks', { name: 'x' }).then(String, failureText);
  odd.closeAllConnections();
  odd.close();
  return { read, written };
}

const UNCERTAIN = 'Next: It may have been carried out: check that before you call again.';

test('a server that takes requests and never responds is told before the client gives up', async () => {
  const { read, written } = await toldOf(() => {});
  expect(read).toBe(
    'INTERNAL_ERROR: The server did not respond in time.\nNext: Try again later; if it lasts, tell the person who runs crm mcp.',
  );
  expect(written).toBe(`${read}\n${UNCERTAIN}`);
});

test('after a lost connection it is not certain that nothing was written', async () => {
  const { read, written } = await toldOf((request) => request.socket.destroy());
  expect(read).not.toContain('carried out');
  expect(written).toEndWith(UNCERTAIN);
});

test('a note whose links were not all made is told with those, and with what to call', async () => {
  const { id } = recordIn(await assistant.ok('upsert', { resource: 'contacts', email: 'ada@x.example' }));
  // Such a key can link companies, but cannot see beforehand that they are there.
  const key = await sandbox.ok(['keys', 'issue', '--scopes', 'notes:read,notes:write,contacts:read']);
  await using writer = await Assistant.start(sandbox, ['--write'], { CRM_API_KEY: key });
  const absent = [ABSENT, ABSENT.replace(/.$/, 'f')];
  const records = [
    { record_type: 'company', record_id: absent[0] },
    { record_type: 'contact', record_id: id },
    { record_type: 'company', record_id: absent[1] },
  ];
  const text = await writer.refusal('add_note', { title: 'Linked in part', records });
  const [note] = ndjson(await sandbox.ok(['list', 'notes']));
  expect(text).toContain(
    `The note ${note?.id} was written. Do not add it again: it is linked to ${id}, but not`,
  );
  for (const [index, company] of [[0, absent[0]] as const, [2, absent[1]] as const]) {
    expect(text).toContain(`\nrecords.${index}.record_id: must be the ID of an existing`);
    const step = { of: 'notes.records', parent_id: note?.id, id: company, record_type: 'company' };
    expect(text).toContain(`\nNext: link ${JSON.stringify(step)}`);
  }
});
