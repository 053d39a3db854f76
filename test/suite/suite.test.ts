// A run of the suite as a whole: its last words, its exit code, and what is left when it is ended on its way.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeOpenFolder } from '../support/shared-folders.ts';

// A server of PostgreSQL must be able to enter it, as another user than root.
const folder = makeOpenFolder() ?? mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const left = (name: string) => readdirSync(folder).filter((one) => one.startsWith(name));

function start(part: string, env: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, join(import.meta.dir, 'suite.ts'), part], {
    env: { ...process.env, TMPDIR: folder, CRM_TEST_DB: '', ...env },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  });
}

test('a run closes with its sums, and leaves nothing behind', async () => {
  const run = start('test/import/values');
  const lines = (await run.stdout.text()).trim().split('\n');
  expect(await run.exited).toBe(0);
  expect(lines.find((line) => /^sqlite \| \d+ passed, 0 skipped, 0 failed/.test(line))).toBeDefined();
  expect(lines.slice(-3)).toEqual([expect.stringMatching(/^ *[1-9]\d* pass$/), ' 0 skip', ' 0 fail']);
  expect(left('crm-')).toEqual([]);
}, 300_000);

test('a run that is ended on its way takes its servers along, and has failed', async () => {
  const run = start('test/model/model', { MODEL_SEEDS: '100000' });
  while (left('crm-test-').length === 0) await Bun.sleep(50);
  run.kill('SIGTERM');
  expect(await run.stdout.text()).toMatch(/^ended by SIGTERM\n\n 0 pass\n 0 skip\n [12] fail\n$/m);
  expect(await run.exited).toBe(1);
  expect(left('crm-pg-')).toEqual([]);
}, 300_000);
