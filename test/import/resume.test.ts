// `crm import` from end to end: killed, interrupted or cut off, and still every row once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type CommandChild, type ImportService, startImportService } from '../fixtures/import/service.ts';
import { expectedNames, lines, namesOf, tasks } from '../fixtures/import/tasks.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
  service.batches.length = 0;
});

describe('never a lost or doubled row', () => {
  test('killed in the middle and run again; then there is was already imported', async () => {
    await service.write('killed.csv', tasks('killed', 95));
    const args = ['import', 'tasks', 'killed.csv', '--batch-size', '10', '--concurrency', '3'];
    await service.killed(args, 5);
    expect((await namesOf(service, 'killed')).length).toBeLessThan(95);
    const again = await service.crm(args);
    expect(again.stderr).toContain('Resuming after row');
    expect(again.exitCode).toBe(0);
    expect(await namesOf(service, 'killed')).toEqual(expectedNames('killed', 95));
    const third = await service.crm([...args, '-o', 'json']);
    expect(third.stderr).toContain('was already imported (95 created, 0 rejected). To import it again');
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'already', created: 95 });
    expect(await namesOf(service, 'killed')).toEqual(expectedNames('killed', 95));
  });

  test('killed, with the journal lost: the server still knows what it has seen', async () => {
    await service.write('lost.csv', tasks('lost', 30));
    const args = ['import', 'tasks', 'lost.csv', '--batch-size', '10'];
    await service.crm(args);
    await Bun.file(join(service.folder, 'lost.csv.crm-journal')).delete();
    const again = await service.crm(args);
    expect(again.stderr).toContain('3 batches had already been sent. No row was imported twice.');
    expect(await namesOf(service, 'lost')).toEqual(expectedNames('lost', 30));
    // Rows that are read otherwise are others, and so are those of another file.
    const sent = new Set(service.batches.map(({ key }) => key));
    expect(sent.size).toBe(3);
    await Bun.file(join(service.folder, 'lost.csv.crm-journal')).delete();
    const mapped = await service.crm([...args, '--set', 'description=x']);
    await service.write('found.csv', tasks('found', 30));
    const other = await service.crm(['import', 'tasks', 'found.csv', '--batch-size', '10']);
    for (const { exitCode, stderr } of [mapped, other])
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('30 created')]);
    expect(service.batches.slice(6).map(({ key, isReplay }) => sent.has(key) || isReplay)).toEqual(
      Array(6).fill(false),
    );
  });

  test.each([
    ['interrupted', [], 'un the same command again to continue'],
    ['afresh', ['--no-resume'], 'un the command again without --no-resume to continue'],
  ])('%s %j: exit 130, how to go on, and all rows once after it', async (name, flags, said) => {
    await service.write(`${name}.csv`, tasks(name, 40));
    const args = ['import', 'tasks', `${name}.csv`, '--batch-size', '10', '--concurrency', '1'];
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
    child = service.start([...args, ...flags]);
    const run = await child.run;
    expect(run.exitCode).toBe(130);
    expect(run.stderr).toContain('Interrupted after 20 rows.');
    expect(run.stderr).toContain(said);
    service.between = null;
    expect((await service.crm(args)).exitCode).toBe(0);
    expect(await namesOf(service, name)).toEqual(expectedNames(name, 40));
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
    expect(await namesOf(service, 'storm')).toEqual(expectedNames('storm', 60));
    expect(service.batches.some(({ isReplay }) => isReplay)).toBe(true);
  });

  test.each([
    [[], 4],
    [['--concurrency', '2'], 2],
  ])('%j: so many batches are under way at once, and never more', async (flags, count) => {
    const file = `at-once-${count}.csv`;
    await service.write(file, tasks(`at-once-${count}`, 30));
    let [underWay, most] = [0, 0];
    const full = Promise.withResolvers<void>();
    service.between = async ({ isBatch }, answer) => {
      if (!isBatch) return answer();
      underWay += 1;
      most = Math.max(most, underWay);
      if (underWay === count) full.resolve();
      await full.promise;
      const response = await answer();
      underWay -= 1;
      return response;
    };
    const run = await service.crm(['import', 'tasks', file, '--batch-size', '3', ...flags]);
    expect([run.exitCode, most]).toEqual([0, count]);
  });

  test('rejected rows of a run that was cut off are in the errors file once', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, index) => `cut ${index},${index % 2 === 0 ? 'yes' : 'maybe'}`,
    );
    await service.write('cut.csv', `name,done\n${rows.join('\n')}\n`);
    const args = ['import', 'tasks', 'cut.csv', '--batch-size', '4', '--concurrency', '2'];
    await service.killed(args, 6);
    const again = await service.crm(args);
    expect(again.exitCode).toBe(3);
    expect(again.stderr).toContain('Imported 20 of 40 tasks: 20 created, 20 rejected');
    const names = lines(await service.read('cut.csv.errors.csv'))
      .slice(1)
      .map((line) => line.split(',').at(-2));
    expect(names).toEqual(rows.filter((row) => row.endsWith('maybe')).map((row) => row.split(',')[0]));
    expect((await namesOf(service, 'cut')).length).toBe(20);
  });

  test('the same file goes into another organization, but not twice into one by another key', async () => {
    await service.write('orgs.csv', tasks('orgs', 3));
    await service.crm(['import', 'tasks', 'orgs.csv']);
    const second = await service.harness.issue();
    const same = await service.crm(['import', 'tasks', 'orgs.csv'], { key: second.key });
    expect(same.stderr).toContain('was already imported');
    const other = await service.harness.issue({ orgNumber: service.harness.otherOrgNumber });
    for (const said of ['3 created', 'was already imported']) {
      const run = await service.crm(['import', 'tasks', 'orgs.csv'], { key: other.key });
      expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining(said)]);
    }
    expect((await service.all('tasks', other.key)).length).toBe(3);
    // The journal of the first is still there.
    expect((await service.crm(['import', 'tasks', 'orgs.csv'])).stderr).toContain('was already imported');
    expect((await namesOf(service, 'orgs')).length).toBe(3);
    const blind = await service.harness.issue({ scopes: ['tasks:write', 'tasks:read'] });
    const unread = await service.crm(['import', 'tasks', 'orgs.csv'], { key: blind.key });
    expect([unread.exitCode, unread.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
    // crm 0.2 did not know the organization.
    const journal = JSON.parse(await service.read('orgs.csv.crm-journal'));
    delete journal.organizationId;
    await service.write('orgs.csv.crm-journal', `${JSON.stringify(journal)}\n`);
    const older = await service.crm(['import', 'tasks', 'orgs.csv']);
    expect([older.exitCode, older.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
    const unsure = await service.crm(['import', 'tasks', 'orgs.csv'], { key: blind.key });
    expect(unsure.exitCode).toBe(1);
    expect(unsure.stderr).toContain('maybe into another organization');
  });
});
