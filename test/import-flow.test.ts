// `crm import` from end to end: real service, real socket, and what can go wrong between them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandChild, type ImportService, startImportService } from './fixtures/import/service.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
  service.batches.length = 0;
});

const lines = (text: string): string[] => text.trimEnd().split('\n');

/** CSV of so many tasks, which nothing makes unique: a doubled one would show. */
function tasks(label: string, count: number): string {
  const rows = Array.from({ length: count }, (_, index) => `${label} ${String(index).padStart(4, '0')}`);
  return `name\n${rows.join('\n')}\n`;
}

async function namesOf(label: string): Promise<string[]> {
  const all = await service.all('tasks');
  return all
    .map(({ name }) => String(name))
    .filter((name) => name.startsWith(`${label} `))
    .sort();
}

const expectedNames = (label: string, count: number): string[] => lines(tasks(label, count)).slice(1);

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
      'Deal,Account,Stage,Pipeline,Contact,Close Date\n' +
        'one,lookup LTD,Engaging,,boss@lookup.test,12/31/2026\n' +
        'two,https://www.lookup.test/,Won,sales,,1/2/2026\n' +
        'three,,new,Partners,,\n',
    );
    const args = [
      'import',
      'deals',
      'deals.csv',
      '--map-value',
      'Stage:engaging=Discovery',
      '--set',
      'currency=EUR',
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
      estimated_close_date: '2026-12-31',
    });
    expect(one.point_of_contact_id).toBe(contact.body.data.id);
    expect(two).toMatchObject({ company_id: id, status: 'won', estimated_close_date: '2026-01-02' });
    expect(three).toMatchObject({ company_id: null, pipeline_id: pipeline.body.data.id });
    expect(three.stage_id).toBe(pipeline.body.data.stages[0].id);
  });
});

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
    expect(run.stderr).toContain('5 rows of 6 were rejected; they are in rejected.csv.errors.csv');
    expect(run.stderr).toContain('crm import contacts rejected.csv.errors.csv --map Due=-');
    const errors = await service.read('rejected.csv.errors.csv');
    const expected = [
      '_line,_code,_path,_message,First Name,Email,Company,Due',
      /^2,VALIDATION_INVALID_FORMAT,,"the row has 2 columns, the header line has 4; .*",Ragged,r@rejected.test$/,
      /^3,VALIDATION_INVALID_FORMAT,email,.*,"Two$/,
      'lines",bad-email,,',
      /^5,RESOURCE_NOT_FOUND,company,"no company has the name ""Nowhere Ltd"".*",Lost,lost@rejected.test,Nowhere Ltd,$/,
      /^6,VALIDATION_FAILED,company,"several companies are called ""Double""; .*",Twice,twice@rejected.test,Double,$/,
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
    expect(retry.stderr).toContain('5 created, 0 rejected, and 1 missing company created');
    expect(existsSync(join(service.folder, 'rejected.csv.errors.csv.errors.csv'))).toBe(false);
    const nowhere = await send('GET', '/api/v2/companies?name=nowhere%20ltd');
    const lost = await send('GET', '/api/v2/contacts?email=lost@rejected.test');
    expect(lost.body.data[0].company_id).toBe(nowhere.body.data[0].id);
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
    expect(first.stderr).toContain('10 rows of 10 were rejected');
    expect(first.stderr).toContain('un the same command again to go on');
    await service.crm(args);
    const last = await service.crm(args);
    expect(last.stderr).toContain('Of 30 rows of tasks: 5 created, 25 rejected');
    expect(lines(await service.read('stop.csv.errors.csv')).length).toBe(26);
  });

  test('the command for the errors file says how its dates were read, for the few there may not tell', async () => {
    await service.write('dates.csv', 'name,due_date\nA,12/31/2026\n,1/2/2026\n');
    const run = await service.crm(['import', 'tasks', 'dates.csv', '-o', 'json']);
    expect(run.exitCode).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({ rejected: 1, date_format: 'mdy' });
    expect(run.stderr).toContain('1 row of 2 was rejected');
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

  test('rejected rows go to import-errors.csv unless another place is named', async () => {
    const run = await service.crm(['import', 'tasks', '-'], { stdin: 'name,done\nx,maybe\n' });
    expect(run.exitCode).toBe(3);
    expect(await service.read('import-errors.csv')).toContain('2,VALIDATION_INVALID_FORMAT,done,');
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
    expect(run.stderr).toContain('2 rows of 3 would be rejected');
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

describe('never a lost or doubled row', () => {
  test('killed in the middle and run again; then there is nothing left to do', async () => {
    await service.write('killed.csv', tasks('killed', 95));
    const args = ['import', 'tasks', 'killed.csv', '--batch-size', '10', '--concurrency', '3'];
    let child: CommandChild | undefined;
    let seen = 0;
    service.between = async ({ isBatch }, answer) => {
      const response = await answer();
      if (isBatch) seen += 1;
      // The fifth batch is in the service, but its sender dies before the answer comes.
      if (seen >= 5) child?.kill('SIGKILL');
      return response;
    };
    child = service.start(args);
    expect((await child.run).exitCode).not.toBe(0);
    expect((await namesOf('killed')).length).toBeLessThan(95);
    service.between = null;
    const again = await service.crm(args);
    expect(again.stderr).toContain('Resuming after row');
    expect(again.exitCode).toBe(0);
    expect(await namesOf('killed')).toEqual(expectedNames('killed', 95));
    const third = await service.crm([...args, '-o', 'json']);
    expect(third.stderr).toContain(
      'was imported before (95 created, 0 rejected); there is nothing left to do',
    );
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'already', created: 95 });
    expect(await namesOf('killed')).toEqual(expectedNames('killed', 95));
  });

  test('killed, with the journal lost: the server still knows what it has seen', async () => {
    await service.write('lost.csv', tasks('lost', 30));
    const args = ['import', 'tasks', 'lost.csv', '--batch-size', '10'];
    await service.crm(args);
    await Bun.file(join(service.folder, 'lost.csv.crm-journal')).delete();
    const again = await service.crm(args);
    expect(again.stderr).toContain('3 of the batches had been sent before; no row is in twice.');
    expect(await namesOf('lost')).toEqual(expectedNames('lost', 30));
  });

  test('interrupted: exit 130, how to go on, and all rows once after it', async () => {
    await service.write('interrupted.csv', tasks('interrupted', 40));
    const args = ['import', 'tasks', 'interrupted.csv', '--batch-size', '10', '--concurrency', '1'];
    let child: CommandChild | undefined;
    let seen = 0;
    service.between = async ({ isBatch }, answer) => {
      if (isBatch) seen += 1;
      if (!isBatch || seen < 3) return answer();
      const response = await answer();
      child?.kill('SIGINT');
      // The answer does not come before the command has ended by itself.
      await child?.run;
      return response;
    };
    child = service.start(args);
    const run = await child.run;
    expect(run.exitCode).toBe(130);
    expect(run.stderr).toContain('Interrupted after 20 rows.');
    expect(run.stderr).toContain('un the same command again');
    service.between = null;
    expect((await service.crm(args)).exitCode).toBe(0);
    expect(await namesOf('interrupted')).toEqual(expectedNames('interrupted', 40));
  });

  test('answers lost, connections cut, a failing server and a rate limit are all got over', async () => {
    await service.write('storm.csv', tasks('storm', 60));
    const troubles: ((answer: () => Promise<Response>) => Promise<Response>)[] = [
      async (answer) => {
        await answer();
        return new Response('bad gateway', { status: 502 });
      },
      async () => new Response('{}', { status: 503 }),
      async () => new Response('{}', { status: 429, headers: { 'Retry-After': '1' } }),
      async (answer) => {
        const response = await answer();
        service.cutConnections();
        return response;
      },
    ];
    service.between = async ({ isBatch }, answer) => {
      const trouble = isBatch ? troubles.shift() : undefined;
      return trouble === undefined ? answer() : trouble(answer);
    };
    const run = await service.crm([
      'import',
      'tasks',
      'storm.csv',
      '--batch-size',
      '10',
      '--concurrency',
      '2',
    ]);
    expect(run.exitCode).toBe(0);
    expect(troubles).toEqual([]);
    expect(await namesOf('storm')).toEqual(expectedNames('storm', 60));
    expect(service.batches.some(({ isReplay }) => isReplay)).toBe(true);
  });

  test('rejected rows of a run that was cut off are in the errors file once', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, index) => `cut ${index},${index % 2 === 0 ? 'yes' : 'maybe'}`,
    );
    await service.write('cut.csv', `name,done\n${rows.join('\n')}\n`);
    const args = ['import', 'tasks', 'cut.csv', '--batch-size', '4', '--concurrency', '2'];
    let child: CommandChild | undefined;
    let seen = 0;
    service.between = async ({ isBatch }, answer) => {
      const response = await answer();
      if (isBatch) seen += 1;
      if (seen >= 6) child?.kill('SIGKILL');
      return response;
    };
    child = service.start(args);
    await child.run;
    service.between = null;
    const again = await service.crm(args);
    expect(again.exitCode).toBe(3);
    expect(again.stderr).toContain('Of 40 rows of tasks: 20 created, 20 rejected');
    const names = lines(await service.read('cut.csv.errors.csv'))
      .slice(1)
      .map((line) => line.split(',').at(-2));
    expect(names).toEqual(rows.filter((row) => row.endsWith('maybe')).map((row) => row.split(',')[0]));
    expect((await namesOf('cut')).length).toBe(20);
  });

  test('another content or mapping starts anew; --no-resume imports again with new keys', async () => {
    await service.write('anew.csv', tasks('anew', 3));
    await service.crm(['import', 'tasks', 'anew.csv']);
    await service.write('anew.csv', tasks('anew', 4));
    const changed = await service.crm(['import', 'tasks', 'anew.csv']);
    expect(changed.stderr).toContain('starting anew');
    expect((await namesOf('anew')).length).toBe(7);
    await service.crm(['import', 'tasks', 'anew.csv', '--set', 'done=yes']);
    expect((await namesOf('anew')).length).toBe(11);
    await service.crm(['import', 'tasks', 'anew.csv', '--set', 'done=yes', '--no-resume']);
    expect((await namesOf('anew')).length).toBe(15);
  });

  test('the same file goes into another organization, but not twice into one by another key', async () => {
    await service.write('orgs.csv', tasks('orgs', 3));
    await service.crm(['import', 'tasks', 'orgs.csv']);
    const second = await service.harness.issue();
    const same = await service.crm(['import', 'tasks', 'orgs.csv'], { key: second.key });
    expect(same.stderr).toContain('nothing left to do');
    const other = await service.harness.issue({ orgId: service.harness.otherOrgId });
    const run = await service.crm(['import', 'tasks', 'orgs.csv'], { key: other.key });
    expect(run.stderr).toContain('of another organization; starting anew');
    expect((await service.all('tasks', other.key)).length).toBe(3);
    expect((await namesOf('orgs')).length).toBe(3);
    const blind = await service.harness.issue({ scopes: ['tasks:write', 'tasks:read'] });
    const unsure = await service.crm(['import', 'tasks', 'orgs.csv'], { key: blind.key });
    expect(unsure.exitCode).toBe(1);
    expect(unsure.stderr).toContain('whether it was into the same organization cannot be told');
  });
});

