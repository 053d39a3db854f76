// The store and its server as processes: one server a file, kill -9 in mid-write, and a disk that is really full.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { V2_SCOPES } from '../../db/resources/index.ts';
import { DatabaseFileError, openStore } from '../../db/store.ts';
import { createOrganization } from '../../db/tables/accounts.ts';
import { issueKey } from '../../db/tables/keys.ts';
import { type ServeOptions, startServer } from '../../server/serve.ts';
import type { Json } from '../support/harness.ts';

const root = mkdtempSync(join(tmpdir(), 'crm-test-'));
const CHILD = join(import.meta.dir, '../support/serve-child.ts');
const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const child of children) await child.exited;
  rmSync(root, { recursive: true, force: true });
});

let count = 0;
async function newDatabase(folder?: string): Promise<{ db: string; key: string }> {
  count += 1;
  const at = folder ?? join(root, String(count));
  mkdirSync(at, { recursive: true });
  const db = join(at, 'crm.db');
  const store = await openStore(db);
  const now = Date.now();
  const org = await store.write((trx) => createOrganization(trx, 'Acme', now));
  const options = {
    orgId: org.id,
    api: 'v2',
    name: null,
    scopes: V2_SCOPES,
    access: 'organization',
  } as const;
  const { key } = await store.write((trx) =>
    issueKey(trx, { ...options, userId: null, expiresAt: null, now }),
  );
  await store.close();
  return { db, key };
}

const serveOptions = (db: string, port = 0): ServeOptions => ({
  ...{ db, port, host: '127.0.0.1', log: 'off' },
  ...{ keyLimit: 1_000_000, orgLimit: 1_000_000 },
});

async function spawnServer(command: string[]) {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  children.push(child);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n')) break;
  }
  if (!text.startsWith('http')) throw new Error(`no server: ${await new Response(child.stderr).text()}`);
  return { child, url: text.trim() };
}

interface Sent {
  status: number;
  body: Json;
}

