// The README's tour, run as printed: every line in an empty folder, with the compiled executable on the PATH.
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const root = join(import.meta.dir, '../..');
const binary = join(root, 'dist/crm');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const printed = (kind: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`sh ${kind}\\n(.*?)^\`\`\`$`, 'gms'))]
    .map((match) => match[1])
    .join('\n');
const tour = printed('tour');
const nodes = printed('nodes');

test.skipIf(!existsSync(binary))(
  'the tour runs as printed (needs dist/crm: bun run build)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-readme-'));
    // Another server may hold port 4000 on this machine: the tour then runs on a port of its own.
    const port = String(await freePort());
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
  120_000,
);

test.skipIf(!existsSync(binary) || postgresPrograms === null)(
  'two nodes on PostgreSQL are started as printed, and are one (needs dist/crm: bun run build)',
  async () => {
    await using started = new AsyncDisposableStack();
    const server = started.adopt(await PostgresServer.start(), (one) => one.close());
    // The server is another's than crm's, as an operator's is, and has neither its role nor its database.
    await server.sql('create role operator superuser login');
    const admin = new Bun.SQL(server.address('postgres', 'operator'), { max: 1 });
    await admin.unsafe('drop database crm');
    await admin.unsafe('alter role crm rename to nobody_here');
    await admin.close();
    const folder = mkdtempSync(join(tmpdir(), 'crm-readme-'));
    const ports = [String(await freePort()), String(await freePort())];
    const steps = nodes
      .replace(/^psql/, 'PGUSER=operator psql')
      .replaceAll('4001', ports[0] ?? '')
      .replaceAll('4002', ports[1] ?? '')
      .replace(
        'sleep 1',
        ports.map((port) => `until curl -sf http://127.0.0.1:${port}/readyz; do sleep 0.05; done`).join('\n'),
      );
    const child = Bun.spawn(['bash', '-c', `set -eo pipefail\ntrap 'kill %1 %2' EXIT\n${steps}`], {
      cwd: folder,
      env: {
        PATH: `${join(root, 'dist')}:${postgresPrograms}:${process.env.PATH}`,
        ...{ HOME: folder, PGHOST: '127.0.0.1', PGPORT: String(server.port) },
      },
      ...{ stdout: 'pipe', stderr: 'pipe' },
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/"email":"grace@example\.com"/g)).toHaveLength(2);
    rmSync(folder, { recursive: true, force: true });
  },
  120_000,
);

test('every file and folder that the architecture tour names exists', () => {
  const named = [...readme.matchAll(/`((?:db|server|cli|test)\/[\w./-]*)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
