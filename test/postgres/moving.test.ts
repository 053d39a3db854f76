// Between the engines: a whole database copied there and back, and an organization exported from one into the other.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../db/store.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { Sandbox } from '../support/command.ts';
import { type CopyOutcome, copyOf, startFilled } from '../support/copies.ts';
import type { Harness } from '../support/harness.ts';
import { contentOf, fillOrganization } from '../support/organization.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { clientOf } from '../support/v2.ts';

describe.skipIf(postgresPrograms === null)('beside a server of PostgreSQL', () => {
  const sandbox = new Sandbox();
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  let server: PostgresServer;
  let harness: Harness;
  beforeAll(async () => {
    server = await PostgresServer.start();
    harness = await startFilled({ db: join(folder, 'filled.db') });
  }, 300_000);
  afterAll(async () => {
    await harness.close();
    await server.close();
    sandbox[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  let databases = 0;
  async function newDatabase(): Promise<string> {
    databases += 1;
    await server.sql(`create database moving_${databases}`);
    return server.address(`moving_${databases}`);
  }

  /** Waits until the server has closed the sessions of commands that have ended: a command waits a second for that. */
  const closed = () => {
    const sessions = `select 1 from pg_stat_activity where application_name = 'crm'`;
    return until(async () => (await server.sql(sessions)).length === 0);
  };

  const digestsOf = ({ compared }: CopyOutcome) => {
    for (const [name, [source, copy]] of compared) expect({ name, ...copy }).toEqual({ name, ...source });
    return [...compared].map(([name, [{ digest }]]) => [name, digest]);
  };

  test('a database goes there, from server to server, and back, and is the same', async () => {
    const [one, two, file] = [await newDatabase(), await newDatabase(), join(folder, 'back.db')];
    const there = digestsOf(await copyOf(harness.dbPath, one));
    expect(digestsOf(await copyOf(one, two))).toEqual(there);
    expect(digestsOf(await copyOf(two, file))).toEqual(there);
  }, 300_000);

  test('a copy that was interrupted at a write resumes there, and cannot be opened until it is complete', async () => {
    for (const at of [2, 9, 17, 26]) {
      const address = await newDatabase();
      let count = 0;
      const interrupted = copyOf(harness.dbPath, address, () => {
        count += 1;
        if (count === at) throw new Error('interrupted');
      });
      expect(await interrupted.catch((error: Error) => error.message)).toBe('a database failed');
      expect(openStore(address)).rejects.toThrow('contains an incomplete copy of another database');
      const again = await copyOf(harness.dbPath, address);
      expect([at, again.readiness]).toEqual([at, 'begun']);
      digestsOf(again);
    }
  }, 300_000);

  test('a copy has what was there when it began, whatever is written meanwhile', async () => {
    const address = await newDatabase();
    const { compared } = await copyOf(harness.dbPath, address);
    const stored = compared.get('idempotency_keys')?.[1].rows ?? 0;
    expect(stored).toBeGreaterThan(0);
    const store = await openStore(address);
    const writing: Promise<unknown>[] = [];
    const rename = () =>
      store.write('accounts', async (trx) => {
        await trx
          .updateTable('users')
          .set({ name: `${writing.length}` })
          .execute();
        await trx.deleteFrom('idempotency_keys').execute();
      });
    const outcome = await copyOf(address, join(folder, 'snapshot.db'), () => writing.push(rename()));
    await Promise.all(writing);
    expect(writing.length).toBeGreaterThan(20);
    digestsOf(outcome);
    expect(outcome.compared.get('idempotency_keys')?.[1].rows).toBe(stored);
    await store.close();
  }, 300_000);

  test('the command takes addresses, knows a database under another name, and shows no password', async () => {
    await sandbox.ok(['init', '--org', 'Acme']);
    const address = await newDatabase();
    const secret = address.replace('crm@', 'crm:hush-hush@');
    const whole = await sandbox.crm(['migrate', '--from', 'crm.db', '--to', secret]);
    expect([whole.code, whole.stderr]).toEqual([0, expect.stringContaining(`to ${address} in `)]);
    const other = address.replace('127.0.0.1', 'localhost');
    const same = await sandbox.crm(['migrate', '--from', secret, '--to', other]);
    expect([same.code, same.stderr]).toEqual([2, expect.stringContaining('name the same database')]);
    const used = await sandbox.crm(['migrate', '--from', 'crm.db', '--to', secret]);
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining(`${address} is not empty`)]);
    const missing = await sandbox.crm(['migrate', '--from', 'crm.db', '--to', `${secret}_`]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('does not exist')]);
    const back = await sandbox.crm(['migrate', '--from', secret, '--to', 'back.db', '-o', 'json']);
    expect([back.code, JSON.parse(back.stdout).from]).toEqual([0, address]);
    for (const { stdout, stderr } of [whole, same, used, missing, back])
      expect(stdout + stderr).not.toContain('hush');
    const [, next = ''] = /^Next: crm (serve .*)$/m.exec(whole.stderr) ?? [];
    expect(next).toBe(`serve --db ${address}`);
  }, 300_000);

  test('the command says at which database it failed and how to go on, and does', async () => {
    const address = await newDatabase();
    const name = new URL(address).pathname.slice(1);
    await (await openStore(address)).close();
    await server.sql(
      `create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'full' using errcode = 'disk_full'; end $$;
      create trigger fail before insert on pipelines execute function fail()`,
      name,
    );
    await closed();
    const failed = await sandbox.crm(['migrate', '--from', 'crm.db', '--to', address]);
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining(`${address} has no space left`),
    ]);
    expect(failed.stderr).toEndWith('Run the same command again to continue.\n');
    await server.sql('drop trigger fail on pipelines', name);
    await closed();
    const again = await sandbox.crm(['migrate', '--from', 'crm.db', '--to', address]);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('Continuing an interrupted copy'),
    ]);
  }, 300_000);

  test('the command fills nothing that another crm is at, and tells where one is at the source', async () => {
    const [address, other] = [await newDatabase(), await newDatabase()];
    const migrate = (from: string, to: string) => sandbox.crm(['migrate', '--from', from, '--to', to]);
    const idle = await sandbox.serve(['--db', address]);
    const refused = await migrate('crm.db', address);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `crm: Another crm process uses the database ${address}, from 127.0.0.1.\nNext: ` +
        'Stop each "crm serve" and any other command that uses it, then run the same command again.\n',
    ]);
    await idle.stop();
    await closed();
    expect(await migrate('crm.db', address)).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('Another crm'),
    });
    const analyzed = `select count(*)::int as n from pg_stat_user_tables where last_analyze is null`;
    expect(await server.sql(analyzed, new URL(address).pathname.slice(1))).toEqual([{ n: 0 }] as never);
    const busy = await sandbox.serve(['--db', address]);
    const copied = await migrate(address, other);
    expect([copied.code, copied.stderr]).toEqual([
      0,
      expect.stringMatching(/uses the database \S+, from 127\.0\.0\.1\. The copy will not contain/),
    ]);
    await busy.stop();
  }, 300_000);

  describe('an organization', () => {
    const services: Record<string, ImportService> = {};
    beforeAll(async () => {
      services.file = await startImportService({ db: join(folder, 'exported.db') });
      services.server = await startImportService({ db: await newDatabase() });
      for (const service of Object.values(services)) await fillOrganization(service.harness);
    }, 300_000);
    afterAll(async () => {
      for (const service of Object.values(services)) await service.close();
    });

    test.each([
      ['file', 'server'],
      ['server', 'file'],
    ])(
      'that is exported from a %s arrives in a %s as it was',
      async (from, to) => {
        const [source, target] = [services[from] as ImportService, services[to] as ImportService];
        const long = clientOf(source.harness);
        await long.create('contacts', { first_name: 'Long', phone: '☎'.repeat(1_000), remarks: 'é\n"\\' });
        await long.create('deals', { name: 'Value', estimated_value: 0.1, currency: 'EUR' });
        const exported = await source.crm(['export', 'all', '--out', 'backup']);
        expect([exported.exitCode, exported.stderr]).toEqual([0, expect.any(String)]);
        const { key } = await target.harness.issue({ orgNumber: target.harness.otherOrgNumber });
        const imported = await target.crm(['import', 'all', join(source.folder, 'backup')], { key });
        expect([imported.exitCode, imported.stderr]).toEqual([0, expect.any(String)]);
        const [sent, arrived] = [source.harness, target.harness];
        expect(await contentOf(arrived, key, true)).toEqual(await contentOf(sent, sent.v2, false));
      },
      300_000,
    );
  });
});