async function post(
  url: string,
  key: string,
  path: string,
  body: Json,
  idempotencyKey: string,
): Promise<Sent> {
  const headers = { 'X-Service-Api-Key': key, 'Idempotency-Key': idempotencyKey };
  const response = await fetch(`${url}/api/v2${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function allIds(url: string, key: string, resource: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const headers = { 'X-Service-Api-Key': key };
    const response = await fetch(`${url}/api/v2/${resource}?limit=200${cursor}`, { headers });
    const { data, page_info } = (await response.json()) as Json;
    ids.push(...data.map((one: Json) => one.id));
    if (!page_info.has_next_page) return ids;
    cursor = `&cursor=${page_info.end_cursor}`;
  }
}

describe('one server a database', () => {
  test('a second is told who has it, and can start once that one has stopped', async () => {
    const { db } = await newDatabase();
    const first = await startServer(serveOptions(db));
    const error = await startServer(serveOptions(db)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseFileError);
    expect(error.message).toContain(`process ${process.pid}`);
    expect(error.message).toContain('127.0.0.1');
    expect(error.nextSteps.length).toBeGreaterThan(0);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.stop();
    const second = await startServer(serveOptions(db));
    await second.stop();
  });

  test('in another process too, and kill -9 frees it', async () => {
    const { db } = await newDatabase();
    const { child } = await spawnServer([process.execPath, CHILD, db]);
    const error = await startServer(serveOptions(db)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DatabaseFileError);
    expect(error.message).toContain(`process ${child.pid}`);
    child.kill('SIGKILL');
    await child.exited;
    await (await startServer(serveOptions(db))).stop();
  });

  test('operator commands work beside it', async () => {
    const { db, key } = await newDatabase();
    const server = await startServer(serveOptions(db));
    const store = await openStore(db);
    await store.write((trx) => createOrganization(trx, 'Beside', Date.now()));
    await store.close();
    expect((await post(server.url, key, '/contacts', { first_name: 'A' }, 'k')).status).toBe(201);
    await server.stop();
  });

  test('a port in use leaves the database free', async () => {
    const [one, two] = [await newDatabase(), await newDatabase()];
    const first = await startServer(serveOptions(one.db));
    const port = Number(new URL(first.url).port);
    const error = await startServer(serveOptions(two.db, port)).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'EADDRINUSE' });
    await (await startServer(serveOptions(two.db))).stop();
    await first.stop();
  });
});

describe('kill -9 in the middle of writing', () => {
  const WRITES = 400;
  const KILL_AFTER = 120;

  test('loses no acknowledged row, and repeating everything doubles none', async () => {
    const { db, key } = await newDatabase();
    const first = await spawnServer([process.execPath, CHILD, db]);
    const acknowledged = new Map<number, string>();
    const send = async (url: string, index: number) => {
      const name = { first_name: `K${index}` };
      // Every tenth is a batch of three.
      if (index % 10 === 0) return post(url, key, '/contacts/batch', [name, name, name], `key-${index}`);
      return post(url, key, '/contacts', name, `key-${index}`);
    };
    const idsOf = ({ body }: Sent): string[] => {
      const { data } = body;
      return data.items === undefined ? [data.id] : data.items.map((item: Json) => item.data.id);
    };
    let next = 0;
    const client = async () => {
      for (let index = next++; index < WRITES; index = next++) {
        const reply = await send(first.url, index).catch(() => undefined);
        if (reply === undefined) return;
        acknowledged.set(index, idsOf(reply).join());
        if (acknowledged.size === KILL_AFTER) first.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    await first.child.exited;
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILL_AFTER);
    expect(acknowledged.size).toBeLessThan(WRITES);

    const second = await spawnServer([process.execPath, CHILD, db]);
    const survived = new Set(await allIds(second.url, key, 'contacts'));
    for (const ids of acknowledged.values())
      for (const id of ids.split(',')) expect(survived.has(id)).toBe(true);
    // Whatever was not acknowledged may be there or not, but a batch is there whole or not at all.
    const total = WRITES + 2 * (WRITES / 10);
    for (let index = 0; index < WRITES; index++) {
      const ids = idsOf(await send(second.url, index)).join();
      const before = acknowledged.get(index);
      if (before !== undefined) expect(ids).toBe(before);
      else if (survived.has(ids.split(',')[0] ?? ''))
        for (const id of ids.split(',')) expect(survived.has(id)).toBe(true);
    }
    const all = await allIds(second.url, key, 'contacts');
    expect([all.length, new Set(all).size]).toEqual([total, total]);
    second.child.kill('SIGTERM');
  }, 30_000);
});

describe('a disk that is full', () => {
  // A mount in here vanishes with its process, and its process with this one, whatever happens to the test.
  const OWN_NAMESPACE = ['unshare', '--mount', '--pid', '--fork', '--kill-child'];
  const canMount = Bun.spawnSync([...OWN_NAMESPACE, 'true'], { stderr: 'ignore' }).success;

  test.skipIf(!canMount)(
    'is a 500 that loses nothing acknowledged; with room again the same keys go through',
    async () => {
      const folder = join(root, 'tiny');
      const { db, key } = await newDatabase(folder);
      const script = `set -e; cp -r '${folder}' '${folder}.copy'; mount -t tmpfs -o size=3m tmpfs '${folder}'
        cp '${folder}.copy'/* '${folder}'; '${process.execPath}' '${CHILD}' '${db}' &
        while [ ! -e '${folder}.grow' ]; do sleep 0.02; done
        mount -o remount,size=64m '${folder}'; touch '${folder}.grown'; wait`;
      const { child, url } = await spawnServer([...OWN_NAMESPACE, 'sh', '-c', script]);
      const content = 'x'.repeat(50_000);
      const statuses: number[] = [];
      const acknowledged: string[] = [];
      for (let index = 0; index < 100; index++) {
        const reply = await post(url, key, '/notes', { title: 'T', content }, `note-${index}`);
        statuses.push(reply.status);
        if (reply.status === 201) acknowledged.push(reply.body.data.id);
        else expect(reply.body.error.code).toBe('INTERNAL_ERROR');
        if (statuses.at(-1) === 500 && statuses.at(-2) === 500) break;
      }
      expect(statuses.at(-1)).toBe(500);
      expect(acknowledged.length).toBeGreaterThan(3);
      expect((await allIds(url, key, 'notes')).toSorted()).toEqual(acknowledged.toSorted());
      await Bun.write(`${folder}.grow`, '');
      while (!existsSync(`${folder}.grown`)) await Bun.sleep(20);
      for (let index = 0; index < statuses.length; index++) {
        const reply = await post(url, key, '/notes', { title: 'T', content }, `note-${index}`);
        expect(reply.status).toBe(201);
      }
      const all = await allIds(url, key, 'notes');
      expect(all).toHaveLength(statuses.length);
      for (const id of acknowledged) expect(all).toContain(id);
      child.kill('SIGTERM');
    },
    30_000,
  );
});
