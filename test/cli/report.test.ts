// `crm report`: sums of deals by stage, counts of interactions over time, and the tables with bars.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { barOf, reportTable } from '../../cli/report/bars.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const DAY_MS = 86_400_000;

describe('a table with bars', () => {
  const lines = [
    { cells: ['Prospecting', '1,200'], part: 1 },
    { cells: ['Won\u001b[31m', '7'], part: 0.5 },
    { cells: ['Total', '1,207'], part: null },
  ];

  test('has names to the left, numbers to the right, and bars in what is left', () => {
    const text = reportTable(['STAGE', 'DEALS'], 1, lines, 35);
    expect(text).not.toContain('\u001b');
    const [header, first, second, total] = text.split('\n');
    expect(header).toBe('STAGE        DEALS');
    expect(first).toBe(`Prospecting  1,200  ${'█'.repeat(35 - 20)}`);
    expect(second).toEndWith(' ███████▌');
    expect(total).toBe('Total        1,207');
    expect(text.split('\n').every((line) => Bun.stringWidth(line) <= 35)).toBe(true);
  });

  test('has none where they would be too short, and one for every small value', () => {
    expect(reportTable(['STAGE', 'DEALS'], 1, lines, 22)).not.toContain('█');
    expect([barOf(0.0001, 40), barOf(0, 40), barOf(1, 4)]).toEqual(['▏', '', '████']);
  });
});

describe('on a server', () => {
  const sandbox = new Sandbox();
  const report = (...words: string[]) => sandbox.crm(['report', ...words]);
  beforeAll(async () => {
    await sandbox.serveOrganization();
    const [pipeline] = ndjson(await sandbox.ok(['list', 'pipelines'])) as {
      id: string;
      stages: { id: string; name: string; type: string; probability: number | null }[];
    }[];
    const stages = (pipeline?.stages ?? []).map(({ id, name, type }, index) => ({
      ...{ id, name, type },
      probability: index === 1 ? 0.25 : null,
    }));
    await sandbox.ok(['api', 'PATCH', `pipelines/${pipeline?.id}`, '-d', JSON.stringify({ stages })]);
    const [first, second] = stages;
    const deals = [
      ...Array.from({ length: 205 }, () => ({
        name: 'D',
        stage_id: first?.id,
        estimated_value: 0.1,
        currency: 'GBP',
      })),
      { name: 'E', stage_id: second?.id, estimated_value: 1_000, currency: 'USD' },
      { name: 'F', stage_id: second?.id },
    ];
    for (let from = 0; from < deals.length; from += 100)
      await sandbox.ok(['api', 'POST', 'deals/batch', '-d', JSON.stringify(deals.slice(from, from + 100))]);
    const at = (days: number) => Date.now() - days * DAY_MS;
    const mail = { direction: 'INBOUND', title: 'T', main_contact_email: 'ada@example.com' };
    const interactions = [
      { ...mail, type: 'EMAIL', interaction_date: at(0) },
      { ...mail, type: 'EMAIL', title: 'U', interaction_date: at(0) },
      { ...mail, type: 'MEMO', interaction_date: at(21) },
      { ...mail, type: 'MEMO', interaction_date: at(400) },
    ];
    await sandbox.ok(['api', 'POST', 'interactions/batch', '-d', JSON.stringify(interactions)]);
  });
  afterAll(() => sandbox[Symbol.dispose]());

  test('pipeline sums up pages of deals by stage and currency', async () => {
    const { code, stdout } = await report('pipeline');
    expect(code).toBe(0);
    const rows = ndjson(stdout);
    expect(rows[0]).toMatchObject({ pipeline: 'Sales', deals: 205, currency: 'GBP', value: 20.5 });
    expect(rows.slice(1, 3)).toMatchObject([
      { currency: null, deals: 1, value: 0 },
      { currency: 'USD', deals: 1, value: 1_000 },
    ]);
    expect(rows[2]).toMatchObject({ probability: 0.25, weighted_value: 250 });
    expect(rows[0]?.weighted_value).toBeNull();
    expect(rows.slice(3).every(({ deals }) => deals === 0)).toBe(true);
    const table = (await report('pipeline', '-o', 'table')).stdout;
    expect(table).toMatch(/^STAGE +DEALS +CURRENCY +VALUE +WEIGHTED\n/);
    expect(table).toMatch(/^Total +205 +GBP +21$/m);
    expect(table).toContain('█');
    const some = await report('pipeline', '--where', 'currency = USD', '-o', 'csv');
    expect(some.stdout).toContain(',USD,1,1000,');
    expect(some.stdout).not.toContain('GBP');
    expect((await report('pipeline', '--filter', 'status=lost', '-o', 'table')).stderr).toBe('No deals.\n');
    expect((await report('pipeline', '--filter', 'stat=lost')).code).toBe(2);
  });

  test('activity counts by type and period, with the empty ones in a table', async () => {
    const recent = ndjson((await report('activity')).stdout);
    expect(recent.map(({ type, interactions }) => [type, interactions])).toEqual([
      ['MEMO', 1],
      ['EMAIL', 2],
    ]);
    const table = (await report('activity', '--since', '27d', '--by', 'week', '-o', 'table')).stdout;
    const [header, ...lines] = table.trimEnd().split('\n');
    expect(header).toMatch(/^WEEK +EMAIL +MEMO +TOTAL$/);
    expect(lines.length).toBeWithin(4, 6);
    expect(lines.at(-1)).toMatch(/ 2 +2 +█{40}$/);
    const memos = ndjson(
      (await report('activity', '--filter', 'type=MEMO', '--since', '500d', '--by', 'month')).stdout,
    );
    expect(memos.map(({ interactions }) => interactions)).toEqual([1, 1]);
    expect(String(memos[0]?.period)).toEndWith('-01');
    expect((await report('activity', '--since', '2000-01-01', '--by', 'day')).code).toBe(2);
    expect((await report('activity', '--by', 'year')).code).toBe(2);
  });
});
