// How a server takes the port and the database over from a running server without failing requests: they wait.
import { DatabaseError, type ServingProcess, servingProcess } from '../../db/store.ts';
import { listenersAt, socketsOf } from './kernel-sockets.ts';
import { canSteer, steerToNewListeners } from './reuseport-steering.ts';

/** Time for the old server to accept the connections that it got before steering changed. */
const HANDSHAKE_MS = 200;
const POLL_MS = 20;
const RELEASE_MS_MAX = 30_000;

export interface NewServer {
  db: string;
  host: string;
  port: number;
  /** How many listeners it will have. */
  count: number;
  /** Where it will serve metrics, if anywhere. */
  metrics?: { host: string; port: number };
}

/** The server that has the database, and is to be replaced. */
export interface OldServer extends ServingProcess {
  db: string;
  /** How many listeners it has on the port. */
  listeners: number;
}

/**
 * The server to take over from; null if no server runs on the database. Changes nothing yet.
 * @throws DatabaseError if it cannot be taken over
 */
export async function findOldServer(newServer: NewServer): Promise<OldServer | null> {
  const { db, host, port, count, metrics } = newServer;
  const holder = servingProcess(db);
  if (holder === null) return null;
  const cannot = (reason: string, ...nextSteps: string[]) =>
    cannotTakeOver({ ...holder, db }, reason, ...nextSteps);
  if (!canSteer()) throw cannot('this system cannot move connections from one server to another');
  const wanted = `${host}:${port}`;
  if (holder.address !== wanted)
    throw cannot(
      `this server would listen at ${wanted}`,
      'Use the same --host and --port as the running server.',
    );
  if (!holder.isSeen) throw cannot('it runs somewhere else, for example in another container');
  const listeners = (await listenersAt(host, port)).length;
  if (listeners === 0) throw cannot('it does not listen on that address');
  if (count < listeners) {
    throw cannot(
      `it has ${listeners} listeners, more than this server would have`,
      `Use --readers ${listeners} or more.`,
    );
  }
  try {
    process.kill(holder.pid, 0);
  } catch {
    throw cannot('it runs as another user', 'Run this command as that user.');
  }
  if (metrics !== undefined && metrics.port !== 0) {
    const own = socketsOf(holder.pid);
    const all = await listenersAt(metrics.host, metrics.port);
    if (own !== null && all.some((socket) => !own.has(socket))) {
      const address = `${metrics.host}:${metrics.port}`;
      throw cannot(`another program already listens at ${address}`, 'Choose another --metrics-port.');
    }
  }
  return { ...holder, db, listeners };
}

function cannotTakeOver(
  { db, pid, address }: ServingProcess & { db: string },
  reason: string,
  ...nextSteps: readonly string[]
): DatabaseError {
  return new DatabaseError(
    `Cannot take over from the server of ${db} (process ${pid}, at ${address}): ${reason}.`,
    [...nextSteps, 'Stop that server, then start this one without --takeover.'],
  );
}

/**
 * Sends new connections here, and signals the old server to hand over, or to stop if requests cannot be forwarded; resolves
 * once it has released the database.
 * @param count number of listeners of the new server
 * @param listen listens and queues requests; returns whether it also receives forwarded ones
 * @throws DatabaseError if that takes more than 30 s
 */
export async function takeOverFrom(
  oldServer: OldServer,
  count: number,
  listen: () => Promise<boolean>,
): Promise<void> {
  let receivesForwarded = false;
  const steering = await steerToNewListeners({ older: oldServer.listeners, newer: count }, async () => {
    receivesForwarded = await listen().catch((error) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw cannotTakeOver(
        oldServer,
        'its port cannot be shared, because an older crm or another user opened it',
      );
    });
  });
  // While the old listeners are closed, only the first of the new ones keeps its position.
  steering?.narrow();
  await Bun.sleep(HANDSHAKE_MS);
  process.kill(oldServer.pid, oldServer.handsOver && receivesForwarded ? 'SIGUSR2' : 'SIGTERM');
  await released(oldServer);
  steering?.end();
}

async function released({ pid, db }: OldServer): Promise<void> {
  const until = performance.now() + RELEASE_MS_MAX;
  while (servingProcess(db)?.pid === pid) {
    if (performance.now() > until) {
      throw new DatabaseError(`Process ${pid} was asked to stop but has not released ${db} within 30 s.`, [
        `End it with "kill -9 ${pid}", then start this server again.`,
      ]);
    }
    await Bun.sleep(POLL_MS);
  }
}
