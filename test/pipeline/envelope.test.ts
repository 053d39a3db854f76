// Envelopes, request ids, internal errors that tell nothing, and keys that are found nowhere afterwards.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expectEnvelope, expectRefusal, versionOf } from '../support/envelope.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const lines: string[] = [];
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ log: (line) => lines.push(line) });
});
afterAll(() => harness.close());

describe('meta', () => {
  test('tells version, id and time of the request in every kind of envelope', async () => {
    const rows: [method: string, path: string, object: string, body?: object][] = [
      ['GET', '/api/v2/contacts', 'list'],
      ['POST', '/api/v2/contacts', 'success', { first_name: 'A' }],
      ['POST', '/api/v2/contacts/batch', 'batch', [{}]],
      ['GET', '/api/v2/contacts/absent', 'error'],
      ['GET', '/api/v1/authenticate', 'success'],
      ['POST', '/api/v1/people/query', 'list', {}],
      ['GET', '/api/v1/people/absent', 'error'],
      ['GET', '/api/v1/nothing', 'error'],
      ['GET', '/nothing', 'error'],
    ];
    for (const [method, path, object, body] of rows) {
      const reply = await harness.send(method, path, { body });
      expectEnvelope(reply, object, versionOf(path));
      expect(reply.body.meta.timestamp).toBe(new Date(harness.clock.now).toISOString());
    }
  });

  test('no two requests have one id, and a client cannot choose it', async () => {
    const headers = { 'X-Request-Id': 'req_mine' };
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => harness.send('GET', '/api/v2/contacts/absent', { headers })),
    );
    const ids = new Set(replies.map((reply) => reply.body.meta.request_id));
    expect(ids.size).toBe(200);
    expect(ids.has('req_mine')).toBe(false);
  });

  test('an answer without a body has its id in the header', async () => {
    const { id } = (await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'A' } })).body.data;
    const reply = await harness.send('DELETE', `/api/v2/contacts/${id}`);
    expect([reply.status, reply.text, reply.headers.get('Content-Type')]).toEqual([204, '', null]);
    expect(reply.headers.get('X-Request-Id')).toMatch(/^req_/);
  });
});

describe('an internal error', () => {
  // Tables taken away under the running service: whatever touches them fails inside.
  const broken: [table: string, rows: [method: string, path: string, body?: object][]][] = [
    [
      'contacts',
      [
        ['GET', '/api/v2/contacts'],
        ['GET', '/api/v2/contacts/absent'],
        ['POST', '/api/v2/contacts', { first_name: 'Secret Name' }],
        ['POST', '/api/v2/contacts/batch', [{ first_name: 'Secret Name' }]],
        ['PATCH', '/api/v2/contacts/absent', { first_name: 'Secret Name' }],
        ['DELETE', '/api/v2/contacts/absent'],
        ['POST', '/api/v1/people/query', {}],
        ['POST', '/api/v1/people', { type: 'email', identifier: 'secret@name.test', firstName: 'A' }],
      ],
    ],
    ['idempotency_keys', [['POST', '/api/v2/contacts', { first_name: 'Secret Name' }]]],
    [
      'api_keys',
      [
        ['GET', '/api/v2/contacts'],
        ['GET', '/api/v1/authenticate'],
      ],
    ],
  ];
  for (const [table, rows] of broken) {
    test(`tells nothing: ${table}`, async () => {
      const rename = (from: string, to: string) =>
        harness.store.write('accounts', (trx) =>
          sql`alter table ${sql.id(from)} rename to ${sql.id(to)}`.execute(trx),
        );
      await rename(table, 'elsewhere');
      for (const [method, path, body] of rows) {
        lines.length = 0;
        const reply = await harness.send(method, path, {
          body,
          headers: { 'Idempotency-Key': `${table}-${path}` },
        });
        expectRefusal(reply, 500, 'INTERNAL_ERROR', undefined, versionOf(path));
        expect(reply.text).not.toMatch(new RegExp(`${table}|elsewhere|secret|column|table`, 'i'));
        // The log has what the client is not told, under the same id, without what the request carried.
        const failure = lines.map((line) => JSON.parse(line)).find((line) => line.level === 'error');
        expect(failure).toMatchObject({ request_id: reply.body.meta.request_id, method });
        expect(failure.error).toContain(table);
        expect(lines.join()).not.toMatch(/secret/i);
      }
      await rename('elsewhere', table);
      for (const [method, path, body] of rows) {
        const reply = await harness.send(method, path, {
          body,
          headers: { 'Idempotency-Key': `${table}-${path}` },
        });
        expect(reply.status).toBeLessThan(500);
        expect(reply.headers.get('Idempotent-Replayed')).toBeNull();
      }
    });
  }
});

