// `crm import` of a file that was imported before: what is sent again, and what never is unasked.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, linkSync, readdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
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

/** Names of the files beside an input, the input itself left out. */
const beside = (name: string): string[] =>
  readdirSync(service.folder)
    .filter((one) => one.startsWith(`${name}.`))
    .sort();

describe('a finished import', () => {
  test('run again does nothing, and ends as it did before', async () => {
    await service.write('ended.csv', 'name,done\nended 1,yes\nended 2,maybe\n');
    const first = await service.crm(['import', 'tasks', 'ended.csv']);
    const again = await service.crm(['import', 'tasks', 'ended.csv', '-o', 'json']);
    expect([first.exitCode, again.exitCode]).toEqual([3, 3]);
    expect(again.stderr).toContain('ended.csv was already imported (1 created, 1 rejected');
    expect(again.stderr).toContain('1 of 2 rows was rejected. See ended.csv.errors.csv for the reason.');
    expect(JSON.parse(again.stdout)).toMatchObject({
      ...{ status: 'already', rows: 2, created: 1, rejected: 1, errors_file: 'ended.csv.errors.csv' },
    });
    expect(service.batches.length).toBe(1);
    await service.write('ended.csv.errors.csv', 'corrected by hand');
    expect((await service.crm(['import', 'tasks', 'ended.csv'])).stderr).toContain('in ended.csv.errors.csv');
    expect(await service.read('ended.csv.errors.csv')).toBe('corrected by hand');
  });

  test('with other values sends the rejected rows alone, and the errors file holds what still is', async () => {
    const rows = ['a,yes', 'b,maybe', 'c,perhaps', 'd,no', 'e,maybe'].map((row) => `values ${row}`);
    await service.write('values.csv', `name,done\n${rows.join('\n')}\n`);
    const args = ['import', 'tasks', 'values.csv', '--batch-size', '2'];
    expect((await service.crm(args)).exitCode).toBe(3);
    const second = await service.crm([...args, '--map-value', 'done:maybe=yes']);
    expect([second.exitCode, second.stderr]).toEqual([
      3,
      expect.stringContaining('Imported 2 of 3 tasks: 2 created, 1 rejected'),
    ]);
    expect(lines(await service.read('values.csv.errors.csv')).map((line) => line.split(',').at(-2))).toEqual([
      'name',
      'values c',
    ]);
    const wide = ['--map-value', 'done:maybe=yes', '--map-value', 'done:perhaps=no'];
    const third = await service.crm([...args, ...wide, '-o', 'json']);
    expect(JSON.parse(third.stdout)).toMatchObject({ rows: 1, created: 1, rejected: 0, status: 'finished' });
    expect(beside('values.csv')).toEqual(['values.csv.crm-journal']);
    const fourth = await service.crm([...args, ...wide]);
    expect([fourth.exitCode, fourth.stderr]).toEqual([0, expect.stringContaining('5 created, 0 rejected')]);
    expect(await namesOf(service, 'values')).toEqual('abcde'.split('').map((one) => `values ${one}`));
  });

  test('with --on-duplicate or --create-missing too; corrections in the errors file are moved aside', async () => {
    const { send } = service.harness;
    await send('POST', '/api/v2/contacts', { body: { email: 'old@again.test', first_name: 'Old' } });
    await service.write(
      'people.csv',
      'email,first_name,company\nold@again.test,New,\nx@again.test,X,Missing Ltd\ny@again.test,Y,\n',
    );
    expect((await service.crm(['import', 'contacts', 'people.csv'])).exitCode).toBe(3);
    await service.write('people.csv.errors.csv', 'corrected by hand');
    const update = await service.crm(['import', 'contacts', 'people.csv', '--on-duplicate', 'update']);
    expect([update.exitCode, update.stderr]).toEqual([3, expect.stringContaining('1 updated, 1 rejected')]);
    expect(update.stderr).toContain('renamed the existing people.csv.errors.csv to people.csv.errors.1.csv');
    expect(await service.read('people.csv.errors.1.csv')).toBe('corrected by hand');
    const made = await service.crm(['import', 'contacts', 'people.csv', '--create-missing']);
    expect([made.exitCode, made.stderr]).toEqual([0, expect.stringContaining('1 missing company created')]);
    expect((await service.all('contacts')).map(({ first_name }) => first_name).toSorted()).toEqual([
      'New',
      'X',
      'Y',
    ]);
  });
});

