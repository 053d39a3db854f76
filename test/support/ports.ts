// Ports for servers that have to be told theirs: free, and not given to anybody else for as long as this process runs.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

// Between what system services have and what the system gives to connections and to those who ask for any port.
const FIRST = 20_000;
const LAST = 60_999;
// What Linux gives out, unless it says otherwise.
const GIVEN_FROM = 32_768;

// UDP has ports of its own: the same number is held there, where no server listens.
const held: Bun.udp.Socket<'buffer'>[] = [];

/** A port of 127.0.0.1 on which nobody listens, and which no other caller gets, in this process or another, until it ends. */
export async function freePort(): Promise<number> {
  const end = Math.max(FIRST, Math.min(givenFrom(), LAST));
  // Where the system gives out all of them, the hold keeps other tests away at least.
  const [from, count] = end > FIRST ? [FIRST, end - FIRST] : [FIRST, LAST - FIRST];
  const start = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step++) {
    const port = from + ((start + step) % count);
    const hold = await holdOf(port);
    if (hold === null) continue;
    if (await isFree(port)) {
      hold.unref();
      held.push(hold);
      return port;
    }
    hold.close();
  }
  throw new Error('no port is free');
}

// What is held already is refused by a throw rather than by the promise.
async function holdOf(port: number): Promise<Bun.udp.Socket<'buffer'> | null> {
  try {
    return await Bun.udpSocket({ hostname: '127.0.0.1', port });
  } catch {
    return null;
  }
}

function givenFrom(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  } catch {
    return GIVEN_FROM;
  }
}

// On all addresses, since a server that listens there keeps others from 127.0.0.1.
function isFree(port: number): Promise<boolean> {
  const listener = createServer();
  return new Promise((resolve) => {
    listener.once('error', () => resolve(false));
    listener.listen(port, '0.0.0.0', () => listener.close(() => resolve(true)));
  });
}
