// `crm import` from end to end: what becomes of the rows of a file, of standard input, and in a dry run.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { lines, tasks } from '../fixtures/import/tasks.ts';
import { Sandbox } from '../support/command.ts';
import type { Json } from '../support/harness.ts';
import { clientOf } from '../support/v2.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

describe('rows become records', () => {
  test('CSV: values are typed by their fields, the rest is kept as text', async () => {
    await service.write(
      'typed.csv',
      '\ufeffFirst Name;E-mail;Other Emails;Keep In Touch;Score;Note\r\n' +
        'Ada;ada@typed.test;a1@typed.test, a2@typed.test;yes;007;"two\r\nlines"\r\n',
    );
    const run = await service.crm([
      'import',
      'contacts',
      'typed.csv',
      '--custom',
      '--map',
      'Note=remarks',
      '-o',
      'json',
    ]);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      ...{ resource: 'contacts', rows: 1, created: 1, updated: 0, skipped: 0, rejected: 0 },
      ...{ errors_file: null, dry_run: false, status: 'finished' },
    });
    expect(run.stderr).toContain('Score         → custom.Score');
    const found = await service.harness.send('GET', '/api/v2/contacts?email=ada@typed.test');
    expect(found.body.data[0]).toMatchObject({
      first_name: 'Ada',
      alt_emails: ['a1@typed.test', 'a2@typed.test'],
      keep_in_touch: true,
      remarks: 'two\r\nlines',
      custom: { Score: '007' },
    });
  });

  test('lists of IDs: separated, as JSON text, and in JSON, as an export writes them', async () => {
    const { harness } = service;
    const create = (resource: string, body: Json) => clientOf(harness).create(resource, body);
    const [main, other] = [
      await create('contacts', { first_name: 'M' }),
      await create('contacts', { first_name: 'O' }),
    ];
    const company = await create('companies', { name: 'C' });
    const interaction = (title: string, contacts: string) =>
      `MEMO,INTERNAL,${title},${main.id},"${contacts.replaceAll('"', '""')}",${company.id}`;
    const rows = [
      interaction('listed', `${main.id}, ${other.id}`),
      interaction('listed', `${other.id};${other.id}`),
      interaction('listed', JSON.stringify([other.id, main.id])),
    ];
    await service.write(
      'listed.csv',
      `type,direction,title,main_contact,contact_ids,company_ids\n${rows.join('\n')}\n`,
    );
    const imported = await service.crm(['import', 'interactions', 'listed.csv']);
    expect([imported.exitCode, imported.stderr]).toEqual([0, expect.stringContaining('3 created')]);
    const out = await service.crm(['export', 'interactions', '--filter', `contact_id=${other.id}`]);
    await service.write('listed.ndjson', out.stdout);
    // Without their dates they repeat nothing.
    const undated = ['--map', 'interaction_date=-'];
    const again = await service.crm(['import', 'interactions', 'listed.ndjson', ...undated]);
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('3 created')]);
    const found = await clientOf(harness).list(`/interactions?contact_id=${other.id}`);
    expect(found).toHaveLength(6);
    for (const one of found)
      expect(one).toMatchObject({ contact_ids: [main.id, other.id], company_ids: [company.id] });
  });

  test('JSON, NDJSON and standard input', async () => {
    const record = (domain: string) => ({
      domain,
      employee_count: 5,
      custom: { tier: 1, vip: true },
      city: null,
    });
    await service.write('a.json', JSON.stringify([record('json.test')], null, 2));
    await service.write('a.ndjson', `${JSON.stringify(record('ndjson.test'))}\n`);
    expect((await service.crm(['import', 'companies', 'a.json'])).exitCode).toBe(0);
    expect((await service.crm(['import', 'companies', 'a.ndjson'])).exitCode).toBe(0);
    const stdin = await service.crm(['import', 'companies', '-'], {
      stdin: JSON.stringify(record('stdin.test')),
    });
    expect(stdin.exitCode).toBe(0);
    for (const domain of ['json.test', 'ndjson.test', 'stdin.test']) {
      const { body } = await service.harness.send('GET', `/api/v2/companies?domain=${domain}`);
      expect(body.data[0]).toMatchObject({ employee_count: 5, custom: { tier: 1, vip: true }, city: null });
    }
    expect(existsSync(join(service.folder, '-.crm-journal'))).toBe(false);
  });

  test('companies, pipelines, stages and contacts are looked up; --set and --map-value apply', async () => {
    const { send } = service.harness;
    const company = await send('POST', '/api/v2/companies', {
      body: { name: 'Lookup Ltd', domain: 'lookup.test' },
    });
    const contact = await send('POST', '/api/v2/contacts', { body: { email: 'boss@lookup.test' } });
    const pipeline = await send('POST', '/api/v2/pipelines', {
      body: { name: 'Partners', stages: [{ name: 'New' }] },
    });
    await service.write(
      'deals.csv',
      'Deal,Account,Stage,Pipeline,Contact,Close Date,Millions\n' +
        'one,lookup LTD,Engaging,,boss@lookup.test,12/31/2026,1.05\n' +
        'two,https://www.lookup.test/,Won,sales,,1/2/2026,\n' +
        'three,,new,Partners,,,\n',
    );
    const args = [
      'import',
      'deals',
      'deals.csv',
      '--map-value',
      'Stage:engaging=Discovery',
      '--set',
      'currency=EUR',
      '--map',
      'Millions=estimated_value*1000000',
    ];
    const run = await service.crm(args);
    expect(run.stderr).toContain('read as month/day/year');
    expect(run.exitCode).toBe(0);
    const deals = await service.all('deals');
    const one = deals.find(({ name }) => name === 'one');
    const two = deals.find(({ name }) => name === 'two');
    const three = deals.find(({ name }) => name === 'three');
    const { id } = company.body.data;
    expect(one).toMatchObject({
      company_id: id,
      status: 'open',
      currency: 'EUR',
      estimated_value: 1_050_000,
      estimated_close_date: '2026-12-31',
    });
    expect(one.point_of_contact_id).toBe(contact.body.data.id);
    expect(two).toMatchObject({ company_id: id, status: 'won', estimated_close_date: '2026-01-02' });
    expect(three).toMatchObject({ company_id: null, pipeline_id: pipeline.body.data.id });
    expect(three.stage_id).toBe(pipeline.body.data.stages[0].id);
  });
});