describe('rows of unknown fate', () => {
  /** A journal whose batches were sent long ago, or with another key, and never answered. */
  async function inDoubt(
    name: string,
    change: (state: { pending: { sentAt: number }[] }) => void,
  ): Promise<string[]> {
    await service.write(name, tasks(name, 20));
    const args = ['import', 'tasks', name, '--batch-size', '10', '--concurrency', '1'];
    let child: CommandChild | undefined;
    let seen = 0;
    service.between = async ({ isBatch }, answer) => {
      if (isBatch) seen += 1;
      if (seen >= 2) child?.kill('SIGKILL');
      return answer();
    };
    child = service.start(args);
    await child.run;
    service.between = null;
    const state = JSON.parse(await service.read(`${name}.crm-journal`));
    expect(state.pending.length).toBe(1);
    change(state);
    await service.write(`${name}.crm-journal`, JSON.stringify(state));
    return args;
  }

  test('are not sent again after the server has forgotten their keys, unless told to', async () => {
    const args = await inDoubt('forgotten', (state) => {
      for (const batch of state.pending) batch.sentAt -= 2 * 24 * 60 * 60 * 1000;
    });
    const run = await service.crm(args);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(
      'The rows of lines 12 to 21 were sent more than 23 hours ago without an answer',
    );
    expect((await service.crm([...args, '--yes'])).exitCode).toBe(0);
    expect(await namesOf('forgotten')).toEqual(expectedNames('forgotten', 20));
  });

  test('nor with another key', async () => {
    const args = await inDoubt('strange', () => {});
    const { key } = await service.harness.issue();
    const run = await service.crm(args, { key });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('were sent with another API key without an answer');
    expect((await service.crm(args)).exitCode).toBe(0);
    expect(await namesOf('strange')).toEqual(expectedNames('strange', 20));
  });

  test('a folder that cannot be written: no journal, errors beside the shell, and still nothing twice', async () => {
    // A folder in the place of the file is what root cannot write to either.
    await service.write('closed/rows.csv.crm-journal.tmp/x', '');
    await service.write('closed/rows.csv.errors.csv/x', '');
    await service.write(
      'closed/rows.csv',
      `${tasks('closed', 5)}`
        .replace('name', 'name,done')
        .replaceAll(/(\d{4})/g, '$1,no')
        .replace('0004,no', '0004,maybe'),
    );
    for (let twice = 0; twice < 2; twice += 1) {
      const run = await service.crm(['import', 'tasks', 'closed/rows.csv']);
      expect(run.exitCode).toBe(3);
      expect(run.stderr).toContain('cannot be written, so there will be no journal');
      expect(run.stderr).toContain(join(service.folder, 'rows.csv.errors.csv'));
    }
    expect((await namesOf('closed')).length).toBe(4);
  });

  test('an errors file that was moved away is begun again', async () => {
    await service.write('moved.csv', 'name,done\na,maybe\nb,no\nc,maybe\n');
    const args = [
      'import',
      'tasks',
      'moved.csv',
      '--batch-size',
      '1',
      '--concurrency',
      '1',
      '--stop-after',
      '1',
    ];
    expect((await service.crm(args)).exitCode).toBe(3);
    await Bun.file(join(service.folder, 'moved.csv.errors.csv')).delete();
    expect((await service.crm(args)).exitCode).toBe(3);
    expect(lines(await service.read('moved.csv.errors.csv')).map((line) => line.split(',').at(-2))).toEqual([
      'name',
      'c',
    ]);
  });
});