test('cut off, and gone on with under other settings: every row once, the rejected ones too', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => `cut ${index},${index % 4 === 0 ? 'maybe' : 'yes'}`);
  await service.write('cut.csv', `name,done\n${rows.join('\n')}\n`);
  const args = ['import', 'tasks', 'cut.csv', '--batch-size', '4', '--concurrency', '2'];
  await service.killed(args, 6);
  const again = await service.crm([...args, '--map-value', 'done:maybe=no']);
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('0 rejected')]);
  expect(await namesOf(service, 'cut')).toEqual(rows.map((row) => row.replace(/,.*/, '')).sort());
  expect(beside('cut.csv')).toEqual(['cut.csv.crm-journal']);
});

describe('other rows under the same name', () => {
  test('are refused after an import, and so is another mapping', async () => {
    await service.write('repeat.csv', 'name,done\nrepeat 1,yes\nrepeat 2,maybe\n');
    await service.crm(['import', 'tasks', 'repeat.csv']);
    const mapped = await service.crm(['import', 'tasks', 'repeat.csv', '--set', 'description=x']);
    expect([mapped.exitCode, mapped.stderr]).toEqual([
      2,
      expect.stringContaining('repeat.csv was already imported, with another mapping'),
    ]);
    await service.write('repeat.csv', 'name,done\nrepeat 1,yes\nrepeat 2,no\n');
    const changed = await service.crm(['import', 'tasks', 'repeat.csv']);
    expect([changed.exitCode, changed.stderr]).toEqual([
      2,
      expect.stringContaining('repeat.csv was already imported, and the file has changed since'),
    ]);
    expect(changed.stderr).toMatch(/in the errors file.*\n.*another name.*\n.*--no-resume/);
    expect((await namesOf(service, 'repeat')).length).toBe(1);
  });

  test('are refused in the middle of one, and so is another mapping; the same rows go on', async () => {
    const rows = tasks('begun', 40);
    await service.write('begun.csv', rows);
    const args = ['import', 'tasks', 'begun.csv', '--batch-size', '4', '--concurrency', '1'];
    await service.killed(args, 4);
    const stored = await namesOf(service, 'begun');
    const mapped = await service.crm([...args, '--set', 'description=x']);
    await service.write('begun.csv', rows.replace('begun 0039', 'begun x'));
    const changed = await service.crm(args);
    for (const [run, what] of [
      [mapped, 'with another mapping'],
      [changed, 'and the file has changed since'],
    ] as const) {
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toMatch(
        new RegExp(
          `crm: The first \\d+ rows of begun\\.csv were already imported, ${what}\\.\n[^]*--no-resume`,
        ),
      );
    }
    expect(await namesOf(service, 'begun')).toEqual(stored);
    await service.write('begun.csv', rows);
    expect((await service.crm(args)).exitCode).toBe(0);
    expect(await namesOf(service, 'begun')).toEqual(expectedNames('begun', 40));
  });

  test.each([
    ['tasks', 'name', 'skip', 'again, as new records.'],
    [
      'contacts',
      'first_name',
      'fail',
      'again, as new records; rows whose email already exists are rejected.',
    ],
    ['companies', 'name', 'skip', 'again, except those whose domain already exists.'],
    ['contacts', 'first_name', 'update', 'again, which updates contacts whose email already exists.'],
  ])(
    'what --no-resume makes of %s is reported (%s, --on-duplicate %s)',
    async (resource, field, what, told) => {
      const file = `${resource}-${what}.csv`;
      await service.write(file, `${field}\nchanged\n`);
      await service.crm(['import', resource, file]);
      await service.write(file, `${field}\nchanged\nsince\n`);
      const { exitCode, stderr } = await service.crm(['import', resource, file, '--on-duplicate', what]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(told)]);
    },
  );

  test('come in with --no-resume, under new keys; the errors file is moved aside', async () => {
    await service.write('fresh.csv', 'name,done\nfresh 1,yes\nfresh 2,maybe\n');
    const args = ['import', 'tasks', 'fresh.csv'];
    await service.crm(args);
    const run = await service.crm([...args, '--no-resume']);
    expect([run.exitCode, run.stderr]).toEqual([
      3,
      expect.stringContaining('renamed the existing fresh.csv.errors.csv to fresh.csv.errors.1.csv'),
    ]);
    expect(await namesOf(service, 'fresh')).toEqual(['fresh 1', 'fresh 1']);
    expect(await service.read('fresh.csv.errors.1.csv')).toBe(await service.read('fresh.csv.errors.csv'));
  });

  test('another resource reads the same file with a journal of its own', async () => {
    await service.write('both.csv', 'name\nboth 1\nboth 2\n');
    await service.crm(['import', 'tasks', 'both.csv']);
    expect((await service.crm(['import', 'companies', 'both.csv'])).stderr).toContain('2 created');
    for (const resource of ['tasks', 'companies']) {
      const again = await service.crm(['import', resource, 'both.csv']);
      expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('was already imported')]);
    }
  });
});

