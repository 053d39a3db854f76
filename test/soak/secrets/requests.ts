// Requests of somebody who puts keys where none belong: right ones and wrong ones, in every part of a request.
import { connect } from 'node:net';
import type { Json } from '../../support/json.ts';
import type { Secret } from './needles.ts';

const ABSENT_METHODS = 40;
const ADDRESSES = 250;

export interface Sender {
  url: string;
  /** Signs requests in; empty for none. */
  key: string;
  /** The answers that came, one after another. */
  answers: string[];
}

/** Sends a request; gives its JSON. */
export async function send(
  { url, key, answers }: Sender,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Json> {
  const hasOwn = key === '' || 'X-Service-Api-Key' in headers || 'Authorization' in headers;
  // From many places, or so many wrong keys would have commands from this one wait out the limit on them.
  const from = { 'X-Forwarded-For': `203.0.113.${answers.length % ADDRESSES}` };
  const signed = { ...from, ...headers, ...(!hasOwn && { 'X-Service-Api-Key': key }) };
  const response = await fetch(url + path, { method, headers: signed, ...(body !== undefined && { body }) });
  const text = await response.text();
  answers.push(`${response.status} ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : undefined;
}

/** Puts a secret wherever a client might by mistake. */
export async function sendWhereMistaken(sender: Sender, { text }: Secret): Promise<void> {
  const get = (path: string, headers?: Record<string, string>) => send(sender, 'GET', path, { headers });
  for (const path of [`/api/v2/contacts/${text}`, `/api/v2/${text}`, `/${text}`, `/api/v1/people/${text}`])
    await get(path);
  await get(`/api/v2/deals/${text.slice(0, 30)}/contacts/${text.slice(30)}`);
  for (const name of ['api_key', 'token', 'cursor', 'email', 'limit', text])
    await get(`/api/v2/contacts?${name}=${text}`);
  await get(`/api/v2/transcripts/download?token=${text}`);
  await get(`/docs?key=${text}`);
  await get(`/healthz?key=${text}`);
  for (const name of [
    'Cookie',
    'User-Agent',
    'Referer',
    'X-Request-Id',
    'Origin',
    'X-Forwarded-For',
    'Traceparent',
  ])
    await get('/api/v2/contacts?limit=1', { [name]: text });
  await get('/api/v2/contacts', { 'X-Service-Api-Key': text });
  await get('/api/v2/contacts', { 'X-Service-Api-Key': `${text}x` });
  await get('/api/v1/people/x', { Authorization: `Bearer ${text}` });
  await get('/api/v2/contacts', { Authorization: `Bearer ${text}`, 'X-Service-Api-Key': text });
  await get('/api/v2/contacts', { Authorization: `Basic ${btoa(`${text}:`)}` });
  for (const body of [
    `{"${text}":1}`,
    `{"first_name":"a","owner_id":"${text}"}`,
    text,
    `{"limit":"${text}"}`,
  ]) {
    await send(sender, 'POST', '/api/v2/contacts', { body });
    await send(sender, 'POST', '/api/v1/people/query', { body });
  }
  await send(sender, 'POST', '/api/v2/contacts', { headers: { 'Content-Type': text }, body: '{}' });
  await sendRaw(
    sender,
    `${text.slice(0, ABSENT_METHODS)} /api/v2/contacts HTTP/1.1\r\nHost: ${text}.test\r\n\r\n`,
  );
  await sendRaw(sender, `GET /api/v2/contacts HTTP/1.1\r\nHost: x\r\n${text}: ${text}\r\n\r\n`);
  await sendRaw(sender, `GET /api/v2/contacts HTTP/1.1\r\n${text}\r\n\r\n`);
}

function sendRaw({ url, answers }: Sender, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes));
    const end = () => {
      socket.destroy();
      resolve();
    };
    socket.on('data', (chunk) => {
      answers.push(chunk.toString());
      end();
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}
