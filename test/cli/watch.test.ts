// `crm watch`: what it prints and runs for each change, how it remembers its place, and every way in which it ends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { shortIdOf } from '../../cli/input/short-id.ts';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';
import { Following } from '../support/following.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let server: RunningServer;
beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  // Of its own, to come back to after a stop.
  server = await sandbox.serveOrganization('Example', ['--port', String(await freePort())]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs, '-o', 'json'])).id;
}

const shapes = (text: string) =>
  ndjson(text).map(({ action, resource, record_id }) => [action, resource, record_id]);

describe('what it prints', () => {
  test('is each change on a line, of the resources that are named', async () => {
    await using all = await Following.start(sandbox, ['watch']);
    await using deals = await Following.start(sandbox, ['watch', 'deals', 'tasks', '-o', 'ndjson']);
    const contact = await create('contacts', 'first_name=Ada');
    const deal = await create('deals', 'name=Engine');
    await sandbox.ok(['update', 'deals', deal, 'name=Difference engine']);
    await sandbox.ok(['link', `deals/${deal}/contacts`, contact]);
    await sandbox.ok(['delete', 'contacts', contact, '--yes']);
    await all.lines(6);
    expect(shapes(all.stdout)).toEqual([
      ['created', 'contacts', contact],
      ['created', 'deals', deal],
      ['updated', 'deals', deal],
      ['linked', 'deals', deal],
      ['deleted', 'contacts', contact],
      ['unlinked', 'deals', deal],
    ]);
    await deals.lines(4);
    expect(shapes(deals.stdout)).toEqual(shapes(all.stdout).filter(([, resource]) => resource === 'deals'));
    const [, update] = ndjson(deals.stdout);
    expect(update).toMatchObject({ before: { name: 'Engine' }, after: { name: 'Difference engine' } });
  });

  test('begins where --since says', async () => {
    const id = await create('notes', 'title=First', 'content=x');
    for (const since of ['oldest', '1h', new Date(Date.now() - 60_000).toISOString()]) {
      await using following = await Following.start(sandbox, ['watch', 'notes', '--since', since]);
      await following.lines(1);
      expect([since, ...shapes(following.stdout)]).toEqual([since, ['created', 'notes', id]]);
    }
  });

  test.each([
    [['watch', 'deal'], 'Did you mean deals?'],
    [['watch', '--since', 'soon'], 'is not a valid time'],
    [['watch', '-o', 'csv'], 'does not print CSV'],
  ])('%p is refused before anything is asked', async (args, words) => {
    const { code, stdout, stderr } = await sandbox.crm(args, { env: { CRM_URL: 'http://127.0.0.1:1' } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('on a terminal is a line for people, with names instead of IDs', async () => {
    const company = await create('companies', 'name=Analytical Engines');
    const deal = await create('deals', 'name=Engine');
    const stages = JSON.parse(await sandbox.ok(['list', 'pipelines', '-o', 'ndjson'])).stages;
    const since = new Date().toISOString();
    for (const values of [
      { stage_id: stages[2].id, company_id: company },
      { stage_id: stages[0].id, company_id: null },
    ])
      await sandbox.ok(['update', 'deals', deal, '-d', JSON.stringify(values)]);
    await create('deals', 'name=Last');
    const shown = async (columns: number, env: Record<string, string> = {}) => {
      const options = { columns, env, when: 'Last', answer: '\u0003' };
      const { code, output } = await sandbox.onTerminal(['watch', 'deals', '--since', since], options);
      expect(code).toBe(130);
      return output.replace('^C', '');
    };
    const [from, to] = [stages[0].name, stages[2].name];
    const wide = await shown(200);
    expect(wide).toContain('\u001b[33m');
    const plain = await shown(200, { NO_COLOR: '1' });
    expect(plain).not.toContain('\u001b');
    expect(plain).toMatch(
      new RegExp(
        `^(?:[\\d-]{10} )?\\d\\d:\\d\\d:\\d\\d  key …[0-9a-f]{6}  updated deal Engine: stage ${from} → ${to}, company \\(none\\) → Analytical Engines  ${shortIdOf(deal)}$`,
        'm',
      ),
    );
    const narrow = await shown(40, { NO_COLOR: '1' });
    expect(narrow).toContain('Analytical');
    expect(narrow).not.toContain('key …');
    for (const line of narrow.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
  });

  test('cannot command the terminal', async () => {
    await create('segments', 'name=\u001b[31mred', 'record_type=contact');
    const { output } = await sandbox.onTerminal(['watch', 'segments', '--since', 'oldest', '--no-color'], {
      when: 'red',
      answer: '\u0003',
    });
    expect(output).toContain('created segment ␛[31mred');
  });
});

describe('its end', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('at %s comes after a whole line, with %d', async (signal, code) => {
    const following = await Following.start(sandbox, ['watch', '--since', 'oldest']);
    await following.lines(1);
    const result = await following.stop(signal);
    expect(result.code).toBe(code);
    expect(result.stdout).toEndWith('}\n');
    expect(result.stderr.split('\n').length).toBe(2);
  });

  test('comes soon after its reader has left, without a further change', async () => {
    const { code, stdout, stderr } = await sandbox.piped(['watch', '--since', 'oldest'], 'head -n 1');
    expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 2 });
    expect(stderr).not.toContain('EPIPE');
    expect((await sandbox.piped(['watch'], 'true')).code).toBe(0);
  });

  test('comes with a revoked key, with 4', async () => {
    const scopes = ['--scopes', 'contacts:read', '-o', 'json'];
    const { id, key } = JSON.parse(await sandbox.ok(['keys', 'issue', ...scopes]));
    const own = { ...sandbox.env, CRM_API_KEY: key };
    await using following = await Following.start({ folder: sandbox.folder, env: own }, ['watch']);
    await sandbox.ok(['keys', 'revoke', id]);
    const { code, stderr } = await following.end();
    expect(code).toBe(4);
    expect(stderr).toContain('revoked');
  }, 300_000);

  test('comes with a key that lacks the scope, with 4', async () => {
    const key = await sandbox.ok(['keys', 'issue', '--scopes', 'contacts:read']);
    const { code, stderr } = await sandbox.crm(['watch', 'deals'], { env: { CRM_API_KEY: key } });
    expect(code).toBe(4);
    expect(stderr).toContain('deals:read');
  });
});

describe('--exec', () => {
  test('runs a command for each change, one after the other', async () => {
    const following = await Following.start(sandbox, ['watch', 'tasks', '--exec', 'sleep 0.1; cat']);
    const ids = [
      await create('tasks', 'name=1'),
      await create('tasks', 'name=2'),
      await create('tasks', 'name=3'),
    ];
    await following.lines(3);
    const { code, stdout } = await following.stop('SIGTERM');
    expect(code).toBe(143);
    expect(shapes(stdout)).toEqual(ids.map((id) => ['created', 'tasks', id]));
  });

  test('a command need not read what it gets, however much', async () => {
    await create('notes', 'title=Long', `content=${'é'.repeat(45_000)}`);
    const following = await Following.start(sandbox, [
      ...['watch', 'notes', '--since', 'oldest', '--exec', 'echo done'],
    ]);
    await following.lines(1);
    expect((await following.stop('SIGINT')).code).toBe(130);
  });

  test('finishes the command of the moment, and none after it', async () => {
    const args = ['watch', 'tasks', '--since', 'oldest', '--cursor-file', 'finish.cursor'];
    const command = 'touch begun; until test -e go; do sleep 0.05; done; echo done';
    const following = await Following.start(sandbox, [...args, '--exec', command]);
    await until(() => sandbox.exists('begun'));
    const ended = following.stop('SIGTERM');
    await Bun.sleep(500);
    await sandbox.write('go', '');
    expect(await ended).toMatchObject({ code: 143, stdout: 'done\n' });
    await using next = await Following.start(sandbox, [...args, '--exec', 'cat']);
    await next.lines(2);
    expect(ndjson(next.stdout).map(({ record }) => (record as { name: string }).name)).toEqual(['2', '3']);
  });

  test('ends quietly when Ctrl-C on a terminal ends the command too', async () => {
    const args = ['watch', 'tasks', '--since', 'oldest', '--exec', 'echo started; sleep 20'];
    const { code, output } = await sandbox.onTerminal([...args, '--no-color'], {
      when: 'started',
      answer: '\u0003',
    });
    expect(code).toBe(130);
    expect(output).toContain('created task');
    expect(output).not.toContain('failed');
  });

  test('stops at a failure, tells its exit code, and continues there', async () => {
    const args = ['watch', 'tasks', '--since', 'oldest', '--cursor-file', 'failing.cursor', '--exec'];
    const failing = 'grep -q \'"name":"2"\' && exit 7; exit 0';
    for (let run = 0; run < 2; run += 1) {
      const { code, stdout, stderr } = await sandbox.crm([...args, failing]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('failed with exit code 7 (change ');
      expect(stderr).toContain('failing.cursor continues with this change');
    }
    await using following = await Following.start(sandbox, [...args, 'cat']);
    await following.lines(2);
    const [first] = ndjson(following.stdout);
    expect(first).toMatchObject({ action: 'created', record: { name: '2' } });
    const killed = await sandbox.crm(['watch', 'tasks', '--since', 'oldest', '--exec', 'kill -9 $$']);
    expect(killed.stderr).toContain('was ended by SIGKILL');
  });
});

describe('--cursor-file', () => {
  test('loses nothing when the process is killed, wherever that happens', async () => {
    const count = 25;
    const names = Array.from({ length: count }, (_, index) => `killed ${index}`);
    const args = ['watch', 'companies', '--cursor-file', 'killed.cursor', '--exec', 'cat >> killed.out'];
    const first = await Following.start(sandbox, args);
    await until(() => sandbox.exists('killed.cursor'));
    await first.stop('SIGKILL');
    await Promise.all(names.map((name) => create('companies', `name=${name}`)));
    const seen = async () =>
      (await sandbox.exists('killed.out'))
        ? ndjson((await sandbox.read('killed.out')).replace(/[^\n]+$/, '')).map(({ sequence }) =>
            Number(sequence),
          )
        : [];
    const isDone = async () => new Set(await seen()).size === count;
    for (let kill = 0; !(await isDone()); kill += 1) {
      expect(kill).toBeLessThan(100);
      const before = (await seen()).length;
      const following = new Following(sandbox, args);
      await until(async () => (await isDone()) || (await seen()).length > before + (kill % 4));
      await following.stop('SIGKILL');
    }
    const sequences = [...new Set(await seen())];
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    // Only the change of the moment of a kill comes again.
    expect((await seen()).length).toBeLessThan(2 * count);
  }, 300_000);

  test('also with a key that gets no sequence numbers', async () => {
    const issue = [
      'keys',
      'issue',
      '--scopes',
      'tasks:read',
      '--access',
      'user',
      '--user',
      'ada@example.com',
    ];
    const own = { ...sandbox, env: { ...sandbox.env, CRM_API_KEY: await sandbox.ok(issue) } };
    const { id: me } = JSON.parse(await sandbox.ok(['users', 'list', '-o', 'ndjson']));
    const names = ['one', 'two', 'three', 'four'];
    for (const name of names) await create('tasks', `name=${name}`, `main_assignee_id=${me}`);
    const args = ['watch', 'tasks', '--since', 'oldest', '--cursor-file', 'user.cursor', '--exec'];
    const seen: unknown[] = [];
    // Each run gets two done, and fails at the third.
    const command = 'test -e 1 && test -e 2 && { rm 1 2; exit 1; }; test -e 1 && touch 2 || touch 1; cat';
    for (let run = 0; run < 2; run += 1) {
      await using following = new Following(own, [...args, command]);
      await following.lines(2);
      seen.push(
        ...ndjson(following.stdout).map(({ sequence, record }) => [
          sequence,
          (record as { name: string }).name,
        ]),
      );
      if (run === 0) expect((await following.end()).code).toBe(1);
    }
    expect(seen).toEqual(names.map((name) => [null, name]));
  });

  test('is private, and replaces --since once it exists', async () => {
    const args = ['watch', 'tasks', '--cursor-file', 'since.cursor'];
    const first = await Following.start(sandbox, args);
    await until(() => sandbox.exists('since.cursor'));
    await first.stop('SIGINT');
    expect((await Bun.file(sandbox.path('since.cursor')).stat()).mode & 0o777).toBe(0o600);
    const id = await create('tasks', 'name=4');
    await using second = await Following.start(sandbox, [...args, '--since', 'oldest']);
    await second.lines(1);
    expect(shapes(second.stdout)).toEqual([['created', 'tasks', id]]);
    expect(second.stderr).toContain('continuing from since.cursor');
    const third = await sandbox.crm(args);
    expect(third.code).toBe(1);
    expect(third.stderr).toMatch(/Process \d+ already follows changes with since.cursor/);
  });

  test('is refused if it is for other resources, or something else', async () => {
    const other = await sandbox.crm(['watch', 'deals', '--cursor-file', 'since.cursor']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('crm watch tasks --cursor-file since.cursor');
    for (const text of ['', 'no JSON', '{}', '[1]', '{"cursor":1,"last":null,"resources":[]}']) {
      await sandbox.write('wrong.cursor', text);
      const { code, stderr } = await sandbox.crm(['watch', '--cursor-file', 'wrong.cursor']);
      expect([text, code]).toEqual([text, 2]);
      expect(stderr).toContain('wrong.cursor is not a cursor file');
      expect(await sandbox.read('wrong.cursor')).toBe(text);
    }
  });

  test('is refused by the server if it belongs to another organization', async () => {
    await sandbox.ok(['orgs', 'create', 'Other']);
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Other', '--all-scopes']);
    const { code, stderr } = await sandbox.crm(['watch', 'tasks', '--cursor-file', 'since.cursor'], {
      env: { CRM_API_KEY: key },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('does not accept the position in since.cursor');
  });
});

describe('a server', () => {
  test('that goes away is waited for; what happened then is not missed', async () => {
    const port = new URL(server.url).port;
    await using following = await Following.start(sandbox, ['watch', 'contacts']);
    await server.stop();
    await following.says('the server does not respond; trying again');
    server = await sandbox.serve(['--port', port]);
    const id = await create('contacts', 'first_name=Mary');
    await following.says('the server is responding again');
    await following.lines(1);
    expect(shapes(following.stdout)).toEqual([['created', 'contacts', id]]);
    expect(following.stderr.match(/trying again/g)?.length).toBe(1);
  }, 300_000);

  test('that is not there is an error, soon', async () => {
    const { code, stderr } = await sandbox.crm(['watch', '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(stderr).toContain('No response from http://127.0.0.1:1');
  });

  test('that keeps no changes says so, and a place from before is lost', async () => {
    const port = new URL(server.url).port;
    const args = ['watch', '--cursor-file', 'lost.cursor'];
    const first = await Following.start(sandbox, args);
    await until(() => sandbox.exists('lost.cursor'));
    await first.stop('SIGINT');
    await server.stop();
    server = await sandbox.serve(['--port', port, '--changes-days', '0']);
    await create('contacts', 'first_name=Unnoticed');
    const none = await sandbox.crm(['watch']);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('crm serve --changes-days 30');
    await server.stop();
    server = await sandbox.serve(['--port', port, '--changes-days', '30']);
    const lost = await sandbox.crm(args);
    expect(lost.code).toBe(1);
    expect(lost.stderr).toContain('The position in lost.cursor is not in the log of changes any more');
    expect(lost.stderr).toContain('crm export all --out DIR');
    rmSync(sandbox.path('lost.cursor'));
    await using again = await Following.start(sandbox, args);
    const id = await create('contacts', 'first_name=Noticed');
    await again.lines(1);
    expect(shapes(again.stdout)).toEqual([['created', 'contacts', id]]);
  }, 300_000);
});
