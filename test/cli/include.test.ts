// `--include` of crm get and crm list: names for people, records and IDs for programs, and what is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

let sandbox: Sandbox;
let firm: string;
let ada: string;
let deal: string;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  firm = await create('companies', 'name=Engines');
  ada = await create('contacts', 'first_name=Ada', 'last_name=Love\nlace', `company_id=${firm}`);
  const bob = await create('contacts', 'email=bob@engines.example', 'title=CTO');
  deal = await create('deals', 'name=Number two', `company_id=${firm}`, `point_of_contact_id=${ada}`);
  await sandbox.ok(['link', `deals/${deal}/contacts`, bob]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs])).id;
}

const getWith = (include: string, ...args: string[]) =>
  sandbox.ok(['get', 'deals', deal, '--include', include, ...args]);

test('get shows a card with the names and IDs below', async () => {
  const card = await getWith('company, contacts,tasks', '-o', 'table');
  const lines = card.split('\n');
  expect(lines.findIndex((line) => line.startsWith('updated_at'))).toBe(lines.length - 4 - 1);
  const bob = lines.at(-3)?.split(/ {2,}/)[2];
  expect(lines.slice(-4)).toEqual([
    `company               Engines  ${firm}`,
    `contacts              bob@engines.example  ${bob}`,
    `                      Ada Love⏎lace        ${ada}`,
    'tasks',
  ]);
  expect(card).not.toContain('included_ids');
  const part = await getWith('company', '--fields', 'name', '-o', 'table');
  expect(part).toBe(`name     Number two\ncompany  Engines  ${firm}`);
});

test('get prints the record with what it includes as JSON', async () => {
  const record = JSON.parse(await getWith('company,owner', '-o', 'json'));
  expect(record).toMatchObject({ id: deal, included_ids: { company: [firm], owner: [] } });
  expect(record.included).toMatchObject({ companies: { [firm]: { id: firm, name: 'Engines' } }, users: {} });
  const part = await getWith('company', '--fields', 'name', '-o', 'ndjson');
  expect(Object.keys(JSON.parse(part))).toEqual(['name', 'included_ids', 'included']);
});

test('get of many related records shows the newest, and says so', async () => {
  const body = JSON.stringify(
    Array.from({ length: 12 }, (_, index) => ({ name: `Task ${index}`, deal_id: deal })),
  );
  await sandbox.write('tasks.json', body);
  await sandbox.ok(['import', 'tasks', 'tasks.json']);
  const card = await getWith('tasks', '-o', 'table');
  const lines = card.split('\n').slice(-11);
  expect(lines[0]).toMatch(/^tasks {17}Task 11 {2}\S{36}$/);
  expect(lines[9]).toMatch(/^ {22}Task 2 {3}\S{36}$/);
  expect(lines[10]).toBe(`${' '.repeat(22)}(the newest 10)`);
});

test('list has columns with the names in a table, and IDs in JSON', async () => {
  const list = ['list', 'deals', '--include', 'company,contacts'];
  const table = await sandbox.ok([...list, '--fields', 'name', '-o', 'table']);
  expect(table).toBe(
    'NAME        COMPANY  CONTACTS\nNumber two  Engines  bob@engines.example, Ada Love⏎lace',
  );
  expect(await sandbox.ok([...list, '-o', 'table'])).toMatch(/^ID +NAME +COMPANY +CONTACTS +STATUS/);
  const [record] = ndjson(await sandbox.ok(list));
  expect(record).toMatchObject({ id: deal, included_ids: { company: [firm] } });
  expect(record).not.toHaveProperty('included');
  const [part] = JSON.parse(await sandbox.ok([...list, '--fields', 'name', '-o', 'json']));
  expect(Object.keys(part)).toEqual(['name', 'included_ids']);
  const envelope = JSON.parse(await sandbox.ok([...list, '--envelope']));
  expect(Object.keys(envelope)).toEqual(['object', 'data', 'included', 'page_info', 'meta']);
  expect(envelope.included.companies[firm]).toMatchObject({ name: 'Engines' });
});

test('what is wrong is refused before a key is looked for', async () => {
  const get = ['get', 'deals', ABSENT];
  for (const [args, said] of [
    [[...get, '--include', 'compny'], 'deals cannot include "compny". Did you mean company?'],
    [[...get, '--include', ''], 'Use one or more of: company, owner'],
    [[...get, '--include', '__proto__'], 'deals cannot include "__proto__".'],
    [[...get, '--include', 'company,owner,pipeline,stage,contacts,notes'], 'at most 5 names'],
    [[...get, '--include', 'company', '-o', 'csv'], 'CSV does not show'],
    [['get', `meetings/${ABSENT}/deal`, '--include', 'company'], 'does not support --include'],
    [['get', 'deals', '--from', 'ids.txt', '--include', 'company'], '--include does not work with --from.'],
    [['list', `deals/${ABSENT}/contacts`, '--include', 'company'], '--include'],
    [['list', 'contacts', '--include', 'company', '-o', 'csv'], 'CSV does not show'],
    [['list', 'contacts', '--include', 'company', '--api', 'v1'], 'remove --include, or --api v1'],
  ] as const) {
    const { code, stdout, stderr } = await sandbox.crm(args, { env: { CRM_API_KEY: '' } });
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(new RegExp(RegExp.escape(said), 'i')),
    ]);
  }
});

test('what a key cannot read is refused by the server', async () => {
  const key = await sandbox.ok(['keys', 'issue', '--scopes', 'deals:read']);
  const { code, stderr } = await sandbox.crm(['get', 'deals', deal, '--include', 'company'], {
    env: { CRM_API_KEY: key },
  });
  expect([code, stderr]).toEqual([4, expect.stringContaining('companies:read')]);
});
