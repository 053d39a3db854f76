// The search index in service: after kill -9, for another node, after an erasure, and what crm doctor says of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { erasePerson } from '../../db/people/erase.ts';
import { findPerson } from '../../db/people/person.ts';
import { keyOfBytes } from '../../db/search/keys.ts';
import { packedLists } from '../../db/search/packing.ts';
import { openStore } from '../../db/store.ts';
import { IndexUpdates } from '../../server/index-updates.ts';
import { Sandbox } from '../support/command.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { describe as describeOnPostgres } from '../support/on-postgres.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';

// Each starts several processes.
const STARTS_MS = 300_000;

describe('a served database', () => {
  let sandbox: Sandbox;
  let url = '';
  let key = '';
  beforeAll(async () => {
    sandbox = await Sandbox.withDatabase();
    key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  const send = async (path: string, body?: Json): Promise<Json> => {
    const headers = { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${url}/api/v2${path}`, init)).json();
  };
  const count = async (q: string): Promise<number> => (await send(`/search?q=${q}&limit=100`)).data.length;
  const told = async () =>
    /^.*search index.*$/m
      .exec((await sandbox.crm(['doctor'])).stdout)?.[0]
      .replace(/\s+/g, ' ')
      .trim();

  test(
    'has what was written before kill -9 in its index later, and doctor compares the two',
    async () => {
      const first = await sandbox.serve();
      url = first.url;
      await send(
        '/contacts/batch',
        Array.from({ length: 50 }, () => ({ first_name: 'Perdita' })),
      );
      await first.stop('SIGKILL');
      const second = await sandbox.serve();
      url = second.url;
      expect(await count('perdita')).toBe(50);
      await until(async () => (await told()) === 'ok search index 20 records compared');
      await second.stop();
    },
    STARTS_MS,
  );

  test(
    'whose index lost words has it built again',
    async () => {
      const store = await openStore(sandbox.database);
      await store.write('accounts', (trx) => trx.deleteFrom('search_rows').execute());
      await store.close();
      const doctor = await sandbox.crm(['doctor']);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(
        'search index 20 records of 20 compared cannot be found by all of their words',
      );
      expect(doctor.stdout).toContain('--rebuild-search');
      expect((await sandbox.crm(['doctor', '--rebuild-search'])).stdout).toContain('being built');
      const lines = (await sandbox.crm(['doctor'])).stdout.split('\n');
      expect(lines.filter((line) => line.includes('search index'))).toEqual([
        expect.stringContaining('being built for 1 organization: 0 records read'),
      ]);
      const server = await sandbox.serve();
      url = server.url;
      await until(async () => (await send('/search?q=perdita')).object === 'list');
      expect(await count('perdita')).toBe(50);
      expect(await told()).toBe('ok search index 20 records compared');
      await server.stop();
    },
    STARTS_MS,
  );
});

describe('an erased person', () => {
  let harness: Harness;
  let api: Client;
  beforeAll(async () => {
    harness = await startHarness();
    api = clientOf(harness);
  });
  afterAll(() => harness.close());

  test('leaves the index at once, also where a change of theirs was not indexed yet', async () => {
    const { store, orgNumber } = harness;
    const email = 'quintilla@hidden.example';
    const { id } = await api.create('contacts', { email, first_name: 'Quintilla', last_name: 'Former' });
    const note = await api.create('notes', { title: 'Call', content: `write to ${email}` });
    await new IndexUpdates(store).update(orgNumber);
    await api.update('contacts', id, { last_name: 'Later' });
    const words = async () => {
      const rows = await store.read.selectFrom('search_rows').selectAll().execute();
      return rows.flatMap(({ key, entries }) =>
        packedLists(keyOfBytes(key).list, entries).map(({ list }) => list),
      );
    };
    expect(await words()).toEqual(expect.arrayContaining(['nquintilla', 'nformer', 'tquintilla']));
    const person = await findPerson(store.read, orgNumber, email);
    await erasePerson(store, person, { isDryRun: false, onProgress: () => {}, finish: async () => {} });
    expect(await words()).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/quintilla|former|later/)]),
    );
    expect(await store.read.selectFrom('search_pending').select('id').execute()).toEqual([]);
    expect((await api.list('/search?q=call')).map(({ record_id }) => record_id)).toEqual([note.id]);
  });
});

describeOnPostgres('over two nodes', () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes();
  });
  afterAll(() => nodes.close());

  test('what one has written the other finds, few records and many', async () => {
    const [one, other] = nodes.all;
    if (one === undefined || other === undefined) throw new Error('two nodes are needed');
    const found = async (q: string): Promise<number> =>
      (await other.send('GET', `/api/v2/search?q=${q}&limit=100`)).body.data.length;
    await one.send('POST', '/api/v2/contacts', { body: { first_name: 'Solveig' } });
    expect(await found('solveig')).toBe(1);
    for (let batch = 0; batch < 3; batch++) {
      const body = Array.from({ length: 100 }, (_, index) => ({
        first_name: `Many${index}`,
        title: 'Skald',
      }));
      await one.send('POST', '/api/v2/contacts/batch', { body });
    }
    expect(await found('skald many7')).toBe(33);
  });
});
