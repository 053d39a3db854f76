// Cells that are longer than any name: they reject their rows alone, and messages show how they begin.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { clip } from '../../db/model/text.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

describe('a name that is too long', () => {
  test.each([
    ['Company', '公'.repeat(2_000)],
    ['Company', 'x'.repeat(20_000)],
    ['Contact', `${'x'.repeat(20_000)}@x.test`],
    ['Stage', 'x ('.repeat(7_000)],
    ['Pipeline', 'x ('.repeat(7_000)],
  ])('of a %s rejects its row alone', async (header, cell) => {
    const name = `long-${header}-${cell.length}.csv`;
    await service.write(name, `Title,${header}\nLong,"${cell}"\nOther,\n`);
    const run = await service.crm(['import', 'deals', name]);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('Imported 1 of 2 deals: 1 created, 1 rejected');
    expect(run.stderr).toContain(`${header.toLowerCase()}: must have at most 1000 characters`);
    expect(run.stderr.length).toBeLessThan(1_000);
  });

  test('as many characters as a name can have are looked up, whatever their bytes', async () => {
    await service.write('whole.csv', `Title,Company\nWhole,${'😀'.repeat(1_000)}\n`);
    const run = await service.crm(['import', 'deals', 'whole.csv', '--create-missing']);
    expect(run.stderr).toContain('1 missing company created');
  });

  test('for a proxy in front of the server rejects its row alone', async () => {
    service.between = async ({ path }, answer) => {
      const reply = await answer();
      const isUnfound = path === '/api/v2/companies' && (await reply.clone().text()).includes('"data":[]');
      return isUnfound ? new Response(null, { status: 414 }) : reply;
    };
    // More companies than an import reads in advance.
    const firms = Array.from({ length: 1_001 }, (_, at) => `{"name":"Firm ${at}"}\n`);
    await service.write('firms.ndjson', firms.join(''));
    await service.crm(['import', 'companies', 'firms.ndjson']);
    await service.write('proxied.csv', 'Title,Company\nLong,Proxied\nOther,Firm 7\n');
    const run = await service.crm(['import', 'deals', 'proxied.csv']);
    service.between = null;
    expect(run.stderr).toContain('Imported 1 of 2 deals: 1 created, 1 rejected');
    expect(run.stderr).toContain('line 2: company: is too long for a request to the server');
  });

  test('in a filter is a usage error', async () => {
    const long = 'x'.repeat(20_000);
    for (const [resource, filter] of [
      ['deals', 'company'],
      ['deals', 'stage'],
      ['companies', 'name'],
    ] as const) {
      const run = await service.crm(['list', resource, '--filter', `${filter}=${long}`]);
      expect(run).toMatchObject({
        exitCode: 2,
        stderr: `crm: --filter ${filter}: the value must have at most 1000 characters.\nNext: Use a shorter value.\n`,
      });
    }
  });

  test('in a field is told at the field', async () => {
    const run = await service.crm(['create', 'deals', 'name=x', `company=${'x'.repeat(20_000)}`]);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toStartWith('crm: company: must have at most 1000 characters.\n');
  });
});

test('a cell that is too long to be shown is cut, and no --map-value is advised for it', async () => {
  const stage = 'x ('.repeat(300);
  await service.write('cut.csv', `Title,Stage,Close Date\nLong,"${stage}",${'7 '.repeat(5_000)}\n`);
  const run = await service.crm(['import', 'deals', 'cut.csv']);
  expect(run.stderr).toContain(`does not have a stage "${'x ('.repeat(40).slice(0, -1)}…"`);
  expect(run.stderr).not.toContain('--map-value Stage');
  expect(run.stderr.length).toBeLessThan(2_000);
  const errors = await service.read('cut.csv.errors.csv');
  expect(errors).toContain(stage);
  expect(errors.length).toBeLessThan(stage.length + 12_000);
});

test('a text is cut between characters', () => {
  expect([clip('abc', 3), clip('abcd', 3), clip('a😀😀', 3), clip('a😀😀d', 3)]).toEqual([
    'abc',
    'ab…',
    'a😀😀',
    'a😀…',
  ]);
});
