// The tables of the database and the declarations: what stands beside a record is declared, and goes with it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TableMetadata } from 'kysely';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import type { RecordKey } from '../../db/engine/schema.ts';
import type { SideTable } from '../../db/model/resource.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { deleteRecord } from '../../db/records/deletion.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { insertTranscribed } from '../support/read-only.ts';
import { clientOf } from '../support/v2.ts';

// The external IDs are of records of several kinds.
const OF_ORGANIZATIONS = [
  'api_key_secrets',
  'api_keys',
  'audit_log',
  'backfills',
  'changes',
  'external_ids',
  'idempotency_keys',
  'org_clocks',
  'organizations',
  'search_pending',
  'search_rows',
  'search_runs',
  // SQLite has one server, which counts in memory.
  ...(isPostgres ? ['minute_counts'] : []),
  'settings',
  'timeline_entries',
  'users',
  'webhook_deliveries',
  'webhook_passes',
  'webhook_waiting',
  'webhooks',
];
const BESIDE: SideTable[] = RESOURCES.flatMap(({ links, sideTables }) => [
  ...Object.values(links),
  ...sideTables,
]);

let harness: Harness;
let tables: TableMetadata[];
beforeAll(async () => {
  harness = await startHarness();
  tables = await harness.store.read.introspection.getTables();
});
afterAll(() => harness.close());

const columnsOf = (table: string): string[] =>
  tables.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];

test('every table is one of records, one declared beside them, or one of organizations', () => {
  const ours = tables.map(({ name }) => name).filter((name) => !/^(kysely|sqlite)_/.test(name));
  const declared = [...RESOURCES, ...BESIDE.map(({ table: name }) => ({ name }))].map(({ name }) => name);
  expect(ours.toSorted()).toEqual([...declared, ...OF_ORGANIZATIONS].toSorted());
});

for (const { table, parentColumn, childColumn } of BESIDE) {
  test(`${table} has the columns that are declared`, () => {
    expect(columnsOf(table)).toEqual(expect.arrayContaining(['org_id', parentColumn, childColumn]));
  });
}

const rowsWith = async (table: string, column: string, id: string): Promise<number> => {
  const rows = harness.store.read.selectFrom(table as 'users').selectAll();
  return (await rows.where(column as 'id', '=', id).execute()).length;
};

const remove = (name: string, key: RecordKey) =>
  harness.store.write('accounts', (trx) => {
    const resource = RESOURCES.find((one) => one.name === name);
    return resource === undefined
      ? Promise.reject()
      : deleteRecord(actingAs(trx, OPERATOR), resource, key, 0);
  });

test('a transcript goes with its recording, and an interaction with those involved in it', async () => {
  const api = clientOf(harness);
  const { orgNumber } = harness;
  const recording = await insertTranscribed(harness);
  const company = await api.create('companies');
  const contact = await api.create('contacts', { first_name: 'A', company_id: company.id });
  const interaction = await api.create('interactions', {
    type: 'EMAIL',
    direction: 'INBOUND',
    title: 'T',
    main_contact: contact.id,
  });
  expect(await rowsWith('interaction_companies', 'interaction_id', interaction.id)).toBe(1);
  await remove('recordings', { orgNumber, id: recording });
  await remove('interactions', { orgNumber, id: interaction.id });
  expect(await rowsWith('recording_transcripts', 'recording_id', recording)).toBe(0);
  for (const table of ['interaction_contacts', 'interaction_companies'])
    expect(await rowsWith(table, 'interaction_id', interaction.id)).toBe(0);
});

test('the external IDs of a record go with it, and no others', async () => {
  const api = clientOf(harness);
  const { orgNumber } = harness;
  const [deal, other] = [await api.create('deals'), await api.create('deals')];
  const row = { org_id: orgNumber, resource: 'deals', record_id: deal.id, created_at: 0 };
  const rows = [
    { ...row, source: 'a', external_id: '1' },
    { ...row, source: 'b', external_id: '1' },
    { ...row, source: 'a', external_id: '2', record_id: other.id },
    // Of a record of another kind, if it had the same ID.
    { ...row, source: 'a', external_id: '1', resource: 'tasks' },
  ];
  await harness.store.write(orgNumber, (trx) => trx.insertInto('external_ids').values(rows).execute());
  await remove('deals', { orgNumber, id: deal.id });
  const left = harness.store.read.selectFrom('external_ids').select(['resource', 'external_id']);
  expect(await left.orderBy('resource').execute()).toEqual([
    { resource: 'deals', external_id: '2' },
    { resource: 'tasks', external_id: '1' },
  ]);
});

test('the addresses of a contact follow its fields, and go with it', async () => {
  const api = clientOf(harness);
  const { orgNumber } = harness;
  const keysOf = async (id: string) => {
    const rows = harness.store.read.selectFrom('contact_emails').select('email_key').orderBy('email_key');
    return (await rows.where('contact_id', '=', id).execute()).map((row) => row.email_key);
  };
  const alt_emails = ['B@x.example', 'c@x.example'];
  const { id } = await api.create('contacts', { email: 'A@x.example', alt_emails });
  expect(await keysOf(id)).toEqual(['a@x.example', 'b@x.example', 'c@x.example']);
  await api.update('contacts', id, { email: 'b@x.example', alt_emails: ['d@x.example', 'C@x.example'] });
  expect(await keysOf(id)).toEqual(['b@x.example', 'c@x.example', 'd@x.example']);
  await remove('contacts', { orgNumber, id });
  expect(await keysOf(id)).toEqual([]);
});
