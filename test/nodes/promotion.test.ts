// The primary lost under load, and its synchronous standby promoted: what was acknowledged is there, each of it once.
import { afterAll, describe, expect, test } from 'bun:test';
import { KeyedLoad } from '../soak/keyed-load.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { Place } from '../support/server-process.ts';

const LOAD_MS = 1_500;

describe.skipIf(postgresPrograms === null)('two nodes', () => {
  const place = new Place();
  const started = new AsyncDisposableStack();
  afterAll(() => started.disposeAsync());

  test('continue with the standby that their address leads to, and have lost nothing', async () => {
    const primary = started.adopt(await PostgresServer.start(), (server) => server.close());
    const proxy = started.adopt(await DatabaseProxy.start(primary.port), (one) => one.stop());
    const { db, key } = await place.fill(primary.address());
    const nodes = await Promise.all([1, 2].map(() => place.serve(proxy.through(db))));
    const standby = started.adopt(await PostgresServer.start({ primary }), (server) => server.close());
    primary.configure({ synchronous_standby_names: '*' });
    primary.reload();
    const follows = `select 1 from pg_stat_replication where sync_state = 'sync'`;
    while ((await primary.sql(follows)).length === 0) await Bun.sleep(20);
    const load = new KeyedLoad({ nodes, key });
    await Bun.sleep(LOAD_MS);
    // A busy machine can take longer for the first.
    while (load.acknowledged === 0) await Bun.sleep(20);
    await primary.stop('kill');
    const acknowledged = load.acknowledged;
    await standby.promote();
    proxy.port = standby.port;
    proxy.disconnect();
    while (load.acknowledged === acknowledged) await Bun.sleep(20);
    await Bun.sleep(LOAD_MS);
    const ledger = await load.end((text) => standby.sql(text));
    expect(ledger).toMatchObject({ lost: 0, doubled: 0, unexpected: [] });
    expect(acknowledged).toBeGreaterThan(0);
    expect(ledger.repeated).toBeGreaterThan(0);
  }, 300_000);
});
