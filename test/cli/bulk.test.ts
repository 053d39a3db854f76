// `update`, `delete` and `get --from`: many records by their IDs, in order, each once, whatever ends the command.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Between,
  type CommandChild,
  type ImportService,
  startImportService,
} from '../fixtures/import/service.ts';
import { lines } from '../fixtures/import/tasks.ts';
import { ndjson, Sandbox } from '../support/command.ts';
import { recordTotalsOf, setQuota } from '../support/quota.ts';
import { ABSENT, type Client, clientOf } from '../support/v2.ts';

const NOT_FOUND = 'Your organization has no task with this ID.';

let service: ImportService;
let api: Client;

beforeAll(async () => {
  service = await startImportService();
  api = clientOf(service.harness);
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
});

/** IDs of new tasks with names such as `label 7`. */
async function tasks(label: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < count; from += 100) {
    const some = Array.from({ length: Math.min(100, count - from) }, (_, at) => ({
      name: `${label} ${from + at}`,
    }));
    const { body } = await api.post('/tasks/batch', some);
    ids.push(...body.data.items.map((item: { data: { id: string } }) => item.data.id));
  }
  return ids;
}

const file = (name: string): string => join(service.folder, name);
const writeIds = (name: string, ids: readonly string[]) => service.write(name, `${ids.join('\n')}\n`);
const writeRows = (name: string, rows: readonly object[]) =>
  service.write(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
const isBulk = (path: string): boolean => /\/batch\/(update|delete|get)$/.test(path);
const namesLeft = async (label: string): Promise<string[]> =>
  (await service.all('tasks')).map(({ name }) => String(name)).filter((name) => name.startsWith(`${label} `));

describe('get --from', () => {
  test('prints the records in the order of the file, one as often as it is asked for', async () => {
    const ids = await tasks('get', 230);
    const asked = [...ids.toReversed(), ids[3] ?? '', ids[3] ?? ''];
    await writeIds('get.txt', asked);
    const run = await service.crm(['get', 'tasks', '--from', 'get.txt']);
    expect([run.exitCode, ndjson(run.stdout).map(({ id }) => id)]).toEqual([0, asked]);
    expect(run.stderr).toContain('Found 232 tasks (');
    expect(existsSync(file('get.txt.crm-journal-get'))).toBe(false);
    const [first] = ndjson(run.stdout);
    expect(first).toEqual(JSON.parse((await service.crm(['get', 'tasks', asked[0] ?? ''])).stdout));
  });

  test('writes every format, and only the fields asked for', async () => {
    const [one = '', two = ''] = await tasks('format', 2);
    await writeIds('format.txt', [two, one]);
    const get = async (...words: string[]): Promise<string> =>
      (await service.crm(['get', 'tasks', '--from', 'format.txt', '--fields', 'id,name', ...words])).stdout;
    expect(await get('-o', 'csv')).toBe(`id,name\n${two},format 1\n${one},format 0\n`);
    expect(JSON.parse(await get('-o', 'json'))).toEqual([
      { id: two, name: 'format 1' },
      { id: one, name: 'format 0' },
    ]);
    expect(await get('-o', 'table')).toStartWith('ID');
    await service.write('nothing.txt', '\n');
    expect(await service.crm(['get', 'tasks', '--from', 'nothing.txt', '-o', 'json'])).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
  });

  test('says which IDs are not found, prints the others, and ends with 3', async () => {
    const [one = '', two = ''] = await tasks('part', 2);
    await service.write('part.txt', `${one}\n${ABSENT}\nnobody\n{"name":"x"}\n{"id":5}\n{"id"\n${two}\n`);
    const run = await service.crm(['get', 'tasks', '--from', 'part.txt', '--errors', 'missing.ndjson']);
    expect([run.exitCode, ndjson(run.stdout).map(({ id }) => id)]).toEqual([3, [one, two]]);
    expect(run.stderr).toContain('Found 2 of 7 tasks');
    expect(run.stderr).toContain(`  line 2, ${ABSENT}: ${NOT_FOUND} (RESOURCE_NOT_FOUND)`);
    expect(run.stderr).toContain('crm: 5 of 7 rows were not found. See missing.ndjson for the reasons.');
    const missing = ndjson(await service.read('missing.ndjson'));
    expect(missing.map(({ _line, _code }) => [_line, _code])).toEqual([
      [2, 'RESOURCE_NOT_FOUND'],
      [3, 'VALIDATION_INVALID_FORMAT'],
      [4, 'VALIDATION_REQUIRED_FIELD'],
      [5, 'VALIDATION_INVALID_FORMAT'],
      [6, 'VALIDATION_INVALID_FORMAT'],
    ]);
    // Without --errors, nothing is written next to the input of a command that only reads.
    await service.crm(['get', 'tasks', '--from', 'part.txt']);
    expect(existsSync(file('part.txt.errors.ndjson'))).toBe(false);
  });

  test('takes IDs in every form that other commands and tools write', async () => {
    const ids = await tasks('forms', 3);
    const forms: Record<string, string> = {
      lines: ids.join('\n'),
      'spaces, CR LF and a byte order mark': `\uFEFF${ids.join(' \r\n\r\n\t')}\r\n`,
      'quoted, as jq writes them': ids.map((id) => JSON.stringify(id)).join('\n'),
      'records of crm list': (await service.crm(['get', 'tasks', '--from', '-'], { stdin: ids.join('\n') }))
        .stdout,
      'an array of records': JSON.stringify(ids.map((id) => ({ id, name: 'x' }))),
    };
    for (const [form, stdin] of Object.entries(forms)) {
      const run = await service.crm(['get', 'tasks', '--from', '-', '-o', 'csv', '--fields', 'id'], {
        stdin,
      });
      expect([form, run.exitCode, lines(run.stdout).slice(1)]).toEqual([form, 0, ids]);
    }
  });

  test('reads what cannot be written, such as meetings', async () => {
    const run = await service.crm(['get', 'meetings', '--from', '-'], { stdin: ABSENT });
    expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('no meeting with this ID')]);
  });

  test('ends quietly when its reader has enough', async () => {
    const ids = await tasks('head', 300);
    await writeIds('head.txt', [...ids, ...ids, ...ids]);
    using sandbox = signedIn();
    const { code, stdout } = await sandbox.piped(
      ['get', 'tasks', '--from', file('head.txt'), '--quiet'],
      'head -1',
    );
    expect([code, ndjson(stdout).length]).toEqual([0, 1]);
  });
});

