// How a server takes the port and the database over from a running server without failing requests: they wait.
import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { DatabaseError, type ServingProcess, servingProcess } from '../../db/store.ts';
import { canSteer, steerToNewListeners } from './reuseport-steering.ts';

/** Time for connections to be accepted by the previous server after steering has changed. */
const HANDSHAKE_MS = 200;
const LOOK_MS = 20;
const LEAVE_MS_MAX = 30_000;

export interface NewServer {
  db: string;
  host: string;
  port: number;
  /** How many listeners it will have. */
  count: number;
  /** Where it will serve metrics, if anywhere. */
  metrics?: { host: string; port: number };
}

/** The server that has the database now. */
export interface OldServer extends ServingProcess {
  db: string;
  /** How many listeners it has on the port. */
  listeners: number;
}

/**
 * The server to take over from; null if no server runs on the database. Changes nothing yet.
 * @throws DatabaseError if it cannot be taken over
 */
export async function findOldServer({
  db,
  host,
  port,
  count,
  metrics,
}: NewServer): Promise<OldServer | null> {
  const holder = servingProcess(db);
  if (holder === null) return null;
  const cannot = (reason: string, ...nextSteps: string[]) =>
    cannotTakeOver({ ...holder, db }, reason, nextSteps);
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
  nextSteps: readonly string[],
): DatabaseError {
  return new DatabaseError(
    `Cannot take over from the server of ${db} (process ${pid}, at ${address}): ${reason}.`,
    [...nextSteps, 'Stop that server, then start this one without --takeover.'],
  );
}

/**
 * Routes new requests here, and asks the previous server to hand over, or to stop if it does not support that; resolves
 * once it has released the database.
 * @param count number of listeners
 * @param wait listens and lets requests wait; returns whether it also receives requests that are handed over
 * @throws DatabaseError if that takes more than 30 s
 */
export async function takeOverFrom(
  former: OldServer,
  count: number,
  wait: () => Promise<boolean>,
): Promise<void> {
  let takesRequests = false;
  const steering = await steerToNewListeners({ older: former.listeners, newer: count }, async () => {
    takesRequests = await wait().catch((error) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw cannotTakeOver(
        former,
        'its port cannot be shared, because an older crm or another user opened it',
        [],
      );
    });
  });
  // While older listeners are closed, the first of the newer ones keeps its position.
  steering?.narrow();
  await Bun.sleep(HANDSHAKE_MS);
  process.kill(former.pid, former.handsOver && takesRequests ? 'SIGUSR2' : 'SIGTERM');
  await gone(former);
  steering?.end();
}

async function gone({ pid, db }: OldServer): Promise<void> {
  const until = performance.now() + LEAVE_MS_MAX;
  while (servingProcess(db)?.pid === pid) {
    if (performance.now() > until) {
      throw new DatabaseError(`Process ${pid} was asked to stop but has not released ${db} within 30 s.`, [
        `End it with "kill -9 ${pid}", then start this server again.`,
      ]);
    }
    await Bun.sleep(LOOK_MS);
  }
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';

/** The sockets that listen on an address, each by its inode number. */
async function listenersAt(host: string, port: number): Promise<string[]> {
  const addresses = new Set((await lookup(host, { all: true })).map(({ address }) => canonical(address)));
  const rows = TABLES.flatMap((table) => readFileSync(table, 'utf8').split('\n').slice(1));
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , socket = ''] = row.trim().split(/\s+/);
    const [address = '', portText] = local.split(':');
    const isThere = state === LISTENS && portText === portForm(port) && addresses.has(addressOf(address));
    return isThere ? [socket] : [];
  });
}

// Null if the system does not say.
function socketsOf(pid: number): Set<string> | null {
  const folder = `/proc/${pid}/fd`;
  try {
    return new Set(readdirSync(folder).map((fd) => socketOf(`${folder}/${fd}`)));
  } catch {
    return null;
  }
}

function socketOf(link: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1] ?? '';
  } catch {
    // Closed in the meantime.
    return '';
  }
}

const portForm = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

// proc(5): hexadecimal, each 32-bit word in the byte order of the machine.
function addressOf(hex: string): string {
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => [...Buffer.from(word, 'hex').reverse()]) ?? [];
  if (bytes.length === 4) return bytes.join('.');
  return canonical(Buffer.from(bytes).toString('hex').match(/.{4}/g)?.join(':') ?? '');
}

function canonical(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address;
}
