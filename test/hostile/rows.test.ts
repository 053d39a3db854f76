// Rows of an import that are made to cost time: many columns of one field, and cells that hold many values or none.
import { expect, test } from 'bun:test';
import type { Client } from '../../cli/api/client.ts';
import { describePlan } from '../../cli/import/plan/describe.ts';
import type { PreparedRow, SourceRow } from '../../cli/import/row.ts';
import { buildRow } from '../../cli/import/rows/build-row.ts';
import { Lookups } from '../../cli/import/rows/lookups.ts';
import { planFor } from '../fixtures/import/plan.ts';
import { growthOf } from '../support/growth.ts';

const PIPELINES = [{ id: 'p', name: 'Sales', stages: [{ id: 's', name: 'Discovery', type: 'open' }] }];

/** The row built, with a service that has a pipeline and no other record. */
function build(resource: string, cells: Record<string, string>, options = {}): Promise<PreparedRow> {
  const headers = Object.keys(cells);
  const row: SourceRow = { line: 2, entries: Object.entries(cells), original: [], fault: null };
  const client = {
    request: async (method: string, path: string) => ({
      ...{ method, path, status: 200, headers: new Headers(), text: '' },
      body: {
        ...{ object: 'list', data: path.endsWith('/pipelines') ? PIPELINES : [] },
        page_info: { has_next_page: false, end_cursor: null },
      },
    }),
  } as unknown as Client;
  const lookups = new Lookups(client, {
    ...{ createMissing: false, createStages: false, keyPrefix: 'k', isDryRun: true },
  });
  return buildRow(row, planFor(resource, headers, options), lookups);
}

function wideRow(columns: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: columns }, (_, at) => [at ? `Name (${at + 1})` : 'Name', 'x']),
  );
}

test('many columns of one field are told and read in linear time', async () => {
  const work = async (columns: number) => {
    const cells = wideRow(columns);
    describePlan(planFor('contacts', Object.keys(cells), { custom: true }));
    await build('contacts', cells, { custom: true });
  };
  expect(await growthOf(work, { from: 512, to: 8_192, msMax: 2_000 })).toMatchObject({ isTooMuch: false });
}, 300_000);

const KIB = 1024;

test.each([
  ['contacts', 'Phone', '+1 ::: '],
  ['contacts', 'Email', 'a@x.test ::: '],
  ['contacts', 'Other Emails', 'a@x.test; '],
  ['contacts', 'Company', 'x ('],
  ['contacts', 'Owner', 'x '],
  ['deals', 'Stage', 'x ('],
  ['deals', 'Stage', 'Discovery '],
  ['deals', 'Pipeline', 'x ('],
  ['deals', 'Company', 'x.'],
  ['deals', 'Contact', 'Ada <a@x.test>, '],
  ['deals', 'Value', '1,'],
  ['tasks', 'Priority', 'x ('],
])(
  '%s: a long cell %s of %j is read in linear time, and told in a few words',
  async (resource, header, unit) => {
    const built = new Map<number, PreparedRow>();
    const work = async (size: number) => {
      const cells = { Title: 'x', 'First Name': 'x', [header]: unit.repeat(size / unit.length) };
      built.set(
        size,
        await build(resource, cells, { custom: resource !== 'tasks', ignoreUnknown: resource === 'tasks' }),
      );
    };
    // Megabytes of them would be a second.
    const limits = { from: 4 * KIB, to: 1024 * KIB, msMax: 1_000 };
    expect(await growthOf(work, limits)).toMatchObject({ isTooMuch: false });
    for (const one of built.values())
      if ('rejection' in one) expect(one.rejection.message.length).toBeLessThan(4 * KIB);
  },
  300_000,
);
