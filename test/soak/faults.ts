// What befalls a service under load: nodes and servers that are killed, frozen, restarted, or replaced by their standby.
import { DatabaseProxy } from '../support/database-proxy.ts';
import { PostgresServer } from '../support/postgres.ts';
import { KeyedLoad, type Ledger } from './keyed-load.ts';
import { NO_LIMITS, type Service, startService } from './service.ts';

const NODES = 3;
const LOAD_MS = 4_000;
// Longer and shorter than the database waits for a transaction that has gone silent.
const FROZEN_MS = [1_500, 7_000];

const pickOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

/** What can happen, each ended when it resolves. */
const FAULTS: Record<string, (service: Service, server: PostgresServer) => Promise<void>> = {
  'kill -9 of a node': async ({ nodes }) => {
    const node = pickOf(nodes);
    await node.kill();
    await node.start();
  },
  'SIGSTOP of a node': async ({ nodes }) => {
    const node = pickOf(nodes);
    node.signal('SIGSTOP');
    await Bun.sleep(pickOf(FROZEN_MS));
    node.signal('SIGCONT');
  },
  'PostgreSQL: fast restart': (_, server) => restart(server, 'fast'),
  'PostgreSQL: immediate restart': (_, server) => restart(server, 'immediate'),
  'PostgreSQL: kill -9': (_, server) => restart(server, 'kill'),
};

export const FAULT_NAMES = Object.keys(FAULTS);

/** Has one thing happen again and again under load, and tells what became of the writes. */
export async function soakFault(name: string, rounds: number): Promise<Ledger> {
  const server = await PostgresServer.start();
  try {
    const service = await startService(server.address(), NODES, NO_LIMITS);
    const load = new KeyedLoad(service);
    for (let round = 0; round < rounds; round++) {
      await Bun.sleep(LOAD_MS);
      await FAULTS[name]?.(service, server);
      await Promise.all(service.nodes.map((node) => node.ready()));
    }
    await Bun.sleep(LOAD_MS);
    const ledger = await load.end((text) => server.sql(text));
    await service.kill();
    return ledger;
  } finally {
    await server.close();
  }
}

/** Kills a primary under load and promotes its synchronous standby, to which the nodes are then led. */
export async function soakPromotion(): Promise<Ledger> {
  const primary = await PostgresServer.start();
  const proxy = await DatabaseProxy.start(primary.port);
  let standby: PostgresServer | null = null;
  try {
    const service = await startService(proxy.through(primary.address()), NODES, NO_LIMITS);
    standby = await PostgresServer.start({ primary });
    primary.configure({ synchronous_standby_names: '*' });
    primary.reload();
    const follows = `select 1 from pg_stat_replication where sync_state = 'sync'`;
    while ((await primary.sql(follows)).length === 0) await Bun.sleep(50);
    const load = new KeyedLoad(service);
    await Bun.sleep(LOAD_MS);
    await primary.stop('kill');
    await standby.promote();
    proxy.port = standby.port;
    proxy.disconnect();
    await Promise.all(service.nodes.map((node) => node.ready()));
    await Bun.sleep(LOAD_MS);
    const promoted = standby;
    const ledger = await load.end((text) => promoted.sql(text));
    await service.kill();
    return ledger;
  } finally {
    await proxy.stop();
    await standby?.close();
    await primary.close();
  }
}

async function restart(server: PostgresServer, mode: 'fast' | 'immediate' | 'kill'): Promise<void> {
  await server.stop(mode);
  await server.start();
}
