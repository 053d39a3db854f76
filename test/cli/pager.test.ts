// What is longer than the screen goes through a pager, and nothing else does.
import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox([process.execPath, join(import.meta.dir, '../support/paging-child.ts')]);
afterAll(() => sandbox[Symbol.asyncDispose]());

// The terminal has 40 lines.
const PAGER = "sed 's/^/paged /'";
const shown = async (args: string[], env: Record<string, string> = {}) =>
  (await sandbox.onTerminal(args, { env: { PAGER, ...env } })).output;

describe('on a terminal', () => {
  test('what is longer than the screen goes through the pager', async () => {
    const output = await shown(['40']);
    expect(output).toStartWith('paged line 1\npaged line 2\n');
    expect(output).toEndWith('paged line 40\n');
  });

  test('what fits is printed', async () => {
    expect(await shown(['39'])).toStartWith('line 1\n');
  });

  test('all of it comes, however long', async () => {
    expect((await shown(['20000'])).trimEnd()).toEndWith('\npaged line 20000');
  });

  test.each<[string, string[], Record<string, string>]>([
    ['--no-pager', ['99', '--no-pager'], {}],
    ['an empty PAGER', ['99'], { PAGER: '' }],
    ['TERM=dumb', ['99'], { TERM: 'dumb' }],
    ['a pager that there is not', ['99'], { PAGER: 'no-such-pager' }],
  ])('%s: it is printed', async (_what, args, env) => {
    expect(await shown(args, env)).toContain('\nline 2\n');
  });

  test('a reader who has seen enough ends it', async () => {
    const { code, output } = await sandbox.onTerminal(['20000'], { env: { PAGER: 'head -1' } });
    expect({ code, output }).toEqual({ code: 0, output: 'line 1\n' });
  });

  test('less shows colours, and leaves what it showed', async () => {
    expect(await shown(['99'], { PAGER: 'echo "$LESS"; cat > /dev/null' })).toBe('FRX\n');
  });
});

test('in a pipe there is none', async () => {
  const { stdout } = await sandbox.crm(['99'], { env: { PAGER } });
  expect(stdout).toStartWith('line 1\n');
});
