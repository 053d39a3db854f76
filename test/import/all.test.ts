// `export all`, then `import all` into another organization: equal content under new ids.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { writeManifest } from '../../cli/export/manifest.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';
import { contentOf, fillOrganization, IMPORTED } from '../support/organization.ts';
import { clientOf } from '../support/v2.ts';

let service: ImportService;
let otherKey: string;

beforeAll(async () => {
  service = await startImportService();
  otherKey = (await service.harness.issue({ orgNumber: service.harness.otherOrgNumber })).key;
  await fillOrganization(service.harness);
});
afterAll(() => service.close());

test('everything arrives, tied together as it was; users and read-only records stay behind', async () => {
  expect((await service.crm(['export', 'all', '--out', 'backup'])).exitCode).toBe(0);
  const run = await service.crm(['import', 'all', 'backup', '-o', 'json'], { key: otherKey });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('meetings: skipped')]);
  expect(run.stderr).toContain('2 references left out');
  const summary = JSON.parse(run.stdout);
  // A tree of notes takes a run a level, and is reported as one all the same.
  expect(run.stderr.match(/^notes: .*/gm)).toEqual(['notes: 3 created']);
  const progress = run.stderr.match(/^Importing notes: .*/gm) ?? [];
  for (const line of progress) expect(line).toContain(' of 3 rows');
  expect(progress.at(-1)).toContain('3 of 3 rows (100%)');
  expect(summary.resources.map((one: Json) => one.resource)).toEqual(IMPORTED);
  expect(summary.links).toEqual({ linked: 5, rejected: 0, errors_file: null });
  expect(await contentOf(service.harness, otherKey, true)).toEqual(
    await contentOf(service.harness, service.harness.v2, false),
  );
});

test('run again it says that nothing is left to do, and changes nothing', async () => {
  const before = await contentOf(service.harness, otherKey, true);
  const run = await service.crm(['import', 'all', 'backup'], { key: otherKey });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
  expect(await contentOf(service.harness, otherKey, true)).toEqual(before);
});

test('killed at any request and run again, everything is there once', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  for (const at of [4, 7, 9, 11, 13]) {
    const org = await harness.store.write('accounts', (trx) =>
      createOrganization(trx, `Killed ${at}`, harness.clock.now),
    );
    const { key } = await harness.issue({ orgNumber: org.number });
    const folder = `backup-${at}`;
    await service.crm(['export', 'all', '--out', folder]);
    await service.killed(['import', 'all', folder], at, {
      ...{ key, counts: ({ method }) => method === 'POST' || method === 'PATCH' },
    });
    const again = await service.crm(['import', 'all', folder], { key });
    expect([at, again.exitCode, again.stderr]).toEqual([at, 0, expect.any(String)]);
    expect(await contentOf(service.harness, key, true)).toEqual(
      await contentOf(service.harness, harness.v2, false),
    );
  }
}, 900_000);

test('as CSV too, where custom values become text', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, 'From CSV', harness.clock.now),
  );
  const { key } = await harness.issue({ orgNumber: org.number });
  await service.crm(['export', 'all', '--out', 'sheets', '--format', 'csv']);
  const run = await service.crm(['import', 'all', 'sheets'], { key });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.any(String)]);
  const [expected, actual] = [
    await contentOf(service.harness, harness.v2, false),
    await contentOf(service.harness, key, true),
  ];
  expected.companies[0].custom = { a: '1', b: '1', c: 'true' };
  for (const contact of expected.contacts) if (contact.title === '') contact.title = null;
  expect(actual).toEqual(expected);
});