describe('delete --from', () => {
  test('deletes what the file names, keeps the rest, and says what it did', async () => {
    const ids = await tasks('gone', 120);
    await writeIds('gone.txt', ids.slice(0, 110));
    const run = await service.crm(['delete', 'tasks', '--from', 'gone.txt', '--yes', '-o', 'json']);
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain('Deleted 110 tasks: 110 deleted, 0 rejected (');
    const { request_ids, ...figures } = JSON.parse(run.stdout);
    expect(figures).toEqual({
      ...{ resource: 'tasks', rows: 110, deleted: 110, rejected: 0, errors_file: null },
      ...{ dry_run: false, status: 'finished', seconds: expect.any(Number) },
    });
    expect(request_ids).toEqual([expect.stringMatching(/^req_/), expect.stringMatching(/^req_/)]);
    expect(run.stderr).toContain(`To undo: crm undelete --request ${request_ids.join(' ')}`);
    expect((await namesLeft('gone')).length).toBe(10);
  });

  test('keeps rejected rows in an errors file, and run again does nothing and ends with 3 again', async () => {
    const [one = ''] = await tasks('bad', 1);
    await service.write('bad.txt', `${one}\n${ABSENT}\n${one}\n`);
    const args = ['delete', 'tasks', '--from', 'bad.txt', '--yes'];
    const run = await service.crm(args);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('Deleted 1 of 3 tasks: 1 deleted, 2 rejected');
    expect(run.stderr).toContain(
      `2 rows, first in line 2: ${NOT_FOUND} (RESOURCE_NOT_FOUND); ${ABSENT}, ${one}`,
    );
    expect(run.stderr).toContain(
      'crm: 2 of 3 rows were rejected. See bad.txt.errors.ndjson for the reasons.',
    );
    const errors = ndjson(await service.read('bad.txt.errors.ndjson'));
    expect(errors).toEqual(
      [ABSENT, one].map((id, at) => ({
        ...{ id, _line: at + 2, _code: 'RESOURCE_NOT_FOUND', _path: '', _message: NOT_FOUND },
      })),
    );
    const sent = countBulk();
    const again = await service.crm(args);
    expect([again.exitCode, sent()]).toEqual([3, 0]);
    expect(again.stderr).toContain(
      'The rows of bad.txt were already deleted (1 deleted, 2 rejected; rejected rows are in bad.txt.errors.ndjson). To send them again, use --no-resume.',
    );
    // The errors file can be sent as it is.
    expect(
      (await service.crm(['delete', 'tasks', '--from', 'bad.txt.errors.ndjson', '--yes'])).exitCode,
    ).toBe(3);
  });

  test('without a terminal needs --yes, before a key is looked for', async () => {
    await writeIds('unsure.txt', [ABSENT]);
    for (const from of ['unsure.txt', '-']) {
      const run = await service.crm(['delete', 'tasks', '--from', from], { key: '', stdin: ABSENT });
      expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('Add --yes')]);
    }
  });

  test('notes nothing beside standard input, by whatever name', async () => {
    for (const from of ['-', '/dev/stdin']) {
      const run = await service.crm(['delete', 'tasks', '--from', from, '--yes'], { stdin: ABSENT });
      expect([from, run.exitCode]).toEqual([from, 3]);
      expect(run.stderr).toContain('See delete-errors.ndjson');
      expect([existsSync(`${from}.crm-journal`), existsSync(file(`${from}.crm-journal`))]).toEqual([
        false,
        false,
      ]);
    }
  });

  test('on a terminal asks with the number of records, and only a yes deletes', async () => {
    const ids = await tasks('asked', 3);
    await writeIds('asked.txt', ids);
    using sandbox = signedIn();
    const remove = (answer: string) =>
      sandbox.onTerminal(['delete', 'tasks', '--from', file('asked.txt')], { when: '[y/N]', answer });
    const refused = await remove('n\r');
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining(`Delete the 3 tasks in ${file('asked.txt')}? [y/N]`),
    ]);
    expect((await remove('\u0003')).code).toBe(130);
    expect((await namesLeft('asked')).length).toBe(3);
    expect((await remove('y\r')).code).toBe(0);
    expect(await namesLeft('asked')).toEqual([]);
  });

  test('--dry-run says what would be, without --yes, a journal or an errors file', async () => {
    const ids = await tasks('dry', 3);
    await writeIds('dry.txt', [...ids, ABSENT]);
    const run = await service.crm(['delete', 'tasks', '--from', 'dry.txt', '--dry-run']);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain(
      'Checked 4 tasks, nothing was written: 3 would be deleted, 1 would be rejected',
    );
    expect((await namesLeft('dry')).length).toBe(3);
    expect(existsSync(file('dry.txt.crm-journal-delete'))).toBe(false);
    expect(existsSync(file('dry.txt.errors.ndjson'))).toBe(false);
  });
});