test('--format says what a file is, whatever its name and its first character', async () => {
  await service.write('said.json', '"[name",done\nnamed json,yes\n');
  const guessed = await service.crm(['import', 'tasks', 'said.json', '--map', '[name=name']);
  expect([guessed.exitCode, guessed.stderr]).toEqual([1, expect.stringContaining('JSON')]);
  const said = await service.crm(['import', 'tasks', 'said.json', '--map', '[name=name', '--format', 'csv']);
  expect([said.exitCode, said.stderr]).toEqual([0, expect.stringContaining('1 created')]);
});

test('what the rate limit makes of an import is said before the first row', async () => {
  await service.write('limited.csv', tasks('limited', 5));
  const limited = new Set(['/api/v2/authenticate', '/api/v2/tasks/batch']);
  service.between = async ({ path }, answer) => {
    if (limited.delete(path)) return new Response('{}', { status: 429, headers: { 'Retry-After': '1' } });
    const response = await answer();
    if (!path.endsWith('/authenticate')) return response;
    const body = (await response.json()) as Json;
    Object.assign(body.data.key, { id: 'KEY', requests_per_minute: 2 });
    return Response.json(body);
  };
  const run = await service.crm(['import', 'tasks', 'limited.csv', '--batch-size', '1']);
  service.between = null;
  expect([run.exitCode, limited.size]).toEqual([0, 0]);
  const wait = 'crm: waiting 1 s for the rate limit\n';
  const said = [
    wait,
    'Importing tasks: 5 rows at 2 a minute: 3 min.\n',
    'At 1,000 a minute it takes less than a minute. To raise the limit, ask the operator to run: crm keys update KEY --requests-per-minute 1000\n',
    'Importing tasks: 5 of 5 rows (100%)',
  ];
  const places = said.map((words) => run.stderr.indexOf(words));
  expect([places, places.includes(-1)]).toEqual([places.toSorted((one, other) => one - other), false]);
  // Once rows are sent, the progress shows what is waited for, and its ETA knows.
  expect(run.stderr.split(wait)).toHaveLength(2);
});

