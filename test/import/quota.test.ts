// `crm import` into an organization that has no more room: it stops, says so, and goes on once there is.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { expectedNames, namesOf, tasks } from '../fixtures/import/tasks.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());
beforeEach(() => setQuota(service.harness, {}));

/** Lets the organization have so many records more. */
async function allow(more: number): Promise<void> {
  const { records } = await recordTotalsOf(service.harness);
  await setQuota(service.harness, { records: records + more });
}

describe('where the quota is used up', () => {
  const args = (file: string, ...more: string[]) => [
    ...['import', 'tasks', file, '--batch-size', '10', '--concurrency', '3'],
    ...more,
  ];

  test('it stops with exit code 4 and no errors file, and sends just the rest once there is room', async () => {
    await service.write('full.csv', tasks('full', 95));
    await allow(37);
    const first = await service.crm(args('full.csv'));
    expect(first.exitCode).toBe(4);
    expect(first.stderr).toContain('Stopped after importing 37 rows. The organization has');
    expect(first.stderr).toContain('records that its quota allows');
    expect(first.stderr).toContain('crm orgs quota ORG');
    expect(first.stderr).toContain('Then run the same command again');
    expect((await namesOf(service, 'full')).length).toBe(37);
    expect(await Bun.file(join(service.folder, 'full.csv.errors.csv')).exists()).toBe(false);

    // Nothing has changed: it stops again, and loses nothing by that.
    expect((await service.crm(args('full.csv'))).exitCode).toBe(4);
    await allow(20);
    expect((await service.crm(args('full.csv'))).exitCode).toBe(4);
    expect((await namesOf(service, 'full')).length).toBe(57);
    await allow(38);
    const last = await service.crm([...args('full.csv'), '-o', 'json']);
    expect(last.exitCode).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({ status: 'finished', created: 38, rejected: 0 });
    expect(await namesOf(service, 'full')).toEqual(expectedNames('full', 95));
    expect((await service.crm(args('full.csv'))).stderr).toContain(
      'was already imported (95 created, 0 rejected)',
    );
    expect(await countedIn(service.harness)).toEqual(await recordTotalsOf(service.harness));
  });

  test('rows that are rejected stay so, each once in the errors file', async () => {
    const rows = tasks('mixed', 40).replace('mixed 0003', `mixed ${'x'.repeat(1_001)}`);
    await service.write('mixed.csv', rows);
    await allow(12);
    expect((await service.crm(args('mixed.csv'))).exitCode).toBe(4);
    await setQuota(service.harness, {});
    const last = await service.crm(args('mixed.csv'));
    expect(last.exitCode).toBe(3);
    expect((await namesOf(service, 'mixed')).length).toBe(39);
    const errors = await service.read('mixed.csv.errors.csv');
    expect(errors.trimEnd().split('\n').length).toBe(2);
    expect(errors).toContain('VALIDATION_OUT_OF_RANGE');
  });

  test('it is known in a batch of so many faults that the server lists no more of them', async () => {
    const absent = Array.from({ length: 4 }, () => Bun.randomUUIDv7()).join(',');
    const row = (index: number, ids: string) => `many ${String(index).padStart(4, '0')},${ids}\n`;
    const rows = Array.from({ length: 80 }, (_, index) => row(index, index < 60 ? absent : ',,,'));
    const header = 'name,company_id,deal_id,person_id,main_assignee_id\n';
    await service.write('many.csv', header + rows.join(''));
    await allow(5);
    const many = ['import', 'tasks', 'many.csv', '--batch-size', '100'];
    const first = await service.crm(many);
    expect(first.exitCode).toBe(4);
    expect(first.stderr).toContain('Stopped after importing 5 rows. The organization has');
    expect(first.stderr).toContain('crm orgs quota ORG');
    await setQuota(service.harness, {});
    expect((await service.crm(many)).exitCode).toBe(3);
    expect((await namesOf(service, 'many')).length).toBe(20);
    const errors = await service.read('many.csv.errors.csv');
    expect(errors.trimEnd().split('\n').length).toBe(61);
  });

  test('killed at that moment, it still brings every row in once', async () => {
    await service.write('cut.csv', tasks('cut', 60));
    await allow(25);
    await service.killed(args('cut.csv'), 3);
    expect((await service.crm(args('cut.csv'))).exitCode).toBe(4);
    expect((await namesOf(service, 'cut')).length).toBe(25);
    await allow(35);
    expect((await service.crm(args('cut.csv'))).exitCode).toBe(0);
    expect(await namesOf(service, 'cut')).toEqual(expectedNames('cut', 60));
  });

  test('it says so where a missing company has no room, or a record that grows', async () => {
    await service.write('people.csv', 'email,company\na@x.test,Acme\n');
    await allow(0);
    const missing = ['import', 'contacts', 'people.csv', '--create-missing'];
    const refused = await service.crm(missing);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('crm orgs quota ORG');
    await setQuota(service.harness, {});
    expect((await service.crm(missing)).exitCode).toBe(0);
    await service.write('longer.csv', `email,remarks\na@x.test,${'x'.repeat(100)}\n`);
    const { bytes } = await recordTotalsOf(service.harness);
    await setQuota(service.harness, { bytes: bytes + 50 });
    const update = ['import', 'contacts', 'longer.csv', '--on-duplicate', 'update'];
    const grown = await service.crm(update);
    expect(grown.exitCode).toBe(4);
    expect(grown.stderr).toContain('and this request needs 100 more');
    await setQuota(service.harness, {});
    expect((await service.crm(update)).exitCode).toBe(0);
    const contacts = await service.all('contacts');
    expect(contacts.map(({ email, remarks }) => [email, remarks.length])).toEqual([['a@x.test', 100]]);
  });
});
