// Real input: the sample data beside the project comes in whole and out again the same.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CsvScanner } from '../../cli/input/csv-reader.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';

const DATA = join(import.meta.dir, '../../../shared/data');
const isThere = existsSync(DATA);
if (!isThere) console.warn(`skipped: the sample data is not at ${DATA}`);

type Row = Record<string, string>;

function parse(text: string): Row[] {
  const scanner = new CsvScanner(',', 'sample');
  const [header, ...records] = [...scanner.push(text), ...scanner.end()];
  const titles = header?.cells ?? [];
  return records.map(({ cells }) =>
    Object.fromEntries(titles.map((title, index) => [title, cells[index] ?? ''])),
  );
}

describe.skipIf(!isThere)('the sample data', () => {
  let service: ImportService;
  let accounts: Row[];
  let opportunities: Row[];

  beforeAll(async () => {
    service = await startImportService();
    const [first, second] = ['accounts.csv', 'sales_pipeline.csv'].map((name) =>
      Bun.file(join(DATA, name)).text(),
    );
    const texts = [(await first) ?? '', (await second) ?? ''] as const;
    await service.write('accounts.csv', texts[0]);
    await service.write('sales.csv', texts[1]);
    [accounts, opportunities] = [parse(texts[0]), parse(texts[1])];
  });
  afterAll(() => service?.close());

  test('unknown columns are refused before anything is sent', async () => {
    const run = await service.crm(['import', 'companies', 'accounts.csv']);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('"sector", "year_established", "subsidiary_of"');
    expect(service.batches).toEqual([]);
  });

  test('accounts.csv becomes 85 companies and comes back out of export the same', async () => {
    const args = [
      'import',
      'companies',
      'accounts.csv',
      '--map',
      'revenue=estimated_revenue*1000000',
      '--custom',
    ];
    expect((await service.crm(args)).exitCode).toBe(0);
    const exported = await service.crm(['export', 'companies', '--format', 'csv']);
    const companies = parse(exported.stdout).map((row) => ({
      account: row.name,
      sector: row['custom.sector'],
      year_established: row['custom.year_established'],
      revenue: row.estimated_revenue,
      employees: row.employee_count,
      office_location: row.country,
      subsidiary_of: row['custom.subsidiary_of'],
    }));
    const inMillions = accounts.map((row) => ({
      ...row,
      revenue: String(Math.round(Number(row.revenue) * 1e6)),
    }));
    const byName = (rows: Json[]) => rows.sort((one, other) => (one.account < other.account ? -1 : 1));
    expect(companies.length).toBe(85);
    expect(byName(companies)).toEqual(byName(inMillions));
  });

  test('without a word about Engaging, a dry run names the stages and would reject exactly those rows', async () => {
    const args = [
      'import',
      'deals',
      'sales.csv',
      '--custom',
      '--map',
      'opportunity_id=name',
      '--dry-run',
      '-o',
      'json',
    ];
    const run = await service.crm(args);
    const engaging = opportunities.filter(({ deal_stage: stage }) => stage === 'Engaging').length;
    expect(run.exitCode).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({
      rows: 8800,
      rejected: engaging,
      created: 8800 - engaging,
    });
    expect(run.stderr).toContain('does not have a stage "Engaging"; its stages are Prospecting, Discovery');
  }, 900_000);

  test('sales_pipeline.csv becomes 8,800 deals, each with its company, stage, date, value and the rest', async () => {
    const args = ['import', 'deals', 'sales.csv', '--custom', '--map', 'opportunity_id=name'];
    const run = await service.crm([...args, '--map-value', 'deal_stage:Engaging=Discovery', '-o', 'json']);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ created: 8800, rejected: 0, companies_created: 0 });
    expect(run.stderr).toContain('close_date     → estimated_close_date, read as month/day/year');
    const companies = new Map((await service.all('companies')).map(({ id, name }) => [id, name]));
    const [{ stages }] = (await service.harness.send('GET', '/api/v2/pipelines')).body.data;
    const stageNames = new Map<string, string>(stages.map(({ id, name }: Json) => [id, name]));
    const deals = new Map((await service.all('deals')).map((deal) => [deal.name, deal]));
    const stageOf: Record<string, string> = { Won: 'Closed Won', Lost: 'Closed Lost', Engaging: 'Discovery' };
    const isoDay = (text: string): string => {
      const [month = '', day = '', year = ''] = text.split('/');
      return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    };
    for (const row of opportunities) {
      const deal = deals.get(row.opportunity_id);
      const {
        account,
        deal_stage: stage = '',
        close_value: value,
        close_date: date,
        sales_agent,
        product,
      } = row;
      expect([
        companies.get(deal.company_id) ?? '',
        stageNames.get(deal.stage_id),
        deal.estimated_value,
        deal.estimated_close_date,
        deal.custom,
      ]).toEqual([
        account ?? '',
        stageOf[stage] ?? stage,
        value === '' ? null : Number(value),
        date === '' ? null : isoDay(date ?? ''),
        { sales_agent, product, ...(row.engage_date !== '' && { engage_date: row.engage_date }) },
      ]);
    }
    expect(deals.size).toBe(8800);
    expect(opportunities.filter(({ account }) => account === '').length).toBe(1425);
  }, 900_000);

  test('where the companies are missing, their rows are rejected, or the companies are made', async () => {
    const other = { key: (await service.harness.issue({ orgNumber: service.harness.otherOrgNumber })).key };
    const args = ['import', 'deals', 'sales.csv', '--custom', '--map', 'opportunity_id=name'];
    const mapped = [...args, '--map-value', 'deal_stage:Engaging=Discovery', '-o', 'json'];
    const strict = await service.crm(mapped, other);
    expect(strict.exitCode).toBe(3);
    expect(JSON.parse(strict.stdout)).toMatchObject({ created: 1425, rejected: 7375 });
    const [, first] = (await service.read('sales.csv.errors.csv')).split('\n');
    expect(first).toStartWith(
      '2,RESOURCE_NOT_FOUND,company,"no company has the name ""Cancity""; create it with --create-missing",1C1I7A6R,',
    );
    const retry = mapped.map((word) => (word === 'sales.csv' ? 'sales.csv.errors.csv' : word));
    const lenient = await service.crm([...retry, '--create-missing'], other);
    expect(JSON.parse(lenient.stdout)).toMatchObject({ created: 7375, rejected: 0, companies_created: 85 });
    expect((await service.all('deals', other.key)).length).toBe(8800);
    expect((await service.all('companies', other.key)).length).toBe(85);
  }, 900_000);
});
