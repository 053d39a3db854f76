// `crm import all`: which folders it takes, into which organizations, and what it leaves beside them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { Sandbox } from '../support/command.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
  const { send, alice } = service.harness;
  await send('POST', '/api/v2/companies', { body: { name: 'Acme', domain: 'acme.test' } });
  const contact = { email: 'ada@acme.test', last_name: 'Lovelace', owner_id: alice };
  const ada = (await send('POST', '/api/v2/contacts', { body: contact })).body.data;
  const deal = (await send('POST', '/api/v2/deals', { body: { name: 'First' } })).body.data;
  await send('POST', `/api/v2/deals/${deal.id}/contacts`, { body: { contact_id: ada.id } });
  await send('POST', '/api/v2/tasks', { body: { name: 'Call' } });
});
afterAll(() => service.close());

/** A new organization's key. */
async function newOrganization(name: string): Promise<string> {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, name, harness.clock.now),
  );
  return (await harness.issue({ orgNumber: org.number })).key;
}

describe('a folder that is not whole', () => {
  test.each([
    [
      'an interrupted export',
      (folder: string) => rmSync(join(folder, 'export.json')),
      'has no readable export.json',
    ],
    ['without a file', (folder: string) => rmSync(join(folder, 'tasks.ndjson')), 'tasks.ndjson is missing'],
    [
      'with another file',
      (folder: string) => appendFileSync(join(folder, 'tasks.ndjson'), '{"name":"More"}\n'),
      'tasks.ndjson was changed after the export',
    ],
    [
      'with other links',
      (folder: string) => appendFileSync(join(folder, 'links.ndjson'), '\n'),
      'links.ndjson was changed after the export',
    ],
    [
      'that leads out of itself',
      (folder: string) => {
        const path = join(folder, 'export.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace('tasks.ndjson', '../x/tasks.ndjson'));
      },
      'has an unknown format',
    ],
  ])('%s is refused, --yes or not, and nothing is written', async (name, spoil, reason) => {
    const folder = `spoiled ${name}`;
    await service.crm(['export', 'all', '--out', folder]);
    spoil(join(service.folder, folder));
    const key = await newOrganization(name);
    const run = await service.crm(['import', 'all', folder, '--yes'], { key });
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(run.stderr).toContain('Next: Use a folder that "crm export all --out FOLDER" completed');
    expect(run.stderr).not.toContain('to continue. Nothing is lost');
    expect((await service.all('companies', key)).length).toBe(0);
  });
});

test('an organization that has records is not written into unasked', async () => {
  const key = await newOrganization('Occupied');
  await service.harness.send('POST', '/api/v2/tasks', { key, body: { name: 'There' } });
  await service.crm(['export', 'all', '--out', 'beside']);
  const unasked = await service.crm(['import', 'all', 'beside'], { key });
  expect([unasked.exitCode, unasked.stderr]).toEqual([
    2,
    expect.stringContaining(
      'The organization already has records: tasks.\nNext: Import into an empty organization, or add to these records: crm import all beside --yes',
    ),
  ]);
  expect((await service.all('companies', key)).length).toBe(0);
  // Refused, it leaves nothing that would pass for its own journal.
  expect((await service.crm(['import', 'all', 'beside'], { key })).exitCode).toBe(2);
  const piped = await newOrganization('With a pipeline');
  const body = { name: 'Mine', stages: [{ name: 'New' }] };
  await service.harness.send('POST', '/api/v2/pipelines', { key: piped, body });
  expect(await service.crm(['import', 'all', 'beside'], { key: piped })).toMatchObject({
    ...{ exitCode: 2, stderr: expect.stringContaining('The organization already has records: pipelines.') },
  });
  // On a terminal it asks, and only a yes imports.
  using sandbox = new Sandbox();
  Object.assign(sandbox.env, { CRM_URL: service.url, CRM_API_KEY: key });
  const words = ['import', 'all', join(service.folder, 'beside')];
  const asked = await sandbox.onTerminal(words, { when: 'Import the folder anyway? [y/N]', answer: 'n\r' });
  expect([asked.code, asked.output]).toEqual([1, expect.stringContaining('Nothing was imported.')]);
  expect((await service.all('companies', key)).length).toBe(0);
  expect((await service.crm(['import', 'all', 'beside', '--yes'], { key })).exitCode).toBe(0);
  expect((await service.all('tasks', key)).map(({ name }) => name).toSorted()).toEqual(['Call', 'There']);
  const again = await service.crm(['import', 'all', 'beside'], { key });
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
});

test('the journal lies beside the folder, one for each organization; the folder stays as it was', async () => {
  await service.crm(['export', 'all', '--out', 'kept']);
  const before = readdirSync(join(service.folder, 'kept')).sort();
  const keys = [await newOrganization('Kept 1'), await newOrganization('Kept 2')];
  for (const key of keys) expect((await service.crm(['import', 'all', 'kept/'], { key })).exitCode).toBe(0);
  for (const key of keys) {
    const again = await service.crm(['import', 'all', 'kept'], { key });
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
  }
  expect(readdirSync(join(service.folder, 'kept')).sort()).toEqual(before);
  const journals = readdirSync(service.folder).filter((name) => name.startsWith('kept.'));
  expect(journals.sort()).toEqual(['kept.crm-journal', 'kept.crm-journal.2']);
  const modeOf = (...path: string[]) => statSync(join(service.folder, ...path)).mode & 0o777;
  for (const name of journals) {
    expect(modeOf(name)).toBe(0o700);
    const files = readdirSync(join(service.folder, name));
    expect(files).toContain('ids');
    expect(files.filter((file) => modeOf(name, file) !== 0o600)).toEqual([]);
  }
});

test('a link where the journal is to be is not followed', async () => {
  await service.crm(['export', 'all', '--out', 'laid']);
  const elsewhere = join(service.folder, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, join(service.folder, 'laid.crm-journal'));
  const key = await newOrganization('Laid');
  const run = await service.crm(['import', 'all', 'laid'], { key });
  expect([run.exitCode, run.stderr]).toEqual([
    1,
    expect.stringMatching(
      /Cannot use the journal .*laid\.crm-journal: it is not a folder that belongs to you\./,
    ),
  ]);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(await service.all('companies', key)).toEqual([]);
});

test('run again it ends as before; with another --on-duplicate it sends what was rejected', async () => {
  const key = await newOrganization('Twice');
  const body = { email: 'ada@acme.test', first_name: 'Ada' };
  await service.harness.send('POST', '/api/v2/contacts', { key, body });
  await service.crm(['export', 'all', '--out', 'conflict']);
  const first = await service.crm(['import', 'all', 'conflict', '--yes'], { key });
  const again = await service.crm(['import', 'all', 'conflict'], { key });
  expect([first.exitCode, again.exitCode]).toEqual([3, 3]);
  expect(again.stderr).toContain('was already imported');
  const update = await service.crm(['import', 'all', 'conflict', '--on-duplicate', 'update', '-o', 'json'], {
    key,
  });
  expect([update.exitCode, update.stderr]).toEqual([
    0,
    expect.stringContaining('contacts: 0 created, 1 matched'),
  ]);
  expect(JSON.parse(update.stdout).rejected).toBe(0);
  const contacts = await service.all('contacts', key);
  expect(contacts).toEqual([expect.objectContaining({ first_name: 'Ada', last_name: 'Lovelace' })]);
});
