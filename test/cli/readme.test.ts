// The README's tour, run as printed: every line in an empty folder, with the compiled executable on the PATH.
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dir, '../..');
const binary = join(root, 'dist/crm');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tour = [...readme.matchAll(/^```sh tour\n(.*?)^```$/gms)].map((match) => match[1]).join('\n');

test.skipIf(!existsSync(binary))(
  'the tour runs as printed (needs dist/crm: bun run build)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-readme-'));
    // Another server may hold port 4000 on this machine: the tour then runs on a port of its own.
    const port = String(40_000 + (process.pid % 10_000));
    const script = tour
      .replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`)
      .replace('crm serve', `crm serve --port ${port}`);
    const steps = [
      'set -eo pipefail',
      `export PATH=${join(root, 'dist')}:$PATH CRM_URL=http://127.0.0.1:${port}`,
      'trap "kill %1" EXIT',
      script.replace(
        /^(crm serve .*&)$/m,
        `$1\nuntil curl -sf $CRM_URL/readyz > /dev/null; do sleep 0.05; done`,
      ),
    ];
    const child = Bun.spawn(['bash', '-c', steps.join('\n')], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('"email":"grace@example.com"');
    expect(stdout).toContain('The request has 2 faults; see details.');
    expect(stdout).toMatch(/ada@example\.com +Ada +Lovelace +Analyst/);
    expect(stdout).toContain('"api_version":"1"');
    expect(stderr).toContain('2 created, 1 rejected');
    expect(existsSync(join(folder, 'backup/links.ndjson'))).toBe(true);
    rmSync(folder, { recursive: true, force: true });
  },
  30_000,
);

test('every file and folder that the architecture tour names exists', () => {
  const named = [...readme.matchAll(/`((?:db|server|cli|test)\/[\w./-]*)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
