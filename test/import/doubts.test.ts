// `crm import` from end to end: rows of unknown fate, and imports that cannot begin.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
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

describe('rows of unknown fate', () => {
  /** A journal whose batches were sent long ago, or with another key, and never answered. */
  async function inDoubt(name: string, change: (sent: { sentAt: number }) => void): Promise<string[]> {
    await service.write(name, tasks(name, 20));
    const args = ['import', 'tasks', name, '--batch-size', '10', '--concurrency', '1'];
    await service.killed(args, 2);
    const journal = lines(await service.read(`${name}.crm-journal`));
    const last = JSON.parse(journal.pop() ?? '');
    expect(last.sent).toMatchObject({ number: 2 });
    change(last.sent);
    // What a crash has left of a line is none.
    const rest = [...journal, JSON.stringify(last), '{"settled":{"ba'].join('\n');
    await service.write(`${name}.crm-journal`, rest);
    return args;
  }

  test('are not sent again after the server has forgotten their keys, unless told to', async () => {
    const args = await inDoubt('forgotten', (sent) => {
      sent.sentAt -= 2 * 24 * 60 * 60 * 1000;
    });
    const run = await service.crm(args);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(
      'The rows in lines 12 to 21 were sent more than 23 hours ago, but no response arrived',
    );
    expect((await service.crm([...args, '--yes'])).exitCode).toBe(0);
    expect(await namesOf(service, 'forgotten')).toEqual(expectedNames('forgotten', 20));
  });

  test('nor with another key', async () => {
    const args = await inDoubt('strange', () => {});
    const { key } = await service.harness.issue();
    const run = await service.crm(args, { key });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('were sent with another API key, but no response arrived');
    expect((await service.crm(args)).exitCode).toBe(0);
    expect(await namesOf(service, 'strange')).toEqual(expectedNames('strange', 20));
  });

  test('a folder that cannot be written: no journal, errors beside the shell, and still nothing twice', async () => {
    // A name that is too long, and a folder instead of a file, are what root cannot write to either.
    const name = `${'r'.repeat(236)}.csv`;
    await service.write(`closed/${name}.errors.csv/x`, '');
    await service.write(
      `closed/${name}`,
      `${tasks('closed', 5)}`
        .replace('name', 'name,done')
        .replaceAll(/(\d{4})/g, '$1,no')
        .replace('0004,no', '0004,maybe'),
    );
    for (let twice = 0; twice < 2; twice += 1) {
      const run = await service.crm(['import', 'tasks', `closed/${name}`]);
      expect(run.exitCode).toBe(3);
      expect(run.stderr).toContain('so this import has no journal');
      expect(run.stderr).toContain(join(service.folder, `${name}.errors.csv`));
    }
    expect((await namesOf(service, 'closed')).length).toBe(4);
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
    [['contacts', 'nothing.csv'], 1, 'no such file'],
    [['contacts', '.'], 1, 'is a folder'],
    [['people', 'nothing.csv'], 2, 'Unknown resource "people"'],
    [['meetings', 'nothing.csv'], 2, 'crm ingest'],
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
    expect(run.stderr).toContain('Next: crm import tasks latin1.csv --encoding windows-1252\n');
    expect(service.batches).toEqual([]);
    const told = await service.crm(['import', 'tasks', 'latin1.csv', '--encoding', 'windows-1252']);
    expect(told.exitCode).toBe(0);
    expect((await service.all('tasks')).map(({ name }) => name)).toContain('José');
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