test('two at once: the second names the process that imports these rows, from whatever file', async () => {
  await service.write('twice.csv', tasks('twice', 30));
  await service.write('copy.csv', tasks('twice', 30));
  let isFirst = true;
  let second: { exitCode: number; stderr: string } | undefined;
  service.between = async ({ isBatch }, answer) => {
    if (isBatch && isFirst) {
      isFirst = false;
      second = await service.crm(['import', 'tasks', 'copy.csv', '--batch-size', '10']);
    }
    return answer();
  };
  const first = await service.crm(['import', 'tasks', 'twice.csv', '--batch-size', '10']);
  expect(first.exitCode).toBe(0);
  expect([second?.exitCode, second?.stderr]).toEqual([
    1,
    expect.stringMatching(/Process \d+ is importing the same rows in the same organization\.\nNext: /),
  ]);
  expect(await namesOf(service, 'twice')).toEqual(expectedNames('twice', 30));
  expect(beside('copy.csv')).toEqual([]);
});

describe('files beside the input', () => {
  test('are readable by their owner alone', async () => {
    await service.write('private.csv', 'name,done\nprivate 1,yes\nprivate 2,maybe\n');
    chmodSync(join(service.folder, 'private.csv'), 0o644);
    await service.crm(['import', 'tasks', 'private.csv']);
    const modes = beside('private.csv').map((name) => [
      name,
      statSync(join(service.folder, name)).mode & 0o777,
    ]);
    expect(modes).toEqual([
      ['private.csv.crm-journal', 0o600],
      ['private.csv.errors.csv', 0o600],
    ]);
  });

  test('hold no row once they are in', async () => {
    await service.write('bodies.csv', tasks('bodies', 20));
    await service.crm(['import', 'tasks', 'bodies.csv']);
    expect(await service.read('bodies.csv.crm-journal')).not.toContain('bodies 0001');
  });

  test.each(['symbolic', 'hard'])('a %s link instead of the errors file is not followed', async (kind) => {
    const name = `${kind}.csv`;
    await service.write(name, 'name,done\nx,maybe\n');
    const target = await service.write(`${kind}-precious`, 'precious');
    const laid = join(service.folder, `${name}.errors.csv`);
    if (kind === 'hard') linkSync(target, laid);
    else symlinkSync(target, laid);
    expect((await service.crm(['import', 'tasks', name])).exitCode).toBe(3);
    expect(await service.read(`${kind}-precious`)).toBe('precious');
    expect(await service.read(`${name}.errors.csv`)).toContain('_line');
  });

  test.each([
    ['symbolic', symlinkSync, 'it is a symbolic link'],
    ['hard', linkSync, 'it is a link, or belongs to another user'],
  ] as const)('a journal that is a %s link is not used', async (kind, link, reason) => {
    const name = `journal-${kind}.csv`;
    await service.write(name, tasks(name, 1));
    await service.crm(['import', 'tasks', name]);
    const [laid, target] = [`${name}.crm-journal`, `${name}-elsewhere`].map((one) =>
      join(service.folder, one),
    );
    renameSync(laid ?? '', target ?? '');
    link(target ?? '', laid ?? '');
    const run = await service.crm(['import', 'tasks', name]);
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(`crm-journal: ${reason}.`)]);
    const before = await service.read(`${name}-elsewhere`);
    expect((await service.crm(['import', 'tasks', name, '--no-resume'])).exitCode).toBe(0);
    expect(await service.read(`${name}-elsewhere`)).toBe(before);
  });

  test('a journal names no file that is then written', async () => {
    await service.write('crafted.csv', 'name,done\nx,maybe\ny,maybe\n');
    const args = ['import', 'tasks', 'crafted.csv', '--batch-size', '1', '--concurrency', '1'];
    await service.crm([...args, '--stop-after', '1']);
    const precious = await service.write('precious', 'precious');
    const journal = await service.read('crafted.csv.crm-journal');
    const crafted = journal.replaceAll('"crm_journal":2', `"crm_journal":2,"errorsFile":"${precious}"`);
    await service.write('crafted.csv.crm-journal', crafted);
    expect((await service.crm(args)).exitCode).toBe(3);
    expect(await service.read('precious')).toBe('precious');
    expect(lines(await service.read('crafted.csv.errors.csv')).length).toBe(3);
  });

  test('--errors names no device', async () => {
    await service.write('device.csv', 'name,done\nx,maybe\n');
    const run = await service.crm(['import', 'tasks', 'device.csv', '--errors', '/dev/null']);
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('/dev/null: it is not a file')]);
    expect(existsSync('/dev/null')).toBe(true);
  });
});
