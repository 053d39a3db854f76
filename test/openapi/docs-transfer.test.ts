// What the docs serve, over a socket: compressed, tagged, the same to HEAD, and allowed to load nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { anchorOf } from '../../server/heading-anchor.ts';
import { tags } from '../../server/openapi/tags.ts';
import { type RunningServer, startServer } from '../../server/serve.ts';

const FILES: [path: string, type: string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/contacts', 'text/html; charset=utf-8'],
  ['/docs/words.json', 'application/json; charset=utf-8'],
  ['/docs/json', 'application/json; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/guide.md', 'text/plain; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/favicon.ico', 'image/svg+xml'],
];

// The server compresses every group for the first time.
const SLOW_MS = 300_000;
// In bytes over the wire.
const OPENED_MAX = 36_000;
const USED_MAX = 60_000;
const DOCUMENT_MAX = 55_000;

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer<ArrayBuffer>;
}

let folder: string;
let server: RunningServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crm-docs-'));
  const limits = { keyLimit: 200, orgLimit: 1_000 };
  const place = { db: join(folder, 'crm.db'), host: '127.0.0.1', port: 0 };
  server = await startServer({ ...place, ...limits, log: 'off' });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks over a socket, and leaves what comes as it is. */
function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const asking = request(`${server.url}${path}`, { method, headers, agent: false }, async (answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) });
  });
  asking.on('error', reject).end();
  return promise;
}

describe.each(FILES)('%s', (path, type) => {
  test('comes in the encoding that the client takes, each with a tag of its own', async () => {
    const plain = await ask('GET', path);
    expect(plain.status).toBe(200);
    expect(plain.headers).toMatchObject({ 'content-type': type, vary: 'Accept-Encoding' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const br = await ask('GET', path, { 'Accept-Encoding': 'gzip, deflate, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.bytes)).toEqual(plain.bytes);
    const gzip = await ask('GET', path, { 'Accept-Encoding': 'br;q=0, gzip;q=0.5' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
    const tags = [plain, br, gzip].map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(3);
  });

  test('is not sent again to a client that has it', async () => {
    const { headers } = await ask('GET', path, { 'Accept-Encoding': 'br' });
    expect(headers['cache-control']).toBe('no-cache');
    const tag = String(headers.etag);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await ask('GET', path, { 'Accept-Encoding': 'br', 'If-None-Match': known });
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, tag]);
    }
    const changed = await ask('GET', path, { 'Accept-Encoding': 'br', 'If-None-Match': '"other"' });
    expect(changed.status).toBe(200);
  });

  test('tells HEAD the headers of GET, its length too', async () => {
    for (const accepted of ['identity', 'gzip', 'br']) {
      const get = await ask('GET', path, { 'Accept-Encoding': accepted });
      const head = await ask('HEAD', path, { 'Accept-Encoding': accepted });
      expect(head.bytes.length).toBe(0);
      expect(head.headers['content-length']).toBe(String(get.bytes.length));
      expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
    }
  });

  test('may load from nowhere else', async () => {
    const { headers } = await ask('GET', path);
    expect(headers['content-security-policy']).toStartWith("default-src 'none'; ");
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });
});

async function sizeOf(path: string): Promise<number> {
  return (await ask('GET', path, { 'Accept-Encoding': 'br' })).bytes.length;
}

test(
  'the page is small, with what it loads for a search and for opening an operation too',
  async () => {
    const [page, script, style, words, document, icon] = await Promise.all(
      ['/docs', '/docs/page.js', '/docs/page.css', '/docs/words.json', '/openapi.json', '/favicon.ico'].map(
        sizeOf,
      ),
    );
    const groups = tags().map(({ name }) => sizeOf(`/docs/${anchorOf(String(name))}`));
    const opened = Number(page) + Number(script) + Number(style) + Number(icon);
    expect(opened).toBeLessThan(OPENED_MAX);
    expect(opened + Number(words) + Math.max(...(await Promise.all(groups)))).toBeLessThan(USED_MAX);
    expect(document).toBeLessThan(DOCUMENT_MAX);
  },
  SLOW_MS,
);

test('the document is the same under both of its names', async () => {
  const [document, other] = [await ask('GET', '/openapi.json'), await ask('GET', '/docs/json')];
  expect(document.bytes).toEqual(other.bytes);
  expect(await ask('GET', '/docs/nothing')).toMatchObject({ status: 404 });
});
