// A dry run tells just what the run would: the same rows rejected, for the same reasons, whatever the key may read.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';

let service: ImportService;
/** Ids of records that are there. */
const there: Record<string, string> = {};
const NOWHERE = '019b76da-a800-7000-8000-000000000001';

beforeAll(async () => {
  service = await startImportService();
  const { send } = service.harness;
  const create = async (resource: string, body: object): Promise<string> => {
    const reply = await send('POST', `/api/v2/${resource}`, { body });
    return reply.body.data.id;
  };
  there.company = await create('companies', { name: 'There Ltd', domain: 'there.test' });
  there.contact = await create('contacts', { email: 'there@there.test', company_id: there.company });
  there.mine = await create('contacts', { email: 'mine@there.test', owner_id: service.harness.alice });
  there.deal = await create('deals', { name: 'There' });
  there.note = await create('notes', { title: 'There' });
  there.pipeline = await create('pipelines', { name: 'There', stages: [{ name: 'New' }] });
  const { body } = await send('GET', `/api/v2/pipelines/${there.pipeline}`);
  there.stage = body.data.stages[0].id;
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
});

/** What stays of an errors file: line, code, path and message of each rejected row. */
async function rejections(name: string): Promise<Json[]> {
  const text = await Bun.file(`${service.folder}/${name}`)
    .text()
    .catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ _line, _code, _path, _message }) => ({ _line, _code, _path, _message }));
}

/** A row of the file has no ID yet in a dry run, so its line is told instead. */
const withoutOwner = ({ _message: message, ...row }: Json): Json => ({
  ...row,
  _message: message.replace(/^(?:another \w+ has this|its emails belong to).*/, 'conflict'),
});

let files = 0;

