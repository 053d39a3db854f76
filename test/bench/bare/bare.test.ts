// The bare servers answer what crm answers, byte by byte except what is generated each time; otherwise the ratios mean nothing.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer, postgresPrograms } from '../../support/postgres.ts';
import { Databases } from '../databases.ts';
import { Fleet } from '../fleet.ts';
import { runLoad } from '../load.ts';
import type { Server } from '../operation.ts';
import { addressOf, phoneOf } from '../seed.ts';
import { type BareName, type Binary, type BuildName, COMPARED_WITH, isBuild } from '../servers.ts';
import { Commits } from './commits.ts';

const BINARY = join(import.meta.dir, '../../../dist/crm');
const CONTACTS = 250;

const MADE_ANEW = /"(request_id|timestamp|end_cursor)":"[^"]+"/g;
const MADE_BY_A_WRITE = /"(id|created_at|updated_at)":"[^"]+"/g;

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
const fleet = new Fleet();

async function send(server: Server, method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v2/contacts${path}`, {
    method,
    headers: { Authorization: `Bearer ${server.build.key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = (await response.text()).replaceAll(MADE_ANEW, '"$1":"…"');
  return `${response.status} ${response.headers.get('Content-Type')} ${text}`;
}

describe.skipIf(!existsSync(BINARY))('the bare servers (need dist/crm: bun run build)', () => {
  const hasPostgres = postgresPrograms !== null;
  const started = new AsyncDisposableStack();
  beforeAll(async () => {
    const binaries: Binary[] = [{ name: 'crm', binary: BINARY }];
    const bare: BareName[] = ['bare', 'same-tables'];
    const options = { binaries, bare, contacts: CONTACTS, starts: 0 };
    if (!hasPostgres) return fleet.start(folder, options);
    const server = started.adopt(await PostgresServer.start(), (one) => one.close());
    binaries.push({ name: 'crm-postgres', binary: BINARY });
    bare.push('bare-postgres');
    await fleet.start(folder, { ...options, databases: new Databases(server.address()) });
  }, 1_200_000);
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await started.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });

  const named = (name: BuildName) => fleet.servers.find((server) => server.name === name) as Server;
  const crm = () => named('crm');
  const bareOf = (build: BuildName) =>
    fleet.servers.filter(({ name }) => !isBuild(name) && COMPARED_WITH[name as BareName] === build);
  // Each engine's crm is compared with the bare servers on copies of its database.
  const onEach = test.each<BuildName>(hasPostgres ? ['crm', 'crm-postgres'] : ['crm']);

  onEach('give the same records and pages as %s', async (build) => {
    const { contacts } = named(build).seeds;
    const paths = [`/${contacts[0]}`, `/${contacts[200]}`, '?limit=100', '?limit=200'];
    paths.push(`?email=${addressOf(7)}&limit=100`, `?phone=${encodeURIComponent(phoneOf(7))}&limit=100`);
    for (const path of paths) {
      const expected = await send(named(build), 'GET', path);
      expect(expected).toStartWith('200 ');
      for (const server of bareOf(build))
        expect([server.name, await send(server, 'GET', path)]).toEqual([server.name, expected]);
    }
  });

  test('on the tables of crm find the same by every other filter', async () => {
    const { companies, users, segments } = crm().seeds;
    const same = fleet.servers.find(({ name }) => name === 'same-tables') as Server;
    for (const path of [
      `?company_id=${companies[0]}&limit=60`,
      `?owner_id=${users[1]}&limit=10`,
      `?segment_id=${segments[0]}&limit=100`,
    ])
      expect(await send(same, 'GET', path)).toBe(await send(crm(), 'GET', path));
  });

  onEach('continue a list where the page before ended, as %s', async (build) => {
    const all: string[][] = [];
    for (const server of [named(build), ...bareOf(build)]) {
      const url = `http://127.0.0.1:${server.port}/api/v2/contacts?limit=100`;
      const headers = { Authorization: `Bearer ${server.build.key}` };
      const found: string[] = [];
      for (let cursor = '', isLast = false; !isLast; ) {
        const { data, page_info } = (await (await fetch(url + cursor, { headers })).json()) as ListAnswer;
        found.push(...data.map(({ id }) => id));
        cursor = `&cursor=${page_info.end_cursor}`;
        isLast = !page_info.has_next_page;
      }
      expect(found.toSorted()).toEqual(named(build).seeds.contacts.toSorted());
      all.push(found);
    }
    for (const found of all) expect(found).toEqual(all[0] ?? []);
  });

  onEach('write the same as %s', async (build) => {
    const id = named(build).seeds.contacts[3];
    const custom = { plan: 'navy' };
    const writes: [method: string, path: string, body: unknown][] = [
      ['POST', '', { email: 'Ada@example.com', first_name: 'Ada', custom, keep_in_touch: true }],
      ['POST', '/batch', [{ email: 'b@example.com' }, { last_name: 'Babbage', phone: '+44 1' }]],
      ['PATCH', `/${id}`, { title: 'Countess' }],
      ['GET', '?limit=5', undefined],
    ];
    for (const [method, path, body] of writes) {
      const expected = (await send(named(build), method, path, body)).replaceAll(MADE_BY_A_WRITE, '"$1":"…"');
      for (const server of bareOf(build)) {
        const answer = await send(server, method, path, body);
        expect([server.name, answer.replaceAll(MADE_BY_A_WRITE, '"$1":"…"')]).toEqual([
          server.name,
          expected,
        ]);
      }
    }
  });

  test('know their keys', async () => {
    for (const server of fleet.servers) {
      const stranger = { ...server, build: { ...server.build, key: `${server.build.key}x` } };
      expect(await send(stranger, 'GET', '?limit=1')).toStartWith('401 ');
    }
  });

  test('are held to their answers by the load generator', async () => {
    const { port, pid, build } = crm();
    const run = (path: string, bodyBytes?: number) => {
      const request = `GET /api/v2/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${build.key}\r\n\r\n`;
      return runLoad({ port, pid, next: () => request, connections: 2, milliseconds: 20, bodyBytes });
    };
    const page = await run('contacts?limit=100');
    expect(page.failure).toBeUndefined();
    expect(page.count).toBeGreaterThan(1);
    expect((await run('contacts?limit=100', page.bodyBytes)).failure).toBeUndefined();
    expect((await run('contacts?limit=50', page.bodyBytes)).failure).toStartWith('not ');
    expect((await run('contacts/unknown')).failure).toStartWith('another status than 2xx');
  });
});

test('writes of one turn share a transaction', async () => {
  const db = new Database(':memory:');
  db.run('CREATE TABLE t (n INTEGER PRIMARY KEY)');
  const commits = new Commits(db);
  const insert = (n: number) => commits.run(() => db.run('INSERT INTO t VALUES (?)', [n]).changes);
  expect(await Promise.all([insert(1), insert(2)])).toEqual([1, 1]);
  const both = await Promise.allSettled([insert(3), insert(1)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(db.query('SELECT n FROM t').values()).toEqual([[1], [2]]);
});

interface ListAnswer {
  data: { id: string }[];
  page_info: { has_next_page: boolean; end_cursor: string };
}
