// `crm import` from end to end: rejected rows, and rows whose record is there already.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { lines } from '../fixtures/import/tasks.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

describe('rejected rows', () => {
  const FILE =
    'First Name,Email,Company,Due\n' +
    'Ragged,r@rejected.test\n' +
    '"Two\nlines",bad-email,,\n' +
    'Lost,lost@rejected.test,Nowhere Ltd,\n' +
    'Twice,twice@rejected.test,Double,\n' +
    'Good,good@rejected.test,,\n' +
    'Again,GOOD@rejected.test,,\n';
  const args = ['--map', 'Due=-'];

  test('go to the errors file with line, code, path and message, and can be imported again once corrected', async () => {
    const { send } = service.harness;
    for (let twice = 0; twice < 2; twice += 1)
      await send('POST', '/api/v2/companies', { body: { name: 'Double' } });
    await service.write('rejected.csv', FILE);
    const run = await service.crm(['import', 'contacts', 'rejected.csv', ...args]);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('5 of 6 rows were rejected. See rejected.csv.errors.csv for the reasons.');
    expect(run.stderr).toContain('crm import contacts rejected.csv.errors.csv --map Due=-');
    const errors = await service.read('rejected.csv.errors.csv');
    const expected = [
      '_line,_code,_path,_message,First Name,Email,Company,Due',
      /^2,VALIDATION_INVALID_FORMAT,,the row has 2 columns but the header line has 4: .*,Ragged,r@rejected.test$/,
      /^3,VALIDATION_INVALID_FORMAT,email,.*,"Two$/,
      'lines",bad-email,,',
      /^5,RESOURCE_NOT_FOUND,company,"no company has the name ""Nowhere Ltd"".*",Lost,lost@rejected.test,Nowhere Ltd,$/,
      /^6,VALIDATION_FAILED,company,"several companies are named ""Double""; .*",Twice,twice@rejected.test,Double,$/,
      /^8,RESOURCE_CONFLICT,email,.*,Again,GOOD@rejected.test,,$/,
    ];
    expect(lines(errors)).toEqual(
      expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    );

    const corrected = errors
      .replace('Ragged,r@rejected.test', 'Ragged,r@rejected.test,,')
      .replace('bad-email', 'two@rejected.test')
      .replace('twice@rejected.test,Double', 'twice@rejected.test,')
      .replace('GOOD@rejected.test', 'again@rejected.test');
    await service.write('rejected.csv.errors.csv', corrected);
    const retry = await service.crm([
      'import',
      'contacts',
      'rejected.csv.errors.csv',
      ...args,
      '--create-missing',
    ]);
    expect(retry.exitCode).toBe(0);
    expect(retry.stderr).toContain('5 created, 0 rejected, 1 missing company created');
    expect(existsSync(join(service.folder, 'rejected.csv.errors.csv.errors.csv'))).toBe(false);
    const nowhere = await send('GET', '/api/v2/companies?name=nowhere%20ltd');
    const lost = await send('GET', '/api/v2/contacts?email=lost@rejected.test');
    expect(lost.body.data[0].company_id).toBe(nowhere.body.data[0].id);
  });

  test('name pipelines and stages of which there are several, and those that are missing', async () => {
    const { send } = service.harness;
    const stages = ['Open', 'open', 'Signed', 'Paid'].map((name, at) => ({
      name,
      type: at < 2 ? 'open' : 'won',
    }));
    for (const name of ['Twin', 'twin', 'Doubled'])
      await send('POST', '/api/v2/pipelines', { body: { name, stages } });
    const cells = ['TWIN,Paid', 'Doubled,OPEN', 'Doubled,Won', 'Doubled,Paid (Doubled)', 'Nowhere,Paid'];
    await service.write(
      'stages.csv',
      `Deal Name,Pipeline,Stage\n${cells.map((cell) => `x,${cell}`).join('\n')}\n`,
    );
    const run = await service.crm(['import', 'deals', 'stages.csv']);
    expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('1 created, 4 rejected')]);
    const told = lines(await service.read('stages.csv.errors.csv')).slice(1);
    expect(told.map((line) => line.split(',').slice(0, 3).join())).toEqual([
      '2,VALIDATION_FAILED,pipeline',
      '3,VALIDATION_FAILED,stage',
      '4,RESOURCE_NOT_FOUND,stage',
      '6,VALIDATION_FAILED,"pipeline',
    ]);
    const [twins = '', doubles = '', won = '', nowhere = ''] = told;
    expect(twins).toContain('several pipelines are named ""TWIN""');
    expect(doubles).toContain('the pipeline ""Doubled"" has two stages named ""OPEN""');
    expect(won).toContain('does not have a stage ""Won""; its stages are Open, open, Signed, Paid');
    expect(nowhere).toContain(
      'there is no pipeline ""Nowhere""; the pipelines are Sales, Twin, twin, Doubled',
    );
  });

  test('NDJSON keeps lines that are no JSON as text', async () => {
    await service.write('bad.ndjson', '{"name":"fine"}\n{"name":\n{"name":5,"title":"x"}\n');
    const run = await service.crm(['import', 'tasks', 'bad.ndjson', '--map', 'title=-', '--set', 'done=yes']);
    expect(run.exitCode).toBe(3);
    const [first] = lines(await service.read('bad.ndjson.errors.ndjson')).map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      _text: '{"name":',
      _line: 2,
      _code: 'VALIDATION_INVALID_FORMAT',
      _path: '',
    });
  });

  test('JSON goes to an NDJSON file, whose four columns are never taken for those of a row', async () => {
    const rows = [{ name: 'json a', done: true }, { name: 'json b', done: 'maybe' }, { name: '' }];
    await service.write('bad.json', JSON.stringify(rows, null, 2));
    expect((await service.crm(['import', 'tasks', 'bad.json'])).exitCode).toBe(3);
    const read = async (name: string) => lines(await service.read(name)).map((line) => JSON.parse(line));
    const first = await read('bad.json.errors.ndjson');
    const line = (rest: object) => ({ ...rest, _code: expect.any(String), _message: expect.any(String) });
    expect(first).toEqual([
      line({ name: 'json b', done: 'maybe', _line: 6, _path: 'done' }),
      line({ name: '', _line: 10, _path: 'name' }),
    ]);
    await service.write(
      'bad.json.errors.ndjson',
      first.map((row) => `${JSON.stringify(row).replace('maybe', 'no')}\n`).join(''),
    );
    const again = await service.crm(['import', 'tasks', 'bad.json.errors.ndjson']);
    expect([again.exitCode, again.stderr]).toEqual([3, expect.stringContaining('1 created, 1 rejected')]);
    expect(await read('bad.json.errors.ndjson.errors.ndjson')).toEqual([
      line({ name: '', _line: 2, _path: 'name' }),
    ]);
    const stdin = await service.crm(['import', 'tasks', '-'], { stdin: '{"name":"x","done":"maybe"}\n' });
    expect(stdin.stderr).toContain('See import-errors.ndjson for the reason');
  });

  test('--stop-after stops, and running it again goes on', async () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      index < 25 ? `stop ${index},maybe` : `stop ${index},yes`,
    );
    await service.write('stop.csv', `name,done\n${rows.join('\n')}\n`);
    const args = [
      'import',
      'tasks',
      'stop.csv',
      '--batch-size',
      '5',
      '--concurrency',
      '1',
      '--stop-after',
      '10',
    ];
    const first = await service.crm(args);
    expect(first.exitCode).toBe(3);
    expect(first.stderr).toContain('10 of 10 rows were rejected');
    expect(first.stderr).toContain('un the same command again to continue');
    await service.crm(args);
    const last = await service.crm(args);
    expect(last.stderr).toContain('Imported 5 of 30 tasks: 5 created, 25 rejected');
    expect(lines(await service.read('stop.csv.errors.csv')).length).toBe(26);
  });

  test('the command for the errors file says how its dates were read, for the few there may not tell', async () => {
    await service.write('dates.csv', 'name,due_date\nA,12/31/2026\n,1/2/2026\n');
    const run = await service.crm(['import', 'tasks', 'dates.csv', '-o', 'json']);
    expect(run.exitCode).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({ rejected: 1, date_format: 'mdy' });
    expect(run.stderr).toContain('1 of 2 rows was rejected');
    expect(run.stderr).toContain('run: crm import tasks dates.csv.errors.csv --date-format mdy\n');
  });

  test('an errors file can be named, but not as the input', async () => {
    await service.write('named.csv', 'name,done\nx,maybe\n');
    expect((await service.crm(['import', 'tasks', 'named.csv', '--errors', './named.csv'])).exitCode).toBe(2);
    expect((await service.crm(['import', 'tasks', 'named.csv', '--errors', 'why.csv'])).exitCode).toBe(3);
    expect(existsSync(join(service.folder, 'why.csv'))).toBe(true);
    expect(existsSync(join(service.folder, 'named.csv.errors.csv'))).toBe(false);
  });
});

