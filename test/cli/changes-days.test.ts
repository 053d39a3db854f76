// How long changes are kept: set once, on one server, it applies to the database from then on.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.dispose]());

/** The feed of a server with these flags, from a cursor. */
async function feedOf(flags: string[], cursor = ''): Promise<{ status: number; body: Feed }> {
  const server = await sandbox.serve(flags);
  const query = cursor === '' ? '' : `?cursor=${cursor}`;
  const response = await fetch(`${server.url}/api/v2/changes${query}`, {
    headers: { 'X-Service-Api-Key': key },
  });
  const body = (await response.json()) as Feed;
  await server.stop();
  return { status: response.status, body };
}

interface Feed {
  page_info: { end_cursor: string };
  error: { details: { path: string }[] };
}

// Nobody else's server is asked.
const env = { CRM_URL: 'http://127.0.0.1:9' };
const told = async () =>
  /^.*changes.*$/m
    .exec(await sandbox.ok(['doctor'], { env }))?.[0]
    .replace(/\s+/g, ' ')
    .trim();

test('is kept by servers that are not told otherwise, and crm doctor tells it', async () => {
  expect((await feedOf([])).status).toBe(200);
  expect(await told()).toBe('ok changes 1 change, kept for 30 days');
  expect((await feedOf(['--changes-days', '0'])).status).toBe(404);
  expect(await told()).toBe('ok changes not kept (serve --changes-days 0)');
  expect((await feedOf([])).status).toBe(404);
  expect((await feedOf(['--changes-days', '7'])).status).toBe(200);
  expect(await told()).toBe('ok changes 1 change, kept for 7 days');
});

test.each(['-1', '366', 'x'])('must be a number of days: not %s', async (days) => {
  const { code, stderr } = await sandbox.crm(['serve', '--port', '0', `--changes-days=${days}`]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--changes-days')]);
});

test('a restored backup refuses the cursors from before', async () => {
  const { body } = await feedOf([]);
  await sandbox.ok(['backup', 'b.db', '--quiet']);
  await sandbox.ok(['restore', 'b.db', '--confirm', '--quiet']);
  const refused = await feedOf([], body.page_info.end_cursor);
  expect([refused.status, refused.body.error.details[0]?.path]).toEqual([422, 'cursor']);
});

test('while none are kept, no command says that a delete can be undone', async () => {
  const server = await sandbox.serve(['--changes-days', '0']);
  const env = { CRM_URL: server.url, CRM_API_KEY: key };
  const create = async () => JSON.parse(await sandbox.ok(['create', 'tasks', 'name=T'], { env })).id;
  const ids = [await create(), await create()];
  const one = await sandbox.crm(['delete', 'tasks', ids[0], '--yes'], { env });
  expect(one).toEqual({ code: 0, stdout: '', stderr: `Deleted task ${ids[0]}.\n` });
  const many = await sandbox.crm(['delete', 'tasks', '--from', '-', '--yes'], { env, stdin: `${ids[1]}\n` });
  expect([many.code, many.stderr]).toEqual([0, expect.not.stringContaining('undo')]);
  for (const words of [
    ['history', 'tasks', ids[0]],
    ['undelete', 'tasks', ids[0]],
    ['undelete', '--request', 'req_x'],
    ['webhooks', 'list'],
  ]) {
    const { code, stderr } = await sandbox.crm(words, { env });
    expect([words[0], code, stderr]).toEqual([words[0], 1, expect.stringContaining('serve --changes-days')]);
    expect(stderr).not.toContain('the ID');
  }
  await server.stop();
});
