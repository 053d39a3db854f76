// `crm secrets rotate` beside servers that run: those who are walking a list or have a link notice nothing, unless they are to.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openStore } from '../../db/store.ts';
import { listAudit } from '../../db/tables/audit.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';

const LONG = 300_000;
const sandbox = await Sandbox.withDatabase();
let key = '';
let servers: RunningServer[] = [];
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme']);
  // Two nodes, or two threads of the one server that a file can have.
  servers = isPostgres
    ? [await sandbox.serve(), await sandbox.serve()]
    : [await sandbox.serve(['--readers', '2'])];
  for (let count = 0; count < 3; count++) await ask('POST', '/contacts', { first_name: 'A' });
}, LONG);
afterAll(() => sandbox[Symbol.asyncDispose]());

let asked = 0;
async function ask(method: string, path: string, body?: object): Promise<{ status: number; end: string }> {
  asked += 1;
  const server = servers[asked % servers.length];
  const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
  const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${server?.url}/api/v2${path}`, request);
  const { page_info } = (await response.json()) as { page_info?: { end_cursor: string } };
  return { status: response.status, end: page_info?.end_cursor ?? '' };
}

const cursor = async () => (await ask('GET', '/contacts?limit=1')).end;
const accepts = async (end: string) => (await ask('GET', `/contacts?limit=1&cursor=${end}`)).status === 200;

test(
  'with a grace nobody notices, at any moment of it',
  async () => {
    const first = await cursor();
    const before = await cursor();
    const rotation = sandbox.crm(['secrets', 'rotate', '-o', 'json']);
    const isOver = { yet: false };
    const done = rotation.finally(() => {
      isOver.yet = true;
    });
    const refused: string[] = [];
    while (!isOver.yet) {
      if (!(await accepts(await cursor()))) refused.push('a cursor given meanwhile');
      if (!(await accepts(first))) refused.push('one given before');
    }
    const { code, stdout, stderr } = await done;
    expect([code, refused]).toEqual([0, []]);
    expect(stderr).toContain('cursors and links work until');
    const { rotated_at, former_until } = JSON.parse(stdout);
    expect(Date.parse(former_until) - Date.parse(rotated_at)).toBe(86_400_000);
    await Bun.sleep(1_100);
    for (const end of [before, await cursor()]) expect(await accepts(end)).toBe(true);
  },
  LONG,
);

test(
  'without one all that was signed before ends, within a second; keys stay',
  async () => {
    const before = await cursor();
    const { code, stdout, stderr } = await sandbox.crm(['secrets', 'rotate', '--grace', '0', '-o', 'json']);
    expect([code, JSON.parse(stdout).former_until]).toEqual([0, null]);
    expect(stderr).toContain('stop working within a second');
    await Bun.sleep(1_100);
    for (let count = 0; count < 4; count++) expect(await accepts(before)).toBe(false);
    for (let count = 0; count < 4; count++) expect(await accepts(await cursor())).toBe(true);
    const store = await openStore(sandbox.database);
    const told = await listAudit(store.read, { action: 'secrets.rotated', limit: 10 });
    await store.close();
    expect(told.map(({ details }) => details)).toEqual(['{"grace_seconds":0}', '{"grace_seconds":86400}']);
  },
  LONG,
);

test.each([['31d'], ['soon'], ['-1']])('a grace of %p is none', async (grace) => {
  const { code, stderr } = await sandbox.crm(['secrets', 'rotate', `--grace=${grace}`]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('30 days')]);
});