/** Imports rows twice, dry and in earnest; the two must agree. Gives back what was rejected. */
async function bothWays(resource: string, rows: object[], flags: string[] = [], key = service.harness.v2) {
  files += 1;
  const file = `${resource}-${files}.ndjson`;
  await service.write(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const args = ['import', resource, file, '-o', 'json', ...flags, '--errors'];
  const before = await counts();
  const dry = await service.crm([...args, `${file}.dry`, '--dry-run'], { key });
  expect(await counts()).toEqual(before);
  const run = await service.crm([...args, `${file}.run`], { key });
  const failure = ({ stderr }: { stderr: string }) =>
    /^crm: [^(]*/m.exec(stderr)?.[0].replace('would be', 'were');
  expect([dry.exitCode, dry.stdout === '' && failure(dry)]).toEqual([
    run.exitCode,
    run.stdout === '' && failure(run),
  ]);
  const [foreseen, told] = [await rejections(`${file}.dry`), await rejections(`${file}.run`)];
  expect(foreseen.map(withoutOwner)).toEqual(told.map(withoutOwner));
  if (run.stdout !== '') {
    const figures = (text: string) => ({ ...JSON.parse(text), seconds: 0, dry_run: 0, errors_file: 0 });
    expect(figures(dry.stdout)).toEqual(figures(run.stdout));
  }
  return { told, stderr: dry.stderr, exitCode: dry.exitCode };
}

/** How many records there are, and idempotency keys that the service has kept. */
async function counts(): Promise<unknown[]> {
  const tables = ['companies', 'contacts', 'deals', 'tasks', 'notes', 'interactions', 'idempotency_keys'];
  const found: unknown[] = [];
  for (const table of tables) {
    const count = sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`;
    found.push((await count.execute(service.harness.store.read)).rows);
  }
  return found;
}

const unknown = (line: number, path: string, what: string) => ({
  ...{ _line: line, _code: 'VALIDATION_FAILED', _path: path },
  _message: `must be the ID of an existing ${what}`,
});

describe('references that lead nowhere', () => {
  test('of contacts: company and owner', async () => {
    const rows = [
      { first_name: 'a', company_id: there.company, owner_id: service.harness.alice },
      { first_name: 'b', company_id: NOWHERE },
      { first_name: 'c', owner_id: NOWHERE },
      { first_name: 'd', owner_id: there.company },
      { first_name: 'e', company_id: NOWHERE, owner_id: NOWHERE },
    ];
    expect((await bothWays('contacts', rows)).told).toMatchObject([
      unknown(2, 'company_id', 'company'),
      unknown(3, 'owner_id', 'user'),
      unknown(4, 'owner_id', 'user'),
      { _line: 5, _path: 'company_id, owner_id' },
    ]);
  });

  test('of contacts: an id that looks like none of a record, whatever a dry run itself puts in their place', async () => {
    const ids = ['00000000-0000-7000-8000-000000000000', '00000000-0000-4000-8000-000000000000', '0', 'x'];
    const rows = ids.map((id) => ({ first_name: 'a', company_id: id, owner_id: id }));
    expect((await bothWays('contacts', rows)).told).toMatchObject(
      rows.map((_, index) => ({ _line: index + 1, _path: 'company_id, owner_id' })),
    );
    const missing = [{ first_name: 'b', company: 'To Be Made Ltd' }];
    expect((await bothWays('contacts', missing, ['--create-missing'])).told).toEqual([]);
  });

  test('of interactions: the main contact and everyone in the lists', async () => {
    const row = { type: 'MEMO', direction: 'INTERNAL', title: 'T', main_contact: there.contact };
    const rows = [
      { ...row, contact_ids: [there.contact], company_ids: [there.company] },
      { ...row, main_contact: NOWHERE },
      { ...row, contact_ids: [there.contact, NOWHERE] },
      { ...row, company_ids: [NOWHERE, there.company, there.contact] },
    ];
    expect((await bothWays('interactions', rows)).told).toMatchObject([
      unknown(2, 'main_contact', 'contact'),
      unknown(3, 'contact_ids.1', 'contact'),
      { _line: 4, _path: 'company_ids.0, company_ids.2' },
    ]);
  });

  test('of companies: the owner', async () => {
    const rows = [
      { name: 'a', owner_id: service.harness.bob },
      { name: 'b', owner_id: NOWHERE },
    ];
    expect((await bothWays('companies', rows)).told).toEqual([unknown(2, 'owner_id', 'user')]);
  });

  test('of tasks: company, deal, person and assignee', async () => {
    const row = { deal_id: there.deal, person_id: there.contact, main_assignee_id: service.harness.alice };
    const rows = [
      { name: 'a', ...row },
      { name: 'b', ...row, company_id: NOWHERE },
      { name: 'c', ...row, deal_id: NOWHERE },
      { name: 'd', ...row, person_id: NOWHERE },
      { name: 'e', ...row, main_assignee_id: NOWHERE },
    ];
    expect((await bothWays('tasks', rows)).told).toEqual([
      unknown(2, 'company_id', 'company'),
      unknown(3, 'deal_id', 'deal'),
      unknown(4, 'person_id', 'contact'),
      unknown(5, 'main_assignee_id', 'user'),
    ]);
  });

  test('of notes: the parent; of interactions: the contact', async () => {
    const notes = [
      { title: 'a', parent_id: there.note },
      { title: 'b', parent_id: NOWHERE },
    ];
    expect((await bothWays('notes', notes)).told).toEqual([unknown(2, 'parent_id', 'note')]);
    const one = { type: 'MEMO', direction: 'INTERNAL', title: 'x' };
    const interactions = [
      { ...one, main_contact: there.contact },
      { ...one, main_contact: NOWHERE },
    ];
    expect((await bothWays('interactions', interactions)).told).toEqual([
      unknown(2, 'main_contact', 'contact'),
    ]);
  });

  test('of deals: pipeline, stage, company, contact and owner', async () => {
    const rows = [
      { name: 'a', pipeline_id: there.pipeline, stage_id: there.stage },
      { name: 'b', stage_id: there.stage },
      { name: 'c', pipeline_id: NOWHERE },
      { name: 'd', stage_id: NOWHERE },
      { name: 'e', company_id: NOWHERE, point_of_contact_id: NOWHERE, owner_id: NOWHERE },
      { name: 'f', pipeline_id: NOWHERE, stage_id: there.stage },
    ];
    expect((await bothWays('deals', rows)).told.length).toBe(5);
  });
});

describe('what the key may not do', () => {
  const issue = async (options: { scopes?: string[]; userId?: string }) =>
    (await service.harness.issue(options)).key;

  test('a key that can only write has every reference checked by the server', async () => {
    const key = await issue({ scopes: ['tasks:write', 'contacts:write'] });
    const rows = [
      {
        name: 'a',
        company_id: there.company,
        person_id: there.contact,
        main_assignee_id: service.harness.alice,
      },
      { name: 'b', company_id: NOWHERE },
      { name: 'c', person_id: NOWHERE, deal_id: NOWHERE },
    ];
    const { told } = await bothWays('tasks', rows, [], key);
    expect(told).toMatchObject([{ _path: 'company_id' }, { _path: 'person_id, deal_id' }]);
  });

  test('owners of companies need no other scope', async () => {
    const rows = [
      { name: 'a', owner_id: service.harness.alice },
      { name: 'b', owner_id: NOWHERE },
    ];
    const key = await issue({ scopes: ['companies:read', 'companies:write'] });
    expect((await bothWays('companies', rows, [], key)).told).toEqual([unknown(2, 'owner_id', 'user')]);
  });

  test('a key without read scopes gets the same errors about owners, parents and emails', async () => {
    const key = await issue({ scopes: ['companies:write', 'notes:write', 'contacts:write'] });
    const owned = [{ name: 'a', owner_id: NOWHERE }];
    expect((await bothWays('companies', owned, [], key)).told).toEqual([unknown(1, 'owner_id', 'user')]);
    const notes = [{ title: 'a', parent_id: NOWHERE }];
    expect((await bothWays('notes', notes, [], key)).told).toEqual([unknown(1, 'parent_id', 'note')]);
    const contacts = [{ email: 'there@there.test' }];
    const { told } = await bothWays('contacts', contacts, [], key);
    expect(told).toMatchObject([{ _path: 'email', _message: 'another contact has this email' }]);
  });

  test('a key bound to a user gives no record away, and sees no record of others', async () => {
    const key = await issue({ userId: service.harness.alice });
    const rows = [
      { first_name: 'a', owner_id: service.harness.alice },
      { first_name: 'b', owner_id: service.harness.bob },
      { first_name: 'c', owner_id: NOWHERE },
      { first_name: 'd', company_id: there.company },
    ];
    expect((await bothWays('contacts', rows, [], key)).told).toMatchObject([
      { _line: 2, _code: 'OPERATION_FORBIDDEN' },
      { _line: 3, _code: 'OPERATION_FORBIDDEN' },
      unknown(4, 'company_id', 'company'),
    ]);
  });

  test('a key that may not write ends a dry run as it ends the run, and one that may not make companies too', async () => {
    const reader = await issue({ scopes: ['tasks:read'] });
    expect(await bothWays('tasks', [{ name: 'a' }], [], reader)).toMatchObject({ exitCode: 4, told: [] });
    const writer = await issue({ scopes: ['tasks:write', 'companies:read'] });
    const rows = [{ name: 'a', company: 'There Ltd' }];
    expect((await bothWays('tasks', rows, ['--create-missing'], writer)).exitCode).toBe(0);
    const more = [{ name: 'a', company: 'Not There Ltd' }];
    expect((await bothWays('tasks', more, ['--create-missing'], writer)).exitCode).toBe(4);
  });
});

test('companies to be made, and emails that are taken, in the service or in the file', async () => {
  const rows = [
    { email: 'one@new.test', company: 'new.test' },
    { email: 'two@new.test', company: 'NEW.test' },
    { email: 'ONE@new.test', company: 'Other New Ltd' },
    { email: 'there@there.test' },
    { email: 'three@new.test', alt_emails: ['two@new.test'] },
    { email: 'four@new.test', company: 'x'.repeat(1_001) },
    { email: 'no email' },
  ];
  const { told } = await bothWays('contacts', rows, ['--create-missing']);
  expect(told).toMatchObject([
    { _line: 3, _code: 'RESOURCE_CONFLICT' },
    { _line: 4, _code: 'RESOURCE_CONFLICT' },
    { _line: 5, _code: 'RESOURCE_CONFLICT' },
    { _line: 6, _code: 'VALIDATION_OUT_OF_RANGE' },
    { _line: 7, _code: 'VALIDATION_INVALID_FORMAT' },
  ]);
});

describe('rows that share an email', () => {
  const rows = [
    { email: 'a@share.test', first_name: 'A' },
    { email: 'b@share.test', alt_emails: ['a2@share.test'], first_name: 'B' },
    { email: 'A@share.test', first_name: 'A again' },
    { email: 'there@there.test', alt_emails: ['there2@there.test'] },
    { email: 'x@share.test', alt_emails: ['a@share.test', 'b@share.test'], first_name: 'of two' },
    { email: 'x@share.test', alt_emails: ['a2@share.test'], first_name: 'B again' },
    { email: 'a2@share.test', company_id: NOWHERE },
    { email: 'there2@there.test', first_name: 'There again' },
    { email: 'there@there.test', alt_emails: ['mine@there.test'], first_name: 'of two' },
  ];

  test.each(
    ['fail', 'skip', 'update'].flatMap((policy) => [1, 2, 100].map((size) => [policy, size] as const)),
  )('--on-duplicate %s, %d rows in a batch', async (policy, size) => {
    const own = JSON.stringify(rows).replaceAll('share.test', `share-${policy}-${size}.test`);
    const flags = ['--on-duplicate', policy, '--batch-size', String(size), '--concurrency', '1'];
    const { told } = await bothWays('contacts', JSON.parse(own), flags);
    const wrong = policy === 'skip' ? [] : [unknown(7, 'company_id', 'company')];
    expect(told.filter(({ _path: path }) => path === 'company_id')).toEqual(wrong);
  });
});

test('every write that a dry run sends is one that the server undoes', async () => {
  const writes: boolean[] = [];
  service.between = ({ method, isDryRun }, answer) => {
    if (method !== 'GET') writes.push(isDryRun);
    return answer();
  };
  const rows = [
    { email: 'there@there.test', first_name: 'Known' },
    { email: 'new@undone.test', company: 'Undone Ltd', owner_id: service.harness.alice },
  ];
  await service.write('undone.ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
  const flags = ['--dry-run', '--create-missing', '--on-duplicate', 'update'];
  const run = await service.crm(['import', 'contacts', 'undone.ndjson', ...flags]);
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('1 would be updated')]);
  expect(writes.length).toBeGreaterThan(2);
  expect(writes).not.toContain(false);
});

test.each([
  ['that does not pass the header on', 'The header Dry-Run did not reach the server. Nothing was written.'],
  ['of an older crm', 'The server is older than this crm'],
])('nothing is sent to a server %s', async (which, message) => {
  const before = await counts();
  service.between = async ({ path }, answer) => {
    const response = await answer();
    if (which === 'of an older crm' && path.endsWith('/authenticate')) {
      const body = { object: 'error', error: { code: 'RESOURCE_NOT_FOUND', message: 'No such path.' } };
      return Response.json(body, { status: 404 });
    }
    response.headers.delete('Dry-Run');
    return response;
  };
  await service.write('none.ndjson', JSON.stringify({ name: 'a' }));
  const run = await service.crm(['import', 'tasks', 'none.ndjson', '--dry-run']);
  expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(message)]);
  expect(await counts()).toEqual(before);
});

describe('interactions', () => {
  const one = { type: 'MEMO', direction: 'INTERNAL' };
  const date = 1_767_225_600_000;

  test('that are logged already, or twice in the file, are skipped', async () => {
    const rows = [
      { ...one, title: 'by origin', main_contact_email: 'new@log.test', primary_id: 'p1' },
      { ...one, title: 'another title', main_contact: there.contact, primary_id: 'p1' },
      { ...one, title: 'by content', main_contact: there.contact, interaction_date: date },
      { ...one, title: 'by content', main_contact_email: 'THERE@there.test', interaction_date: date },
      { ...one, title: 'by content', main_contact_email: 'new@log.test', interaction_date: date },
      { ...one, title: 'by content', main_contact_email: 'NEW@log.test', interaction_date: date },
      { ...one, title: 'no date', main_contact: there.contact },
      { ...one, title: 'no date', main_contact: there.contact },
    ];
    expect(await bothWays('interactions', rows)).toMatchObject({ told: [], exitCode: 0 });
    const again = await bothWays('interactions', rows, ['--no-resume']);
    expect(again.stderr).toContain('2 would be created, 6 would be skipped');
  });

  test('are skipped across batches too', async () => {
    const rows = [
      { ...one, title: 'by origin', main_contact: there.contact, primary_id: 'p2' },
      { ...one, title: 'by id', main_contact: there.contact, interaction_date: date },
      { ...one, title: 'by id', main_contact_email: 'THERE@there.test', interaction_date: date },
      { ...one, title: 'by email', main_contact_email: 'other@log.test', interaction_date: date },
      { ...one, title: 'by email', main_contact_email: 'OTHER@log.test', interaction_date: date },
      { ...one, title: 'another title', main_contact_email: 'new@log.test', primary_id: 'p2' },
    ];
    const { stderr } = await bothWays('interactions', rows, ['--batch-size', '1', '--concurrency', '1']);
    expect(stderr).toContain('3 would be created, 3 would be skipped');
  });

  test('about an unknown contact are refused where the key may not make one', async () => {
    const scopes = ['interactions:write', 'interactions:read', 'contacts:read'];
    const { key } = await service.harness.issue({ scopes });
    const rows = [
      { ...one, title: 'x', main_contact_email: 'there@there.test' },
      { ...one, title: 'y', main_contact_email: 'nobody@log.test' },
    ];
    expect((await bothWays('interactions', rows, [], key)).told).toMatchObject([
      { _line: 2, _path: 'main_contact_email' },
    ]);
  });
});
