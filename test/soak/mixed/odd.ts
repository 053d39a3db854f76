// What a server gets beside good requests: wrong keys, refusals, connections that end in the middle.
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { type Caller, hold } from './caller.ts';
import type { Worker } from './workers.ts';

const LARGE = `{"remarks":"${'r'.repeat(1_100_000)}"}`;
const ABORT_MS_MAX = 40;

/** Keys that are none; after 60 a minute their address has to wait. */
export async function tryWrongKeys({ v1, v2, limitedKey }: Worker): Promise<void> {
  for (const key of [v1.key, 'service_live_wrong', `${v2.key}x`])
    await v2.send('GET', '/contacts', [401, 429], { key });
  await v2.send('GET', '/contacts', 401, { key: '' });
  await v2.send('POST', '/contacts', 403, { key: limitedKey, body: {} });
  await v2.send('GET', '/contacts?limit=1', 200, { key: limitedKey });
}

/** What is refused, each in its own way. */
export async function sendRefusedRequests({ v2, v1, isBound }: Worker): Promise<void> {
  const absent = Bun.randomUUIDv7();
  await v2.send('POST', '/contacts', 422, { body: { nope: 1 } });
  await v2.send('POST', '/contacts', 422, { raw: '{"first_name":' });
  await v2.send('POST', '/contacts', 422, { body: { first_name: 'A' }, headers: { 'Idempotency-Key': 'ü' } });
  await v2.send('POST', '/contacts', 422, { raw: '{}', headers: { 'Content-Type': 'text/plain' } });
  await v2.send('GET', '/contacts?cursor=none', 422);
  await v2.send('PATCH', `/deals/${absent}`, 404, { body: { name: 'D' } });
  await v2.send('PUT', '/contacts', 405, { body: {} });
  await v2.send('GET', '/nothing', 404);
  await v1.send('POST', '/people/query', 422, { body: { limit: 1_000 } });
  if (isBound) await v2.send('POST', '/contacts', 413, { raw: LARGE });
}

/** Connections that are cut off: before the head is whole, within the body, before the answer. */
export async function abort({ v2 }: Worker): Promise<void> {
  const head = `POST /api/v2/contacts HTTP/1.1\r\nHost: soak\r\nX-Service-Api-Key: ${v2.key}\r\n`;
  const list = head.replace('POST', 'GET').replace('contacts', 'contacts?limit=200');
  for (const bytes of [
    '',
    'POST /api',
    head,
    `${head}Content-Length: 900\r\n\r\n{"first_name":`,
    `${list}\r\n`,
  ])
    await cutOff(v2, bytes);
  const giveUp = AbortSignal.timeout(Math.random() * ABORT_MS_MAX);
  const headers = { 'X-Service-Api-Key': v2.key };
  const tls = { rejectUnauthorized: false };
  await fetch(`${v2.url}/api/v2/contacts?limit=200`, { headers, tls, signal: giveUp })
    .then((response) => response.text())
    .catch(() => undefined);
  v2.traffic.aborted += 1;
}

async function cutOff({ url, traffic }: Caller, bytes: string): Promise<void> {
  const { port, protocol } = new URL(url);
  const place = { port: Number(port), host: '127.0.0.1' };
  const socket =
    protocol === 'https:' ? connectSecurely({ ...place, rejectUnauthorized: false }) : connect(place);
  socket.on('error', () => undefined);
  if (bytes !== '') socket.write(bytes);
  await Bun.sleep(Math.random() * ABORT_MS_MAX);
  socket.destroy();
  traffic.aborted += 1;
}

/** One request of somebody who sends too many; true if it was let in. */
export async function sendExcessRequest(greedy: Caller): Promise<boolean> {
  const { status, headers } = await greedy.send('GET', '/contacts?limit=1', [200, 429]);
  hold(status === 200 || Number(headers.get('Retry-After')) >= 1, '429 without Retry-After');
  return status === 200;
}