describe('update --from', () => {
  test('changes the given fields of each row, and counts those that already had their values', async () => {
    const [one, two, three] = await tasks('up', 3);
    await writeRows('up.ndjson', [
      { id: one, name: 'up one', done: true },
      { id: two, name: 'up 1' },
      { id: three, description: 'Third' },
    ]);
    const run = await service.crm(['update', 'tasks', '--from', 'up.ndjson', '-o', 'ndjson']);
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain('Updated 3 tasks: 2 updated, 1 unchanged, 0 rejected');
    expect(ndjson(run.stdout)).toMatchObject([{ rows: 3, updated: 2, unchanged: 1, rejected: 0 }]);
    expect(await api.fetch('tasks', one ?? '')).toMatchObject({ name: 'up one', done: true });
    expect(await api.fetch('tasks', three ?? '')).toMatchObject({ description: 'Third' });
  });

  test('sets a field of the command line in every row, for which IDs are enough', async () => {
    const made = await Promise.all(
      ['x', 'y', 'z'].map((first_name) => api.create('contacts', { first_name })),
    );
    const ids = made.map(({ id }) => String(id));
    const update = async (...words: string[]): Promise<{ exitCode: number; stderr: string }> =>
      service.crm(['update', 'contacts', '--from', ...words]);
    await writeIds('set.txt', ids);
    expect((await update('set.txt', 'title=CTO', 'custom.by=hand')).stderr).toContain('3 updated');
    for (const id of ids)
      expect(await api.fetch('contacts', id)).toMatchObject({ title: 'CTO', custom: { by: 'hand' } });
    // The command line wins over a row; custom fields come from both.
    await writeRows('both.ndjson', [{ id: ids[0], title: 'CEO', phone: '1', custom: { own: 1, by: 'row' } }]);
    expect((await update('both.ndjson', 'title=CFO', 'custom.by=')).exitCode).toBe(0);
    const { title, phone, custom } = await api.fetch('contacts', ids[0] ?? '');
    expect({ title, phone, custom }).toEqual({ title: 'CFO', phone: '1', custom: { own: 1 } });
    // Other values are another change, not a repetition.
    expect((await update('set.txt', 'phone=2')).stderr).toContain('3 updated');
    const none = await update('set.txt');
    expect([none.exitCode, none.stderr]).toEqual([3, expect.stringContaining('has no field to update')]);
  });

  test('keeps the order of the rows: a later one can need what an earlier one changed', async () => {
    const holder = await api.create('contacts', { email: 'swap@example.com' });
    const taker = await api.create('contacts', { email: 'taker@example.com' });
    const others = await Promise.all(
      Array.from({ length: 120 }, (_, at) => api.create('contacts', { phone: `${at}` })),
    );
    await writeRows('swap.ndjson', [
      { id: holder.id, email: 'moved@example.com' },
      ...others.map(({ id }) => ({ id, title: 'CTO' })),
      { id: taker.id, email: 'swap@example.com' },
      { id: taker.id, title: 'First' },
      { id: taker.id, title: 'Last' },
    ]);
    let isFirst = true;
    service.between = async ({ path }, answer) => {
      // Long enough for the second batch to overtake the first, if it were sent.
      if (isBulk(path) && isFirst) {
        isFirst = false;
        await Bun.sleep(500);
      }
      return answer();
    };
    expect((await service.crm(['update', 'contacts', '--from', 'swap.ndjson'])).exitCode).toBe(0);
    expect(await api.fetch('contacts', taker.id)).toMatchObject({ email: 'swap@example.com', title: 'Last' });
  });

  test('reports rows in the words of the server, with the command that sends them again', async () => {
    const [one = ''] = await tasks('wrong', 1);
    const rows = [
      { id: one, due_date: 'soon' },
      { id: one, nmae: 'x' },
      { id: ABSENT, name: 'x' },
      { name: 'x' },
    ];
    const twice = `{"id":"${one}","name":"a","name":"b"}`;
    await service.write('wrong.ndjson', [...rows.map((row) => JSON.stringify(row)), twice].join('\n'));
    const run = await service.crm(['update', 'tasks', '--from', 'wrong.ndjson', 'description=b c']);
    expect(run.exitCode).toBe(3);
    const errors = ndjson(await service.read('wrong.ndjson.errors.ndjson'));
    const single = await api.patch(`/tasks/${one}`, { due_date: 'soon' });
    expect(errors.map(({ _line, _code, _path }) => [_line, _code, _path])).toEqual([
      [1, single.body.error.code, 'due_date'],
      [2, 'VALIDATION_FAILED', 'nmae'],
      [3, 'RESOURCE_NOT_FOUND', ''],
      [4, 'VALIDATION_REQUIRED_FIELD', 'id'],
      [5, 'VALIDATION_INVALID_FORMAT', ''],
    ]);
    expect(errors[0]?._message).toBe(single.body.error.details[0].message);
    expect(run.stderr).toContain(
      "Correct them there, then run: crm update tasks --from wrong.ndjson.errors.ndjson 'description=b c'",
    );
    // Corrected there, it goes in; the four columns that the file adds are ignored.
    const corrected = errors.slice(0, 1).map((row) => ({ ...row, due_date: 1_767_225_600_000 }));
    await writeRows('wrong.ndjson.errors.ndjson', corrected);
    expect((await service.crm(['update', 'tasks', '--from', 'wrong.ndjson.errors.ndjson'])).exitCode).toBe(0);
    expect(await api.fetch('tasks', one)).toMatchObject({ due_date: 1_767_225_600_000 });
  });

  test('another file of the same name is another change; the same one was made', async () => {
    const [id] = await tasks('again', 1);
    const update = async (name: string, ...words: string[]): Promise<string> => {
      await writeRows('again.ndjson', [{ id, name }]);
      const run = await service.crm(['update', 'tasks', '--from', 'again.ndjson', ...words]);
      expect([name, run.exitCode]).toEqual([name, 0]);
      return run.stderr;
    };
    expect(await update('again A')).toContain('1 updated');
    expect(await update('again B')).toContain('1 updated');
    // Not the answer that the server stored for the first time.
    expect(await update('again A')).toContain('1 updated');
    expect(await namesLeft('again')).toEqual(['again A']);
    await api.patch(`/tasks/${id}`, { name: 'again C' });
    expect(await update('again A')).toContain('The rows of again.ndjson were already updated (1 updated,');
    expect(await namesLeft('again')).toEqual(['again C']);
    expect(await update('again A', '--no-resume')).toContain('1 updated');
    expect(await namesLeft('again')).toEqual(['again A']);
  });

  test('--dry-run writes nothing', async () => {
    const [id] = await tasks('try', 1);
    await writeRows('try.ndjson', [
      { id, name: 'try it' },
      { id: ABSENT, name: 'x' },
    ]);
    const run = await service.crm([
      'update',
      'tasks',
      '--from',
      'try.ndjson',
      '--dry-run',
      '--errors',
      'e.ndjson',
    ]);
    expect([run.exitCode, run.stderr]).toEqual([
      3,
      expect.stringContaining(
        'nothing was written: 1 would be updated, 0 would be unchanged, 1 would be rejected',
      ),
    ]);
    expect(await namesLeft('try')).toEqual(['try 0']);
    expect(ndjson(await service.read('e.ndjson')).length).toBe(1);
  });
});

