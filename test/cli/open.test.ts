// `crm open`: which address it opens, with what, and what it does where there is no browser.
import { afterAll, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { Sandbox } from '../support/command.ts';
import { roundThat } from '../support/rounds.ts';
import { until } from '../support/until.ts';

const ID = '019b76da-a800-7000-8000-000000000001';
const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

const open = (words: string[], env: Record<string, string> = {}) => sandbox.crm(['open', ...words], { env });

async function browser(script: string): Promise<string> {
  await sandbox.write('browser', `#!/bin/sh\n${script}\n`);
  chmodSync(sandbox.path('browser'), 0o755);
  return sandbox.path('browser');
}

test('without a terminal or a browser, the address is printed', async () => {
  expect((await open([])).stdout).toBe('http://127.0.0.1:4000/docs\n');
  const env = { CRM_URL: 'https://crm.example.com/api/v2/' };
  expect((await open(['deals', ID], env)).stdout).toBe(`https://crm.example.com/api/v2/deals/${ID}\n`);
});

test('BROWSER gets the address as one word, and a failure says what to open', async () => {
  const BROWSER = await browser('printf "%s\\n" "$@" > opened');
  const { code, stdout, stderr } = await open(['deals', ID], { BROWSER });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toBe(`Opened http://127.0.0.1:4000/api/v2/deals/${ID}\n`);
  // It goes by a browser that has been there for a second and a half, whatever that has done by then.
  await until(async () => (await sandbox.exists('opened')) && (await sandbox.read('opened')) !== '');
  expect(await sandbox.read('opened')).toBe(`http://127.0.0.1:4000/api/v2/deals/${ID}\n`);
  const printed = await open(['--print'], { BROWSER: '/nowhere' });
  expect(printed.stdout).toBe('http://127.0.0.1:4000/docs\n');
  for (const wrong of ['/nowhere', await browser('exit 3')]) {
    const failed = await roundThat(
      ({ code }) => code !== 0,
      () => open([], { BROWSER: wrong }),
    );
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining('Next: Open it yourself: http://127.0.0.1:4000/docs\n'),
    ]);
  }
});

test.each([
  [['dealz', ID], 'Did you mean deals?'],
  [['deals'], 'crm open deals ID'],
  [['deals', '..'], 'is not an ID'],
])('%p is used wrongly', async (words, reason) => {
  const { code, stderr } = await open(words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
});