describe('standard input', () => {
  const line = (row: object): string => `${JSON.stringify(row)}\n`;

  test('a field that turns up late and is not known rejects its row; an early one refuses the import', async () => {
    const many = Array.from({ length: 120 }, (_, index) => line({ name: `late ${index}` })).join('');
    const args = ['import', 'tasks', '-', '--errors', 'late.ndjson'];
    const late = await service.crm(args, { stdin: many + line({ name: 'late x', nonsense: 1 }) });
    expect([late.exitCode, late.stderr]).toEqual([3, expect.stringContaining('120 created, 1 rejected')]);
    expect(JSON.parse(await service.read('late.ndjson'))).toMatchObject({
      name: 'late x',
      _path: 'nonsense',
      _line: 121,
    });
    const early = await service.crm(args, { stdin: line({ name: 'early', nonsense: 1 }) });
    expect([early.exitCode, early.stderr]).toEqual([2, expect.stringContaining('"nonsense"')]);
  });

  test('rows are stored while others are still to come', async () => {
    await service.write('first.csv', tasks('stream', 300));
    await service.write('rest.csv', 'stream last\n');
    service.between = async ({ isBatch }, answer) => {
      if (isBatch) await service.write('stored', '');
      return answer();
    };
    using sandbox = new Sandbox();
    Object.assign(sandbox.env, { CRM_URL: service.url, CRM_API_KEY: service.harness.v2 });
    const script = `cd '${service.folder}'
      { cat first.csv; until [ -e stored ]; do sleep 0.02; done; cat rest.csv; } | "$@"`;
    const run = await sandbox.shell(script, ['import', 'tasks', '-']);
    service.between = null;
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('301 created')]);
  });

  test('rejected rows go to import-errors.csv unless another place is named', async () => {
    const run = await service.crm(['import', 'tasks', '-'], { stdin: 'name,done\nx,maybe\n' });
    expect(run.exitCode).toBe(3);
    expect(await service.read('import-errors.csv')).toContain(
      '2,VALIDATION_FAILED,done,must be true or false,',
    );
  });

  test('is not a file by any of its names: no journal, and other rows each time', async () => {
    for (const path of ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']) {
      const run = await service.crm(['import', 'tasks', path], { stdin: `name,done\n${path},maybe\n` });
      expect([path, run.exitCode]).toEqual([path, 3]);
      expect(run.stderr).toContain('See import-errors.csv for the reason');
      expect(await service.read('import-errors.csv')).toContain(path);
      expect([existsSync(`${path}.crm-journal`), existsSync(`${path}.errors.csv`)]).toEqual([false, false]);
    }
  });
});

describe('a dry run', () => {
  test('finds what a run would reject and writes nothing but a named errors file', async () => {
    await service.write(
      'dry.csv',
      'name,company,deal_id\na,Unheard Of Inc,\nb,,019b76da-a800-7000-8000-000000000001\nc,,\n',
    );
    const before = (await service.all('tasks')).length;
    const run = await service.crm(['import', 'tasks', 'dry.csv', '--dry-run']);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('2 of 3 rows would be rejected');
    expect(existsSync(join(service.folder, 'dry.csv.errors.csv'))).toBe(false);
    expect(existsSync(join(service.folder, 'dry.csv.crm-journal'))).toBe(false);
    await service.crm(['import', 'tasks', 'dry.csv', '--dry-run', '--errors', 'dry-errors.csv']);
    expect(lines(await service.read('dry-errors.csv')).map((line) => line.split(',').slice(0, 3))).toEqual([
      ['_line', '_code', '_path'],
      ['2', 'RESOURCE_NOT_FOUND', 'company'],
      ['3', 'VALIDATION_FAILED', 'deal_id'],
    ]);
    expect((await service.all('tasks')).length).toBe(before);
    const fine = await service.crm([
      'import',
      'tasks',
      'dry.csv',
      '--dry-run',
      '--create-missing',
      '--map',
      'deal_id=-',
    ]);
    expect(fine.exitCode).toBe(0);
    expect(
      (await service.harness.send('GET', '/api/v2/companies?name=unheard%20of%20inc')).body.data,
    ).toEqual([]);
  });
});