/** Counts the requests of bulk commands from now on. */
function countBulk(): () => number {
  let count = 0;
  service.between = async ({ path }, answer) => {
    if (isBulk(path)) count += 1;
    return answer();
  };
  return () => count;
}

/** Lets `then` follow the answer to the request of that number, which never reaches the command in time. */
function atRequest(number: number, then: () => unknown): Between {
  let seen = 0;
  return async ({ path }, answer) => {
    const response = await answer();
    if (isBulk(path)) seen += 1;
    if (isBulk(path) && seen === number) await then();
    return response;
  };
}

describe('whatever ends the command', () => {
  const jobs = {
    delete: (label: string) => ['delete', 'tasks', '--from', `${label}.txt`, '--yes'],
    update: (label: string) => ['update', 'tasks', '--from', `${label}.txt`, 'done=yes'],
  };

  test.each(['delete', 'update'] as const)('%s, killed and run again, does every row once', async (verb) => {
    const label = `killed-${verb}`;
    const ids = await tasks(label, 1_250);
    await writeIds(`${label}.txt`, ids);
    let child: CommandChild | undefined;
    // The eighth batch is carried out, but its sender dies before the response arrives.
    service.between = atRequest(8, () => {
      child?.kill('SIGKILL');
      return child?.run;
    });
    child = service.start(jobs[verb](label));
    expect((await child.run).exitCode).not.toBe(0);
    let replays = 0;
    service.between = async ({ path }, answer) => {
      const response = await answer();
      if (isBulk(path) && response.headers.has('idempotent-replayed')) replays += 1;
      return response;
    };
    const again = await service.crm([...jobs[verb](label), '-o', 'json']);
    expect(again.stderr).toMatch(/^Resuming after row \d00\.$/m);
    expect([again.exitCode, replays > 0]).toEqual([0, true]);
    // Sent twice, a row would be rejected, or unchanged.
    expect(JSON.parse(again.stdout)).toMatchObject({ rows: 1_250, [`${verb}d`]: 1_250, rejected: 0 });
    const left = (await service.all('tasks')).filter(({ name }) => String(name).startsWith(`${label} `));
    expect(left.filter(({ done }) => !done)).toEqual([]);
    expect(left.length).toBe(verb === 'delete' ? 0 : 1_250);
  });

  test('interrupted, it says how to continue, with 130', async () => {
    const ids = await tasks('stopped', 250);
    await writeIds('stopped.txt', ids);
    let child: CommandChild | undefined;
    service.between = atRequest(2, () => {
      child?.kill('SIGINT');
      return child?.run;
    });
    child = service.start(jobs.delete('stopped'));
    const run = await child.run;
    expect(run.exitCode).toBe(130);
    const [, rows = ''] = /Interrupted after (0|100|200) rows\./.exec(run.stderr) ?? [];
    expect(rows).not.toBe('');
    expect(run.stderr).toContain(
      `Run the same command again to continue after row ${rows}. No row is lost or duplicated.`,
    );
    service.between = null;
    expect((await service.crm(jobs.delete('stopped'))).exitCode).toBe(0);
    expect(await namesLeft('stopped')).toEqual([]);
  });

  test('lost answers, a failing server and a rate limit are waited out', async () => {
    const ids = await tasks('storm', 350);
    await writeIds('storm.txt', ids);
    const troubles: ((answer: () => Promise<Response>) => Promise<Response>)[] = [
      async (answer) => {
        await answer();
        return new Response('bad gateway', { status: 502 });
      },
      async () => new Response('{}', { status: 429, headers: { 'Retry-After': '1' } }),
      async (answer) => {
        const response = await answer();
        service.cutConnections();
        return response;
      },
    ];
    service.between = async ({ path }, answer) => {
      const trouble = isBulk(path) ? troubles.shift() : undefined;
      return trouble === undefined ? answer() : trouble(answer);
    };
    const run = await service.crm(jobs.delete('storm'));
    expect([run.exitCode, troubles.length]).toEqual([0, 0]);
    expect(run.stderr).toContain('350 deleted, 0 rejected');
  });

  test('rows that are too large together are sent in parts', async () => {
    const ids = await tasks('large', 100);
    await writeIds('large.txt', ids);
    const error = {
      code: 'VALIDATION_OUT_OF_RANGE',
      message: 'The body is larger than 32 MiB.',
      details: [],
    };
    let refused = 0;
    service.between = async ({ path, body }, answer) => {
      if (!isBulk(path) || JSON.parse(body).length <= 30) return answer();
      refused += 1;
      return Response.json({ object: 'error', error }, { status: 413 });
    };
    const run = await service.crm(jobs.delete('large'));
    expect([run.exitCode, refused]).toEqual([0, 3]);
    expect(run.stderr).toContain('100 deleted, 0 rejected');
  });

  test('a used-up quota stops it with 4; once there is room, the same command does the rest', async () => {
    const ids = await tasks('full', 250);
    await writeIds('full.txt', ids);
    const { bytes } = await recordTotalsOf(service.harness);
    await setQuota(service.harness, { bytes: bytes + 130 * 100 });
    const args = ['update', 'tasks', '--from', 'full.txt', `description=${'x'.repeat(100)}`];
    try {
      const first = await service.crm(args);
      expect([first.exitCode, first.stderr]).toEqual([
        4,
        expect.stringContaining('Stopped after updating 130 rows.'),
      ]);
      expect(existsSync(file('full.txt.errors.ndjson'))).toBe(false);
    } finally {
      await setQuota(service.harness, {});
    }
    const last = await service.crm([...args, '-o', 'json']);
    expect([last.exitCode, JSON.parse(last.stdout)]).toEqual([
      0,
      expect.objectContaining({ updated: 120, rejected: 0 }),
    ]);
    expect((await service.crm(args)).stderr).toContain(
      'already updated (250 updated, 0 unchanged, 0 rejected)',
    );
  });

  test('a server that is too old for it is left alone', async () => {
    await writeIds('old.txt', [ABSENT]);
    const error = { code: 'RESOURCE_NOT_FOUND', message: 'There is nothing at this path.', details: [] };
    service.between = async ({ path }, answer) =>
      isBulk(path) ? Response.json({ object: 'error', error }, { status: 404 }) : answer();
    const run = await service.crm(jobs.delete('old'));
    expect([run.exitCode, run.stderr]).toEqual([
      1,
      expect.stringContaining('This server is too old: it does not have POST /api/v2/tasks/batch/delete.'),
    ]);
  });

  test('two at once with the same rows: the second says which process has them', async () => {
    const ids = await tasks('twice', 200);
    await writeIds('twice.txt', ids);
    let second: Promise<{ exitCode: number; stderr: string }> | undefined;
    service.between = atRequest(1, async () => {
      service.between = null;
      second = service.crm(jobs.delete('twice'));
      await second;
    });
    expect((await service.crm(jobs.delete('twice'))).exitCode).toBe(0);
    const { exitCode, stderr } = (await second) ?? { exitCode: 0, stderr: '' };
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/Process \d+ is deleting the same rows/)]);
  });
});

