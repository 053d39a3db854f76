// The page about PostgreSQL, run as printed on a server that knows nothing of crm.
import { test } from 'bun:test';
import { existsSync } from 'node:fs';
import { BINARY } from '../support/command.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { ON_POSTGRES, pageOf } from './pages.ts';
import { runPage } from './run-page.ts';

test.skipIf(!existsSync(BINARY) || postgresPrograms === null)(
  'runs as printed (needs dist/crm: bun run build, and PostgreSQL)',
  async () => {
    await using started = new AsyncDisposableStack();
    const server = started.adopt(await PostgresServer.start(), (one) => one.close());
    // As an operator finds it: with neither role nor database of crm.
    await server.sql('create role operator superuser login');
    const admin = new Bun.SQL(server.address('postgres', 'operator'), { max: 1 });
    await admin.unsafe('drop database crm');
    await admin.unsafe('alter role crm rename to nobody_here');
    await admin.close();
    await runPage(pageOf(ON_POSTGRES), {
      hasServer: false,
      path: [postgresPrograms ?? ''],
      env: { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'operator' },
      ports: { 5432: String(server.port) },
    });
  },
  300_000,
);
