// `crm serve --log-file`: every request once in the file, however often that is moved away, and never through a link.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { type RunningServer, Sandbox } from '../support/command.ts';

const ROTATIONS = 5;

const sandbox = new Sandbox();
let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.dispose]());

const ask = async ({ url }: RunningServer): Promise<string> => {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/api/v2/contacts?email=ada%40acme.example`, { headers });
  await response.text();
  return response.headers.get('X-Request-Id') ?? '';
};

const linesOf = (start: string): string[] =>
  readdirSync(sandbox.folder)
    .filter((name) => name.startsWith(start))
    .flatMap((name) => readFileSync(sandbox.path(name), 'utf8').split('\n').slice(0, -1));

describe.each([[0], [2]])('with %i readers', (readers) => {
  test('loses and doubles no line, however often the file is moved away under requests', async () => {
    const name = `log${readers}`;
    const flags = ['--log', 'json', '--log-file', name, '--readers', String(readers)];
    const server = await sandbox.serve(flags);
    const asked: string[] = [];
    let isOver = false;
    const asking = Array.from({ length: 4 }, async () => {
      while (!isOver) asked.push(await ask(server));
    });
    for (let count = 1; count <= ROTATIONS; count++) {
      await Bun.sleep(60);
      renameSync(sandbox.path(name), sandbox.path(`${name}.${count}`));
      process.kill(server.pid, 'SIGHUP');
      await server.says('Reopened the log file');
    }
    isOver = true;
    await Promise.all(asking);
    const { stderr } = await server.stop();
    const lines = linesOf(name);
    expect(lines.map((line) => JSON.parse(line).request_id).toSorted()).toEqual(asked.toSorted());
    expect(statSync(sandbox.path(name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(sandbox.folder).filter((one) => one.startsWith(name))).toHaveLength(ROTATIONS + 1);
    expect(stderr).not.toContain('request_id');
    for (const word of ['acme.example', 'email', key.slice(13, 40)])
      expect(lines.join('\n')).not.toContain(word);
  });
});

test('goes on in the file that it had where the new one cannot be opened, and says so', async () => {
  const server = await sandbox.serve(['--log', 'json', '--log-file', 'kept']);
  const before = await ask(server);
  renameSync(sandbox.path('kept'), sandbox.path('kept.1'));
  symlinkSync('/dev/null', sandbox.path('kept'));
  process.kill(server.pid, 'SIGHUP');
  await server.says(
    'Cannot reopen the log file kept (it is a symbolic link). The log continues in the previous file.',
  );
  const after = await ask(server);
  await server.stop();
  const lines = readFileSync(sandbox.path('kept.1'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).request_id)).toEqual([before, after]);
});

test('adds to a file that is there', async () => {
  await sandbox.write('more', 'before\n');
  const server = await sandbox.serve(['--log', 'pretty', '--log-file', 'more']);
  const id = await ask(server);
  await server.stop();
  expect(await sandbox.read('more')).toMatch(
    new RegExp(`^before\\n\\S+  200  GET /api/v2/contacts  \\d+ ms  127\\.0\\.0\\.1  ${id}\\n$`),
  );
});

test('is refused where it cannot be a file of its own', async () => {
  await sandbox.write('there', '');
  symlinkSync(sandbox.path('there'), sandbox.path('link'));
  linkSync(sandbox.path('there'), sandbox.path('second'));
  mkdirSync(sandbox.path('folder'));
  Bun.spawnSync(['mkfifo', sandbox.path('pipe')]);
  const refusal = async (name: string) => {
    const { code, stderr } = await sandbox.crm(['serve', '--port', '0', '--log-file', name]);
    return [code, /\((.*)\)/.exec(stderr)?.[1]];
  };
  expect(await refusal('link')).toEqual([2, 'it is a symbolic link']);
  expect(await refusal('second')).toEqual([2, 'it has another hard link']);
  expect(await refusal('folder')).toEqual([2, 'it is a folder']);
  expect(await refusal('pipe')).toEqual([2, expect.stringMatching(/it is not a file|hard link/)]);
  expect(await refusal('nowhere/log')).toEqual([2, 'its folder does not exist']);
  const { code, stderr } = await sandbox.crm(['serve', '--port', '0', '--log', 'off', '--log-file', 'x']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('not both')]);
});