describe('a command line that cannot work', () => {
  const ID = ABSENT;
  const CASES: [words: string[], said: string][] = [
    [['get', 'tasks'], 'The ID is missing.'],
    [['update', 'tasks'], 'The ID is missing.'],
    [['delete', 'tasks'], 'For many records, add --from FILE'],
    [['get', 'tasks', ID, '--from', 'x'], `Use either the ID ${ID} or --from, not both.`],
    [['delete', 'tasks', ID, '--from', 'x', '--yes'], 'not both'],
    [['update', 'tasks', ID, 'done=yes', '--from', 'x'], 'not both'],
    [['update', 'tasks', '--from', 'x', '-d', '{}'], 'Use either -d or --from, not both.'],
    [['update', 'tasks', '--from', 'x', 'dnoe=yes'], 'Did you mean done?'],
    [['update', 'tasks', ID, 'done=yes', '--errors', 'x'], '--errors works with --from only.'],
    [['delete', 'tasks', ID, '--no-resume'], '--no-resume works with --from only.'],
    [['get', 'tasks', ID, '--quiet'], '--quiet works with --from only.'],
    [['get', 'meetings/x/deal', '--from', 'x'], '--from takes IDs of one resource.'],
    [['get', 'tasks', '--from', 'x', '--fields', 'nmae'], 'Unknown field "nmae". Did you mean name?'],
    [['update', 'interactions', '--from', 'x'], 'interactions cannot be updated.'],
    [['delete', 'tasks', '--from', 'x', '--errors', 'x', '--yes'], '--errors is the input itself.'],
  ];
  test.each(CASES)('%j: exit 2, before a key is looked for', async (words, said) => {
    const run = await service.crm(words, { key: '' });
    expect([run.exitCode, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain(said);
  });

  test('a file that is not there: exit 1', async () => {
    const run = await service.crm(['get', 'tasks', '--from', 'nowhere.txt']);
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining('Cannot read nowhere.txt')]);
    const folder = await service.crm(['get', 'tasks', '--from', '.']);
    expect([folder.exitCode, folder.stderr]).toEqual([1, expect.stringContaining('. is a folder.')]);
    expect(folder.stderr).not.toContain('crm import');
  });

  test('a key without the scope: exit 4', async () => {
    const { key } = await service.harness.issue({ scopes: ['tasks:read'] });
    await writeIds('scope.txt', [ABSENT]);
    const run = await service.crm(['delete', 'tasks', '--from', 'scope.txt', '--yes'], { key });
    expect([run.exitCode, run.stderr]).toEqual([4, expect.stringContaining('tasks:delete')]);
  });
});

