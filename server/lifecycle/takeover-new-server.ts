// How a server takes port and database over from the one that has them, so that no request fails: those that come wait.
import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { DatabaseError, type ServingProcess, servingProcess } from '../../db/store.ts';
import { canSteer, takeOver } from './reuseport-steering.ts';

/** What it takes to shake hands with the former server, beside the time for which that goes on. */
const HANDSHAKE_MS = 200;
const LOOK_MS = 20;
const LEAVE_MS_MAX = 30_000;

export interface NewServer {
  db: string;
  host: string;
  port: number;
  /** How many listeners it is to have. */
  count: number;
  /** Where it is to tell metrics, if anywhere. */
  metrics?: { host: string; port: number };
}

/** The server that has the database now. */
export interface FormerServer extends ServingProcess {
  db: string;
  /** How many listeners it has on the port. */
  listeners: number;
}

/**
 * The server from which to take over; null where nobody serves the database. Nothing is changed yet.
 * @throws DatabaseError if it cannot be taken over
 */
export async function findFormerServer({
  db,
  host,
  port,
  count,
  metrics,
}: NewServer): Promise<FormerServer | null> {
  const holder = servingProcess(db);
  if (holder === null) return null;
  const cannot = (reason: string, ...nextSteps: string[]) =>
    cannotTakeOver({ ...holder, db }, reason, nextSteps);
  if (!canSteer()) throw cannot('this system cannot lead connections from one server to another');
  const wanted = `${host}:${port}`;
  if (holder.address !== wanted)
    throw cannot(`this one is to listen at ${wanted}`, 'Give the same --host and --port.');
  if (!holder.isSeen) throw cannot('it runs elsewhere, such as in another container');
  const listeners = (await listenersAt(host, port)).length;
  if (listeners === 0) throw cannot('it does not listen there');
  if (count < listeners) {
    throw cannot(
      `it listens ${listeners} times, and this one less often`,
      `Give --readers ${listeners} or more.`,
    );
  }
  try {
    process.kill(holder.pid, 0);
  } catch {
    throw cannot('another user runs it', 'Run this command as that user.');
  }
  if (metrics !== undefined && metrics.port !== 0) {
    const own = socketsOf(holder.pid);
    const all = await listenersAt(metrics.host, metrics.port);
    if (own !== null && all.some((socket) => !own.has(socket))) {
      const address = `${metrics.host}:${metrics.port}`;
      throw cannot(`another program listens at ${address}`, 'Choose another --metrics-port.');
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
    `The server of ${db} (process ${pid}, at ${address}) cannot be taken over: ${reason}.`,
    [...nextSteps, 'Stop it, then start this one without --takeover.'],
  );
}

/**
 * Has requests come here from now on, and tells the former server to hand over, or to end where it does not know how;
 * resolves once that has given the database up.
 * @param count of listeners
 * @param wait listens, and has requests wait; tells whether those of the former server's connections are taken, too
 * @throws DatabaseError if it does not within 30 s
 */
export async function takeOverFrom(
  former: FormerServer,
  count: number,
  wait: () => Promise<boolean>,
): Promise<void> {
  let takesRequests = false;
  const steering = await takeOver({ older: former.listeners, newer: count }, async () => {
    takesRequests = await wait().catch((error) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw cannotTakeOver(
        former,
        'its port cannot be shared, as an older crm or another user opened it',
        [],
      );
    });
  });
  // Wherever the older ones are closed, the first of the newer ones keeps its place until the last of them is.
  steering?.narrow();
  await Bun.sleep(HANDSHAKE_MS);
  process.kill(former.pid, former.handsOver && takesRequests ? 'SIGUSR2' : 'SIGTERM');
  await gone(former);
  steering?.end();
}

async function gone({ pid, db }: FormerServer): Promise<void> {
  const until = performance.now() + LEAVE_MS_MAX;
  while (servingProcess(db)?.pid === pid) {
    if (performance.now() > until) {
      throw new DatabaseError(`Process ${pid} was told to stop, and has not given up ${db} in 30 s.`, [
        `End it, and start this one again: kill -9 ${pid}`,
      ]);
    }
    await Bun.sleep(LOOK_MS);
  }
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';

/** What listens at an address, each by the number that the system has for its socket. */
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

// Null where the system does not tell.
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
    // Closed meanwhile.
    return '';
  }
}

const portForm = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

// proc(5): hexadecimal, each word of 32 bits in the order of the machine's bytes.
function addressOf(hex: string): string {
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => [...Buffer.from(word, 'hex').reverse()]) ?? [];
  if (bytes.length === 4) return bytes.join('.');
  return canonical(Buffer.from(bytes).toString('hex').match(/.{4}/g)?.join(':') ?? '');
}

function canonical(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address;
}