describe('keys are kept nowhere', () => {
  function filesOfDatabase(): Map<string, Buffer> {
    const folder = dirname(harness.dbPath);
    const database = new Database(harness.dbPath, { readonly: true });
    database.run('vacuum into ?', [join(folder, 'backup.db')]);
    database.close();
    const names = readdirSync(folder);
    for (const name of ['crm.db', 'crm.db-wal', 'backup.db']) expect(names).toContain(name);
    return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  }

  async function rowsOfTables(): Promise<Map<string, Buffer>> {
    const { read } = harness.store;
    const texts = new Map<string, Buffer>();
    for (const { name } of await read.introspection.getTables()) {
      const rows = await read
        .selectFrom(name as 'settings')
        .selectAll()
        .execute();
      texts.set(name, Buffer.from(JSON.stringify(rows)));
    }
    expect(texts.get('api_key_secrets')?.length).toBeGreaterThan(100);
    return texts;
  }

  test('not in the database, its log, a backup of it, nor the log of requests', async () => {
    lines.length = 0;
    const secrets: string[] = [harness.v1, harness.v2];
    for (const api of ['v1', 'v2'] as const) {
      const { key } = await harness.issue({ api });
      secrets.push(key);
      const path = api === 'v1' ? '/api/v1/authenticate' : '/api/v2/contacts';
      const ways: Record<string, string>[] = [
        { Authorization: `Bearer ${key}` },
        { 'X-Service-Api-Key': key },
      ];
      for (const headers of ways)
        expect((await harness.send('GET', path, { key: null, headers })).status).toBe(200);
      await harness.send('GET', `${path}?api_key=${key}`, { key });
      await harness.send('POST', '/api/v2/contacts', {
        body: { first_name: 'A' },
        headers: { 'Idempotency-Key': 'x' },
      });
      await harness.send('GET', path, { key: `${key}x` });
      secrets.push(`${key}x`);
    }
    expect(lines.length).toBeGreaterThan(8);
    for (const [name, bytes] of isPostgres ? await rowsOfTables() : filesOfDatabase()) {
      for (const secret of secrets) {
        expect([name, bytes.includes(secret)]).toEqual([name, false]);
        // The random part alone, either half.
        const random = secret.slice(secret.lastIndexOf('_') + 1);
        expect([name, bytes.includes(random.slice(0, 20)), bytes.includes(random.slice(20, 43))]).toEqual([
          name,
          false,
          false,
        ]);
      }
    }
    for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret.slice(-30));
  });

  test('what is stored is the SHA-256, and it opens nothing', async () => {
    const rows = await harness.store.read.selectFrom('api_key_secrets').select('hash').execute();
    for (const { hash } of rows) {
      expect(hash).toMatch(/^[0-9a-f]{64}$/);
      const reply = await harness.send('GET', '/api/v2/contacts', { key: hash });
      expect(reply.status).toBe(401);
    }
    const own = new Bun.CryptoHasher('sha256').update(harness.v2).digest('hex');
    expect(rows.map((row) => row.hash)).toContain(own);
  });
});