/** A folder whose commands talk to the service, also on a terminal. */
function signedIn(): Sandbox {
  const sandbox = new Sandbox();
  Object.assign(sandbox.env, { CRM_URL: service.url, CRM_API_KEY: service.harness.v2 });
  return sandbox;
}

describe('on a terminal', () => {
  test('a bar shows what is done; with NO_COLOR or narrow, no line is broken or colored', async () => {
    const ids = await tasks('bar', 300);
    await writeIds('bar.txt', ids);
    using sandbox = signedIn();
    const words = ['update', 'tasks', '--from', file('bar.txt'), '--no-resume'];
    const { code, output } = await sandbox.onTerminal([...words, 'done=yes'], {
      columns: 40,
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(output).toContain('Updated 300 tasks: 300 updated,');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a color is one.
    expect(output).not.toMatch(/\u001b\[[\d;]*m/);
  });

  test('records are a table, and progress does not mix with it', async () => {
    const ids = await tasks('shown', 150);
    await writeIds('shown.txt', ids);
    using sandbox = signedIn();
    const { code, output } = await sandbox.onTerminal(['get', 'tasks', '--from', file('shown.txt')], {
      env: { NO_COLOR: '1', PAGER: 'cat' },
    });
    expect(code).toBe(0);
    expect(output.trimEnd().split('\n').length).toBe(151);
    expect(output).not.toContain('Getting');
  });
});