test('an interaction whose contact was deleted goes to a file next to it, and one that loses others is reported', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  const [from = '', to = ''] = await Promise.all(
    ['Leaving', 'Left'].map(async (name) => {
      const org = await harness.store.write('accounts', (trx) =>
        createOrganization(trx, name, harness.clock.now),
      );
      return (await harness.issue({ orgNumber: org.number })).key;
    }),
  );
  const { create } = clientOf(harness, from);
  const log = (title: string, contact: Json, more: Json = {}) =>
    create('interactions', { type: 'MEETING', direction: 'EVENT', title, main_contact: contact.id, ...more });
  const acme = await create('companies', { name: 'Acme of it' });
  const [here, gone] = [
    await create('contacts', { first_name: 'Here of it', company_id: acme.id }),
    await create('contacts', { first_name: 'Gone of it' }),
  ];
  const others = Array.from({ length: 101 }, (_, index) => ({ first_name: `Other ${index}` }));
  const { items } = (await clientOf(harness, from).post('/contacts/batch', others.slice(1))).body.data;
  const otherIds = [(await create('contacts', others[0])).id, ...items.map((item: Json) => item.data.id)];
  await log('alone', here);
  await log('many', here, { contact_ids: otherIds.slice(1) });
  await log('too many', here, { contact_ids: otherIds.slice(1) });
  await log('orphan', gone, { contact_ids: [here.id], company_ids: [acme.id] });
  // Without a date of their own they are two; with the one that they have now, the second would be the first again.
  const calls = ['first', 'second'].map((summary) => ({
    ...{ type: 'EMAIL', direction: 'INBOUND', title: 'twice', main_contact: here.id, summary },
  }));
  await clientOf(harness, from).post('/interactions/batch', calls);
  // As ingest leaves a meeting of 102.
  await harness.store.write('accounts', async (trx) => {
    const last = `insert into interaction_contacts (org_id, interaction_id, contact_id)
      select c.org_id, i.id, c.id from interactions i join contacts c on c.org_id = i.org_id
      where i.title = 'too many' and c.first_name = 'Other 0'`;
    await sql.raw(last).execute(trx);
  });
  await harness.send('DELETE', `/api/v2/contacts/${gone.id}`, { key: from });
  await service.crm(['export', 'all', '--out', 'leaving'], { key: from });
  const run = await service.crm(['import', 'all', 'leaving', '-o', 'json'], { key: to });
  const kept = 'leaving/interactions.ndjson.left-out.ndjson';
  expect([run.exitCode, JSON.parse(run.stdout)]).toMatchObject([
    0,
    {
      ...{ rejected: 0, interactions_left_out: 1, interactions_repeated: 1, interactions_reduced: 1 },
      left_out_file: kept,
    },
  ]);
  expect(run.stderr).toContain(
    `1 interaction left out: the contact was deleted and is not in the folder. See ${kept}`,
  );
  expect(run.stderr).toContain(
    '1 interaction imported with only 100 contacts or companies besides the main contact and its company',
  );
  expect(run.stderr).toContain('use "crm migrate"');
  expect(run.stderr).toContain(
    `1 interaction left out: another one has the same contact, type, direction, title and date. See ${kept}`,
  );
  expect(run.stderr).toContain('Importing interactions: 4 of 4 rows (100%)');
  const [record, repeated] = (await service.read(kept))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(record).toMatchObject({ title: 'orphan', main_contact: null, _path: 'main_contact' });
  expect(repeated).toMatchObject({ title: 'twice', summary: expect.any(String), _path: 'primary_id' });
  expect(statSync(join(service.folder, kept)).mode & 0o777).toBe(0o600);
  const contacts = await service.all('contacts', to);
  const contact = contacts.find(({ first_name }) => first_name === 'Here of it');
  const [company] = await service.all('companies', to);
  const arrived = await service.all('interactions', to);
  expect(arrived.map((one) => [one.title, (one.contact_ids as string[]).length, one.company_ids])).toEqual([
    ['alone', 1, [company?.id]],
    ['many', 101, [company?.id]],
    ['too many', 101, [company?.id]],
    ['twice', 1, [company?.id]],
  ]);
  // The command that the file itself names; the others who were involved have their new IDs there.
  await service.write('kept.ndjson', JSON.stringify({ ...record, main_contact: contact?.id }));
  const again = await service.crm(['import', 'interactions', 'kept.ndjson'], { key: to });
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('1 created, 0 rejected')]);
  expect(record).toMatchObject({ contact_ids: [contact?.id], company_ids: [company?.id] });
});