describe('what cannot begin', () => {
  test.each([
    [['contacts', 'nothing.csv'], 1, 'there is no such file'],
    [['contacts', '.'], 1, 'is a folder'],
    [['people', 'nothing.csv'], 2, 'There is no resource "people"'],
    [['meetings', 'nothing.csv'], 2, 'read-only'],
    [['contacts', 'nothing.csv', '--batch-size', '101'], 2, 'from 1 to 100'],
    [['contacts', 'nothing.csv', '--format', 'xml'], 2, 'xml'],
  ])('%p: exit %d', async (args, exitCode, message) => {
    const run = await service.crm(['import', ...args]);
    expect(run.exitCode).toBe(exitCode);
    expect(run.stderr).toContain(message);
    expect(run.stderr).toContain('Next: ');
    expect(run.stdout).toBe('');
  });

  test('bytes that are not UTF-8 stop it before the first row', async () => {
    const latin1 = Buffer.from('name\nfine\nJos\u00e9\n', 'latin1');
    await service.write('latin1.csv', latin1);
    const run = await service.crm(['import', 'tasks', 'latin1.csv']);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain('latin1.csv is not UTF-8: line 3');
    expect(run.stderr).toContain("iconv -f WINDOWS-1252 -t UTF-8 'latin1.csv' > 'latin1.utf8.csv'");
    expect(service.batches).toEqual([]);
  });

  test('a key without the scope: exit 4, and nothing is sent twice', async () => {
    await service.write('scope.csv', tasks('scope', 2));
    const { key } = await service.harness.issue({ scopes: ['contacts:read'] });
    const run = await service.crm(['import', 'tasks', 'scope.csv'], { key });
    expect(run.exitCode).toBe(4);
    expect(run.stderr).toContain('tasks:write');
    expect(
      (await service.crm(['import', 'tasks', 'scope.csv'], { key: 'service_live_wrong' })).exitCode,
    ).toBe(4);
  });

  test('slashed dates that do not tell, and any from standard input', async () => {
    const text = 'name,close date\nx,1/2/2026\n';
    await service.write('slashed.csv', text);
    const file = await service.crm(['import', 'deals', 'slashed.csv']);
    expect(file.exitCode).toBe(2);
    expect(file.stderr).toContain('--date-format');
    const stdin = await service.crm(['import', 'deals', '-'], {
      stdin: text.replace('1/2/2026', '12/31/2026'),
    });
    expect(stdin.exitCode).toBe(2);
    const told = await service.crm(['import', 'deals', '-', '--date-format', 'dmy'], { stdin: text });
    expect(told.exitCode).toBe(0);
    expect((await service.all('deals')).find(({ name }) => name === 'x').estimated_close_date).toBe(
      '2026-02-01',
    );
  });
});
