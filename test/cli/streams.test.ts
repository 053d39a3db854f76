// Where output goes: slow, closed, full and shared pipes and files, and a terminal on one side only.
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

const HELP = ['--help'];
const PAGE = ['help', 'import'];
// Over a megabyte.
const DOCUMENT = ['openapi'];
const ESCAPE = '\u001b';
// Its own getter makes Bun set the pipe to non-blocking, which all that share the pipe inherit.
const NON_BLOCKING = `'${process.execPath}' -e 'process.stdout; process.stderr'`;

describe.each([
  ['a short output', HELP],
  ['a page', PAGE],
  ['a megabyte', DOCUMENT],
])('%s arrives whole', (_name, args) => {
  const whole = sandbox.crm(args).then(({ stdout }) => stdout);

  test.each([
    ['in a file', '"$@" > out; cat out'],
    ['behind the text of a file', 'printf "" > out; "$@" >> out; cat out'],
    ['at a slow reader', '"$@" | (sleep 0.3; cat)'],
    ['at a slow reader of a non-blocking pipe', `(${NON_BLOCKING}; exec "$@") | (sleep 0.3; cat)`],
    ['with stderr in the same pipe', '"$@" 2>&1 | (sleep 0.3; cat)'],
    ['without stderr', '"$@" 2>&-'],
    ['without stdin', '"$@" <&-'],
  ])('%s', async (_where, script) => {
    const { stdout, stderr } = await sandbox.shell(script, args);
    expect([stdout === (await whole), stdout.length, stderr]).toEqual([true, (await whole).length, '']);
  });

  test.each([
    ['a reader that left', 'set -o pipefail; "$@" | true'],
    ['a closed stdout', '"$@" >&-'],
    ['the null device', '"$@" > /dev/null'],
  ])('to %s, or is dropped without a word', async (_where, script) => {
    expect(await sandbox.shell(script, args)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.skipIf(!existsSync('/dev/full'))('or a full disk is reported', async () => {
    const { code, stderr } = await sandbox.into('/dev/full', args);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot write the output: the disk is full\.\nNext: Free up disk space/),
    ]);
  });
});

describe('many writes', () => {
  const streams = JSON.stringify(join(import.meta.dir, '../../cli/terminal/streams.ts'));
  // More than any pipe takes; the first go straight to the descriptor, the others through the stream.
  const lines = Array.from({ length: 3_000 }, (_, index) => `${index} ${'é'.repeat(index % 200)}`);
  const script = `
    const { stdout, stderr } = await import(${streams});
    const lines = Array.from({ length: 3_000 }, (_, index) => index + ' ' + 'é'.repeat(index % 200));
    const kept = lines.map((line) => stdout.write(line + '\\n'));
    await Promise.all(kept);
    await Promise.all([stdout.flush(), stderr.flush()]);
    process.exit(0);`;
  const run = async (shell: string): Promise<string[]> => {
    const child = Bun.spawn(['bash', '-c', shell, 'bash', process.execPath, '-e', script], {
      cwd: sandbox.folder,
      stdout: 'pipe',
      stderr: 'inherit',
    });
    return (await child.stdout.text()).trimEnd().split('\n');
  };

  test.each([
    ['a file', '"$@" > many; cat many'],
    ['a slow reader', '"$@" | (sleep 0.3; cat)'],
    ['a slow reader of a non-blocking pipe', `(${NON_BLOCKING}; exec "$@") | (sleep 0.3; cat)`],
    [
      'a reader that is full at the first write',
      `(head -c 65536 /dev/zero; exec "$@") | (sleep 0.3; tail -c +65537)`,
    ],
    [
      'a non-blocking pipe that is full at the first write',
      `(${NON_BLOCKING}; head -c 65536 /dev/zero; exec "$@") | (sleep 0.3; tail -c +65537)`,
    ],
  ])('reach %s whole and in order', async (_where, shell) => {
    expect(await run(shell)).toEqual(lines);
  });
});

describe('with a terminal', () => {
  test('on stderr only, stdout is neither wrapped nor colored', async () => {
    const { stdout } = await sandbox.crm(PAGE);
    const { output } = await sandbox.onTerminal(PAGE, { columns: 40, script: '"$@" | cat' });
    expect(output).toBe(stdout);
    expect(output).not.toContain(ESCAPE);
  });

  test('on stderr only, errors are wrapped to it', async () => {
    const { code, output } = await sandbox.onTerminal(['nonsense'], { columns: 40, script: '"$@" > out' });
    expect(code).toBe(2);
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  test('on stdout only, help is wrapped to it, and errors are left as they are', async () => {
    const { output } = await sandbox.onTerminal(HELP, { columns: 60, script: '"$@" 2> errors' });
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
    await sandbox.onTerminal(['nonsense'], { columns: 40, script: '"$@" 2> errors' });
    expect(await sandbox.read('errors')).toBe((await sandbox.crm(['nonsense'])).stderr);
  });

  test.each([
    ['as it is', {}, true],
    ['with NO_COLOR', { NO_COLOR: '1' }, false],
    ['with FORCE_COLOR and NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    ['that is dumb', { TERM: 'dumb' }, false],
  ])('%s, pages are colored: %p %p', async (_name, env, isColored) => {
    const { output } = await sandbox.onTerminal([...PAGE, '--no-pager'], { env });
    expect(output.includes(ESCAPE)).toBe(isColored);
  });

  test('and FORCE_COLOR, a pipe stays plain', async () => {
    const { output } = await sandbox.onTerminal(PAGE, { env: { FORCE_COLOR: '1' }, script: '"$@" | cat' });
    expect(output).not.toContain(ESCAPE);
  });
});
