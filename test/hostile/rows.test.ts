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
}, 60_000);