describe.each(['ndjson', 'csv'])('into the organization that it is from, as %s', (format) => {
  const folder = `own-${format}`;
  const errorsOf = (resource: string) => `${folder}/${resource}.${format}.errors.${format}`;
  let key = '';
  let run: Awaited<ReturnType<typeof service.crm>>;

  beforeAll(async () => {
    const { harness } = service;
    const { createOrganization } = await import('../../db/accounts/accounts.ts');
    const org = await harness.store.write('accounts', (trx) =>
      createOrganization(trx, `Own ${format}`, harness.clock.now),
    );
    key = (await harness.issue({ orgNumber: org.number })).key;
    const { create } = clientOf(harness, key);
    const company = await create('companies', { name: 'Acme', domain: 'acme.test' });
    const contact = await create('contacts', { email: 'ada@acme.test', company_id: company.id });
    const refers = { company_id: company.id, point_of_contact_id: contact.id };
    const deal = await create('deals', { name: 'First', ...refers });
    await create('tasks', { name: 'Call', deal_id: deal.id, person_id: contact.id, due_date: 5 });
    await create('interactions', {
      ...{ type: 'EMAIL', direction: 'OUTBOUND', title: 'Hi', main_contact: contact.id, interaction_date: 7 },
    });
    await service.crm(['export', 'all', '--out', folder, '--format', format], { key });
    run = await service.crm(['import', 'all', folder, '--yes'], { key });
  });

  test('duplicates are rejected, and what refers to them refers to the records that exist', async () => {
    expect([run.exitCode, run.stderr]).toEqual([
      3,
      expect.stringContaining('2 records or links were rejected'),
    ]);
    expect(run.stderr).not.toContain('left out');
    const [company, contact] = [
      (await service.all('companies', key))[0],
      (await service.all('contacts', key))[0],
    ];
    expect((await service.all('deals', key)).slice(1)).toMatchObject([
      { company_id: company?.id, point_of_contact_id: contact?.id },
    ]);
    expect((await service.all('tasks', key)).slice(1)).toMatchObject([{ person_id: contact?.id }]);
    // The one that is there is the same.
    expect(run.stderr).toContain('interactions: 0 created, 1 skipped');
  });

  test('rejected rows keep their columns and IDs, and the command that is advised imports them', async () => {
    const [contact] = await service.all('contacts', key);
    expect(await service.read(errorsOf('contacts'))).toContain(String(contact?.id));
    expect(await service.read(errorsOf('contacts'))).toContain(String(contact?.company_id));
    const [, advised = ''] = /exist as they are: crm (.*)/.exec(run.stderr) ?? [];
    const again = await service.crm(advised.split(' '), { key });
    expect([again.exitCode, again.stderr]).toEqual([
      0,
      expect.stringContaining('contacts: 0 created, 1 skipped'),
    ]);
    expect((await service.all('contacts', key)).length).toBe(1);
  });

  test('what needs a record that was not imported is rejected with its ID, and comes in once that is set', async () => {
    const { harness } = service;
    const { createOrganization } = await import('../../db/accounts/accounts.ts');
    const org = await harness.store.write('accounts', (trx) =>
      createOrganization(trx, `Not own ${format}`, harness.clock.now),
    );
    const other = (await harness.issue({ orgNumber: org.number })).key;
    const contacts = `${folder}/contacts.${format}`;
    const spoilt = (await service.read(contacts)).replace('ada@acme.test', 'not an email');
    await service.write(contacts, spoilt);
    writeManifest(
      join(service.folder, folder),
      { server: '', began_at: '' },
      ['companies', 'contacts', 'interactions'].map((name) => ({ name: `${name}.${format}`, records: 1 })),
    );
    const spoiled = await service.crm(['import', 'all', folder], { key: other });
    expect([spoiled.exitCode, spoiled.stderr]).toEqual([
      3,
      expect.stringContaining('interactions: 0 created, 1 rejected'),
    ]);
    const [contact] = await service.all('contacts', key);
    const rows = await service.read(errorsOf('interactions'));
    expect(rows).toContain(`was not imported`);
    expect(rows).toContain(String(contact?.id));
    const [, retry = ''] =
      /Correct the rows in \S*interactions\S*, then run: crm (.*)/i.exec(spoiled.stderr) ?? [];
    const unchanged = await service.crm(retry.split(' '), { key: other });
    expect([unchanged.exitCode, unchanged.stderr]).toEqual([
      3,
      expect.stringContaining('must be the ID of an existing contact'),
    ]);
    const ada = await clientOf(harness, other).create('contacts', { first_name: 'Ada' });
    await service.write(errorsOf('interactions'), rows.replaceAll(String(contact?.id), ada.id));
    const corrected = await service.crm([...retry.split(' '), '--no-resume'], { key: other });
    expect([corrected.exitCode, corrected.stderr]).toEqual([0, expect.stringContaining('1 created')]);
  });
});

test('rejected notes of every level stand in one errors file', async () => {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, 'Rejecting', harness.clock.now),
  );
  const { key } = await harness.issue({ orgNumber: org.number });
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
  expect([empty.exitCode, empty.stderr]).toEqual([
    1,
    expect.stringContaining('This is not a complete export'),
  ]);
  const mapped = await service.crm(['import', 'all', 'backup', '--map', 'a=b']);
  expect([mapped.exitCode, mapped.stderr]).toEqual([2, expect.stringContaining('does not work with --map')]);
  expect(existsSync(join(service.folder, 'empty.crm-journal'))).toBe(false);
});
