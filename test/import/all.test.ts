// `export all`, then `import all` into another organization: equal content under new ids.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeManifest } from '../../cli/export/manifest.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';

let service: ImportService;
let otherKey: string;

beforeAll(async () => {
  service = await startImportService();
  otherKey = (await service.harness.issue({ orgId: service.harness.otherOrgId })).key;
  await fill();
});
afterAll(() => service.close());

async function create(resource: string, body: Json): Promise<Json> {
  const reply = await service.harness.send('POST', `/api/v2/${resource}`, { body });
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  return reply.body.data;
}

/** Something of everything: links, trees, stages of every kind, an owner, custom values of every type. */
async function fill(): Promise<void> {
  const { send, alice, clock } = service.harness;
  const acme = await create('companies', {
    name: 'Acme',
    domain: 'acme.test',
    custom: { a: 1, b: '1', c: true },
  });
  const ada = await create('contacts', {
    email: 'ada@acme.test',
    company_id: acme.id,
    owner_id: alice,
    title: '',
  });
  const bob = await create('contacts', { first_name: 'Bob', alt_emails: ['b@acme.test'] });
  const [sales] = (await send('GET', '/api/v2/pipelines')).body.data;
  const stages = [{ ...sales.stages[0] }, { name: 'Extra', probability: 0.5 }, ...sales.stages.slice(1)];
  const body = { stages: stages.map(({ position: _, ...stage }) => stage) };
  const changed = (await send('PATCH', `/api/v2/pipelines/${sales.id}`, { body })).body.data;
  const partners = await create('pipelines', {
    name: 'Partners',
    stages: [{ name: 'New' }, { name: 'Won', type: 'won' }],
  });
  const deal = await create('deals', {
    name: 'First',
    company_id: acme.id,
    point_of_contact_id: ada.id,
    stage_id: changed.stages[1].id,
  });
  await create('deals', { name: 'Second', pipeline_id: partners.id, stage_id: partners.stages[1].id });
  await create('tasks', {
    name: 'Call',
    deal_id: deal.id,
    person_id: ada.id,
    due_date: 5,
    main_assignee_id: alice,
  });
  const child = await create('notes', { title: 'Child' });
  const root = await create('notes', { title: 'Root', content: 'x\ny' });
  const leaf = await create('notes', { title: 'Leaf', parent_id: child.id });
  // The parent is younger than its child: the order of creation is not that of the tree.
  await send('PATCH', `/api/v2/notes/${child.id}`, { body: { parent_id: root.id } });
  const segment = await create('segments', { name: 'Firms', record_type: 'company' });
  clock.now += 1_000;
  await create('interactions', {
    type: 'EMAIL',
    direction: 'OUTBOUND',
    title: 'Hi',
    main_contact: ada.id,
    interaction_date: 7,
  });
  for (const contact of [bob, ada]) {
    clock.now += 1_000;
    await send('POST', `/api/v2/deals/${deal.id}/contacts`, {
      body: { contact_id: contact.id, supervisor: bob.id },
    });
  }
  await send('POST', `/api/v2/deals/${deal.id}/companies`, { body: { company_id: acme.id } });
  await send('POST', `/api/v2/notes/${leaf.id}/records`, {
    body: { record_type: 'deal', record_id: deal.id },
  });
  await send('POST', `/api/v2/segments/${segment.id}/members`, { body: { record_id: acme.id } });
  await insertReadOnly(service.harness, 'meetings', { title: 'Kick-off', external_id: 'm1' });
}

const RESOURCE_NAMES = [
  'companies',
  'contacts',
  'pipelines',
  'deals',
  'tasks',
  'notes',
  'segments',
  'interactions',
];

const GIVEN_ANEW = [
  'created_by',
  'created_at',
  'updated_at',
  'stage_changed_at',
  'closed_at',
  'done_at',
  'linked_at',
];

/** Everything of an organization, with names in place of ids. */
async function contentOf(key: string, withOwners: boolean): Promise<Json> {
  const names = new Map<string, string>();
  const content: Json = {};
  for (const resource of RESOURCE_NAMES) {
    const records = await service.all(resource, key);
    for (const record of records) {
      names.set(record.id, `${resource} ${record.name ?? record.title ?? record.email ?? record.first_name}`);
      for (const stage of record.stages ?? []) names.set(stage.id, `${record.name}/${stage.name}`);
    }
    content[resource] = records;
  }
  for (const resource of ['contacts', 'companies']) {
    for (const record of content[resource])
      names.set(record.id, `${resource} ${record.email ?? record.name ?? record.first_name}`);
  }
  const links: Record<string, string[]> = {
    deals: ['contacts', 'companies'],
    notes: ['records'],
    segments: ['members'],
  };
  for (const [resource, paths] of Object.entries(links)) {
    for (const record of content[resource]) {
      for (const path of paths) {
        const { body } = await service.harness.send('GET', `/api/v2/${resource}/${record.id}/${path}`, {
          key,
        });
        record[path] = body.data.map((item: Json) => [
          item.record_id ?? item.id,
          item.supervisor,
          item.record_type,
        ]);
      }
    }
  }
  const plain = JSON.stringify(content, (field, value: Json) => {
    if (GIVEN_ANEW.includes(field)) return undefined;
    if (field === 'last_interaction_at') return undefined;
    if (!withOwners && ['owner_id', 'main_assignee_id'].includes(field)) return null;
    return names.get(value) ?? value;
  });
  const parsed = JSON.parse(plain);
  for (const list of Object.values(parsed) as Json[])
    list.sort((one: Json, other: Json) => (one.id < other.id ? -1 : 1));
  return parsed;
}