describe('what is there already', () => {
  const FILE =
    'email,first_name,alt_emails\nold@dup.test,New,\nnew@dup.test,First,x@dup.test\nX@dup.test,Second,y@dup.test\n';
  let number = 0;

  async function importWith(policy: string) {
    number += 1;
    await service.write(`dup${number}.csv`, FILE.replaceAll('dup.test', `dup${number}.test`));
    const { send } = service.harness;
    const body = { email: `old@dup${number}.test`, first_name: 'Old', last_name: 'Kept' };
    await send('POST', '/api/v2/contacts', { body });
    const args = [
      'import',
      'contacts',
      `dup${number}.csv`,
      '--on-duplicate',
      policy,
      '-o',
      'json',
      '--batch-size',
      '1',
    ];
    const dry = await service.crm([...args, '--dry-run']);
    const run = await service.crm(args);
    const find = async (name: string) =>
      (await send('GET', `/api/v2/contacts?email=${name}@dup${number}.test`)).body.data[0];
    const counts = ({ stdout }: { stdout: string }) => {
      const { created, updated, skipped, rejected } = JSON.parse(stdout);
      return { created, updated, skipped, rejected };
    };
    expect(counts(dry)).toEqual(counts(run));
    return { run, dry, counts: counts(run), old: await find('old'), twin: await find('new') };
  }

  test('fail rejects the row, in a dry run too', async () => {
    const { run, dry, counts, old, twin } = await importWith('fail');
    expect([run.exitCode, dry.exitCode]).toEqual([3, 3]);
    expect(counts).toEqual({ created: 1, updated: 0, skipped: 0, rejected: 2 });
    expect([old.first_name, twin.first_name]).toEqual(['Old', 'First']);
    expect(await service.read(`dup${number}.csv.errors.csv`)).toContain('RESOURCE_CONFLICT');
  });

  test('skip leaves the record alone', async () => {
    const { run, counts, old, twin } = await importWith('skip');
    expect(run.exitCode).toBe(0);
    expect(counts).toEqual({ created: 1, updated: 0, skipped: 2, rejected: 0 });
    expect([old.first_name, twin.first_name]).toEqual(['Old', 'First']);
  });

  test('update patches it in the order of the file; emails are added, the primary one stays', async () => {
    const { run, counts, old, twin } = await importWith('update');
    expect(run.exitCode).toBe(0);
    expect(counts).toEqual({ created: 1, updated: 2, skipped: 0, rejected: 0 });
    expect(old).toMatchObject({ first_name: 'New', last_name: 'Kept' });
    expect(twin).toMatchObject({
      email: `new@dup${number}.test`,
      first_name: 'Second',
      alt_emails: [`x@dup${number}.test`, `y@dup${number}.test`],
    });
  });

  test('a company is found by its domain, in any spelling', async () => {
    await service.harness.send('POST', '/api/v2/companies', {
      body: { domain: 'dup.example', name: 'Old', city: 'Rome' },
    });
    await service.write('firms.csv', 'website,name,score\nhttps://www.DUP.example/about,New,5\n');
    const run = await service.crm([
      'import',
      'companies',
      'firms.csv',
      '--on-duplicate',
      'update',
      '--custom',
    ]);
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('0 created, 1 updated')]);
    const { body } = await service.harness.send('GET', '/api/v2/companies?domain=dup.example');
    expect(body.data[0]).toMatchObject({ name: 'New', city: 'Rome', custom: { score: '5' } });
  });

  test('an interaction that was there already is skipped', async () => {
    await service.write(
      'calls.csv',
      'type,direction,title,contact,primary_id\nEmail,outbound,Hello,a@calls.test,m1\nEMAIL,OUTBOUND,Hello,a@calls.test,m1\n',
    );
    for (const extra of [['--dry-run'], []]) {
      const run = await service.crm(['import', 'interactions', 'calls.csv', '-o', 'json', ...extra]);
      expect(JSON.parse(run.stdout)).toMatchObject({ created: 1, skipped: 1, rejected: 0 });
    }
  });
});
