// Two nodes on PostgreSQL as README starts them, with the compiled executable on the PATH.
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';

const root = join(import.meta.dir, '../..');
const binary = join(root, 'dist/crm');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const nodes = /^```sh norun\n(psql .*?)^```$/ms.exec(readme)?.[1] ?? '';

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
