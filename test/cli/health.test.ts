// `crm health` and `crm doctor` ask only the server that was named, and follow no redirect.
import { afterAll, expect, test } from 'bun:test';
import { generateKey } from '../../db/tables/key-format.ts';
import { Sandbox } from '../support/command.ts';
import { roundThat } from '../support/rounds.ts';

const sandbox = new Sandbox();
/** What it says of a server, this process, which on a busy machine does not always answer in time. */
const health = (url: string) =>
  roundThat(
    ({ stderr }) => !stderr.includes('timed out'),
    () => sandbox.crm(['health', '--url', url]),
  );
const asked: string[] = [];
let isAlive = true;
const elsewhere = Bun.serve({
  port: 0,
  fetch(request) {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return Response.json({ status: 'ready' });
  },
});
const moved = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    const { pathname } = new URL(url);
    // Doctor goes on to ask with the key once these are answered.
    if (pathname === '/healthz' && isAlive) return Response.json({ status: 'ok' });
    return new Response(null, { status: 307, headers: { Location: `${elsewhere.url.origin}${pathname}` } });
  },
});
afterAll(async () => {
  await Promise.all([elsewhere.stop(true), moved.stop(true)]);
  sandbox[Symbol.dispose]();
});

test('a redirect is reported and not followed: what answers there says nothing of this server', async () => {
  const { code, stderr } = await health(moved.url.origin);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`redirects /readyz to ${elsewhere.url.origin}/readyz (307)`),
  ]);
  expect(asked).toEqual([]);
});

test('a server that is ready is so, without a key', async () => {
  const { code, stderr } = await health(elsewhere.url.origin);
  expect([code, stderr]).toEqual([0, 'ready\n']);
  asked.length = 0;
});

// A key that looks right of each version: what is sent, and where, is looked at before it is judged.
test.each([
  ['v2', 'service_live'],
  ['v1', 'service_api'],
])('doctor takes no key of %s to where a server sends it on', async (_api, prefix) => {
  const env = { CRM_URL: moved.url.origin, CRM_API_KEY: generateKey(prefix) };
  const { stdout, stderr } = await sandbox.crm(['doctor'], { env });
  expect(`${stdout}${stderr}`).toContain('failed with 307');
  expect(asked).toEqual([]);
});

test('doctor says where a server redirects to', async () => {
  isAlive = false;
  const { stdout, stderr } = await sandbox.crm(['doctor'], { env: { CRM_URL: moved.url.origin } });
  const said = `${stdout}${stderr}`;
  expect(said).toContain(`redirects /healthz to ${elsewhere.url.origin}/healthz (307)`);
  expect(said).toContain('crm does not follow redirects');
  expect(said).not.toContain('not a crm server');
  expect(asked).toEqual([]);
});