test('everything arrives, tied together as it was; users and read-only records stay behind', async () => {
  expect((await service.crm(['export', 'all', '--out', 'backup'])).exitCode).toBe(0);
  const run = await service.crm(['import', 'all', 'backup', '-o', 'json'], { key: otherKey });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('meetings: skipped')]);
  expect(run.stderr).toContain('2 references left out');
  const summary = JSON.parse(run.stdout);
  // A tree of notes takes a run a level, and is told of as one all the same.
  expect(run.stderr.match(/^notes: .*/gm)).toEqual(['notes: 3 created']);
  expect(run.stderr.match(/^Importing notes: .*/gm)).toEqual([expect.stringContaining('3 of 3 rows (100%)')]);
  expect(summary.resources.map((one: Json) => one.resource)).toEqual(RESOURCE_NAMES);
  expect(summary.links).toEqual({ linked: 5, rejected: 0, errors_file: null });
  expect(await contentOf(otherKey, true)).toEqual(await contentOf(service.harness.v2, false));
});

test('run again it says that nothing is left to do, and changes nothing', async () => {
  const before = await contentOf(otherKey, true);
  const run = await service.crm(['import', 'all', 'backup'], { key: otherKey });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('nothing left to do')]);
  expect(await contentOf(otherKey, true)).toEqual(before);
});

test('killed at any request and run again, everything is there once', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/tables/accounts.ts');
  for (const at of [4, 7, 9, 12, 15]) {
    const org = await harness.store.write('accounts', (trx) =>
      createOrganization(trx, `Killed ${at}`, harness.clock.now),
    );
    const { key } = await harness.issue({ orgId: org.number });
    const folder = `backup-${at}`;
    await service.crm(['export', 'all', '--out', folder]);
    let seen = 0;
    let child: ReturnType<ImportService['start']> | undefined;
    service.between = async ({ method }, answer) => {
      const response = await answer();
      if (method === 'POST' || method === 'PATCH') seen += 1;
      if (seen >= at) child?.kill('SIGKILL');
      return response;
    };
    child = service.start(['import', 'all', folder], { key });
    expect((await child.run).exitCode).not.toBe(0);
    service.between = null;
    const again = await service.crm(['import', 'all', folder], { key });
    expect([at, again.exitCode, again.stderr]).toEqual([at, 0, expect.any(String)]);
    expect(await contentOf(key, true)).toEqual(await contentOf(harness.v2, false));
  }
}, 60_000);

test('as CSV too, where custom values become text', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/tables/accounts.ts');
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, 'From CSV', harness.clock.now),
  );
  const { key } = await harness.issue({ orgId: org.number });
  await service.crm(['export', 'all', '--out', 'sheets', '--format', 'csv']);
  const run = await service.crm(['import', 'all', 'sheets'], { key });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.any(String)]);
  const [expected, actual] = [await contentOf(harness.v2, false), await contentOf(key, true)];
  expected.companies[0].custom = { a: '1', b: '1', c: 'true' };
  for (const contact of expected.contacts) if (contact.title === '') contact.title = null;
  expect(actual).toEqual(expected);
});

test('rejected notes of every level stand in one errors file', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/tables/accounts.ts');
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, 'Rejecting', harness.clock.now),
  );
  const { key } = await harness.issue({ orgId: org.number });
  const note = (id: string, parent_id: string | null, title: unknown) =>
    JSON.stringify({ id, parent_id, title });
  const bad = 'x'.repeat(2_000);
  const notes = [note('a', null, 'Top'), note('b', null, bad), note('c', 'a', bad), note('d', 'a', 'Under')];
  await service.write('trees/notes.ndjson', notes.join('\n'));
  writeManifest(join(service.folder, 'trees'), { server: '', began_at: '' }, [
    { name: 'notes.ndjson', records: 4 },
  ]);
  const run = await service.crm(['import', 'all', 'trees', '-o', 'json'], { key });
  expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('notes: 2 created, 2 rejected')]);
  const [{ errors_file: file, ...summary }] = JSON.parse(run.stdout).resources;
  expect(summary).toMatchObject({ rows: 4, created: 2, rejected: 2, status: 'finished' });
  const rejected = (await Bun.file(join(service.folder, file)).text()).trimEnd().split('\n');
  expect(rejected.map((line) => JSON.parse(line)._line)).toEqual([2, 3]);
});

test('a folder without exports, and options that make no sense, are refused', async () => {
  await service.write('empty/readme.txt', 'nothing');
  const empty = await service.crm(['import', 'all', 'empty']);
  expect([empty.exitCode, empty.stderr]).toEqual([1, expect.stringContaining('This is no whole export')]);
  const mapped = await service.crm(['import', 'all', 'backup', '--map', 'a=b']);
  expect([mapped.exitCode, mapped.stderr]).toEqual([2, expect.stringContaining('takes no --map')]);
  expect(existsSync(join(service.folder, 'empty.crm-journal'))).toBe(false);
});
