// `crm orgs quota` beside a running server, which enforces it from the next request on; `crm doctor` reports its use.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { checkQuotas } from '../../cli/doctor/quotas.ts';
import { findOrganization } from '../../db/accounts/accounts.ts';
import type { Quota } from '../../db/accounts/quotas.ts';
import { openStore, type Store } from '../../db/store.ts';
import { listAudit } from '../../db/tables/audit.ts';
import { countRecordTotals } from '../../db/tables/content-bytes.ts';
import { ndjson, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import type { Json } from '../support/harness.ts';
import { setQuota } from '../support/quota.ts';

// Each runs the command several times over.
setDefaultTimeout(300_000);

const sandbox = await Sandbox.withDatabase();
afterAll(() => sandbox[Symbol.asyncDispose]());

let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme']);
});

const quota = async (...args: string[]): Promise<Json> =>
  JSON.parse(await sandbox.ok(['orgs', 'quota', 'acme', '-o', 'json', ...args]));

function create(url: string, index: number): Promise<Response> {
  return fetch(`${url}/api/v2/contacts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ first_name: `C${index}` }),
  });
}

async function inDatabase<T>(job: (store: Store, orgNumber: number) => Promise<T>): Promise<T> {
  const store = await openStore(sandbox.database);
  const org = await findOrganization(store.read, 'acme');
  return job(store, org?.number ?? 0).finally(() => store.close());
}

const set = (given: Partial<Quota>) =>
  inDatabase((store, orgNumber) => setQuota({ store, dbPath: sandbox.database, orgNumber }, given));

const findings = () => inDatabase((store) => checkQuotas(store.read, sandbox.database));

describe('a quota', () => {
  test('is shown with what is there, which is counted where none is set', async () => {
    expect(await quota()).toMatchObject({
      ...{ name: 'Acme', records: 1, records_limit: null, bytes: 5, bytes_limit: null },
      ...{ bytes_in_flight_limit: null, replay_bytes: 0, replay_bytes_limit: 1024 ** 3 },
    });
    expect(Object.keys(ndjson(await sandbox.ok(['orgs', 'list']))[0] ?? {})).toEqual([
      'id',
      'name',
      'created_at',
    ]);
    expect(await findings()).toEqual([]);
  });

  // Threads answer from a file alone.
  test.each(isPostgres ? [[]] : [[], ['--readers', '2']])(
    'holds from the next request of a running server (%p)',
    async (...flags: string[]) => {
      const server = await sandbox.serve(flags);
      const { records } = await inDatabase((store, orgNumber) => countRecordTotals(store.read, orgNumber));
      await quota('--records', String(records + 10));
      const replies = await Promise.all(Array.from({ length: 30 }, (_, index) => create(server.url, index)));
      expect(replies.filter(({ status }) => status === 201).length).toBe(10);
      const refused = replies.find(({ status }) => status === 403);
      expect(refused?.headers.get('X-Quota-Records-Used')).toBe(String(records + 10));
      await set({ records: records + 11 });
      expect((await create(server.url, 1)).status).toBe(201);
      expect((await create(server.url, 2)).status).toBe(403);
      await set({});
      expect((await create(server.url, 2)).status).toBe(201);
      await server.stop();
    },
  );

  test('is kept when another is set, shown in orgs list and the audit log, and refused if it is not valid', async () => {
    await quota('--records', '1000', '--bytes', '1.5GB');
    expect(await quota('--bytes-in-flight', '16MiB', '--replay-bytes', '2GiB')).toMatchObject({
      replay_bytes_limit: 2 ** 31,
      ...{ records_limit: 1_000, bytes_limit: 1_500_000_000, bytes_in_flight_limit: 16_777_216 },
    });
    await sandbox.ok(['orgs', 'create', 'Other']);
    const listed = ndjson(await sandbox.ok(['orgs', 'list'])) as Json[];
    expect(listed.map(({ name, records_limit, bytes }) => [name, records_limit, typeof bytes])).toEqual([
      ['Acme', 1_000, 'number'],
      ['Other', null, 'object'],
    ]);
    const [entry] = await inDatabase((store) => listAudit(store.read, { action: 'quota.changed', limit: 1 }));
    expect(JSON.parse(entry?.details ?? '')).toEqual({
      records: 1_000,
      bytes: 1_500_000_000,
      bytes_in_flight: 16_777_216,
      replay_bytes: 2 ** 31,
    });
    const wrong = [
      ['--records', 'many'],
      ['--records', '-1'],
      ['--bytes', '5gb'],
      ['--bytes-in-flight', '1.2345kB'],
    ];
    for (const flags of wrong) expect((await sandbox.crm(['orgs', 'quota', 'Acme', ...flags])).code).toBe(2);
    expect((await sandbox.crm(['orgs', 'quota', 'Nobody'])).code).toBe(1);
    const below = await sandbox.crm(['orgs', 'quota', 'Acme', '--records', '1']);
    expect(below.stderr).toContain('The organization already exceeds this limit.');
  });

  test('is reported by doctor: nearly used up, used up, and counted wrongly', async () => {
    const { records } = await inDatabase((store, orgNumber) => countRecordTotals(store.read, orgNumber));
    await set({ records: records * 2, bytes: 1e9 });
    const told = JSON.parse((await sandbox.crm(['doctor', '-o', 'json'])).stdout) as Json[];
    expect(told.filter(({ check }) => check === 'quota')).toMatchObject([
      { status: 'ok', found: expect.stringContaining(`Acme: ${records} of ${records * 2} records, `) },
    ]);
    await set({ records: records + 1 });
    expect(await findings()).toMatchObject([
      {
        status: 'warn',
        found: expect.stringMatching(/: nearly used up$/),
        next: expect.stringContaining('crm orgs quota Acme'),
      },
    ]);
    await set({ records });
    expect(await findings()).toMatchObject([
      { status: 'warn', found: expect.stringMatching(/: used up, and further writes are refused$/) },
    ]);
    await set({ replayBytes: 0 });
    expect(await findings()).toMatchObject([
      {
        status: 'warn',
        found:
          'Acme: 0 B of 0 B of stored responses: used up, and requests with a new Idempotency-Key are refused',
        next: expect.stringMatching(/^Raise the quota: crm orgs quota Acme .*--replay-bytes SIZE$/),
      },
    ]);
    await set({ records });
    await inDatabase((store) =>
      store.write('accounts', (trx) =>
        trx.updateTable('org_clocks').set({ records: 0 }).where('records', 'is not', null).execute(),
      ),
    );
    expect(await findings()).toMatchObject([{ status: 'warn', next: expect.stringContaining('Recount') }]);
    await set({ records: records * 2 });
    expect(await findings()).toMatchObject([{ status: 'ok' }]);
  });
});
