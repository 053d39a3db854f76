// A pooler as PgBouncer before 1.21 is: it drops what clients ask for as they begin, and gives sessions out by turns.
import { connect, createServer, type Server, type Socket } from 'node:net';

const SSL_REQUEST = 80_877_103;
const PROTOCOL = 196_608;
const LENGTH_BYTES = 4;

/** For how long a client has a session: until it disconnects, or to the end of each transaction. */
export type PoolMode = 'session' | 'transaction';

/** A session of the server; its first answers are over. */
interface Session {
  socket: Socket;
  client: Client | null;
  /** What the server said of itself as the session began. */
  greeting: Buffer;
}

interface Client {
  socket: Socket;
  session: Session | null;
  /** What is to be sent as soon as it has a session. */
  waiting: Buffer[];
  /** How many answers are outstanding. */
  pending: number;
}

export class Pooler {
  readonly #server: Server;
  readonly #mode: PoolMode;
  readonly #sessions: Session[];
  readonly #clients = new Set<Client>();
  #turn = 0;

  private constructor(server: Server, mode: PoolMode, sessions: Session[]) {
    this.#server = server;
    this.#mode = mode;
    this.#sessions = sessions;
  }

  /** Starts one before that database of a server on this machine, with so many sessions of the user `crm`. */
  static async start(port: number, database: string, mode: PoolMode, sessions: number): Promise<Pooler> {
    const server = createServer();
    const opened = Array.from({ length: sessions }, () => openSession(port, database));
    const pooler = new Pooler(server, mode, await Promise.all(opened));
    for (const session of pooler.#sessions) pooler.#serve(session);
    server.on('connection', (socket) => pooler.#join(socket));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return pooler;
  }

  /** The address of a database, by way of the pooler. */
  through(address: string): string {
    const listening = this.#server.address();
    const port = typeof listening === 'object' && listening !== null ? listening.port : 0;
    return address.replace(/:\d+\//, `:${port}/`);
  }

  async stop(): Promise<void> {
    for (const { socket } of this.#clients) socket.destroy();
    for (const { socket } of this.#sessions) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #join(socket: Socket): void {
    const client: Client = { socket, session: null, waiting: [], pending: 0 };
    this.#clients.add(client);
    let hasBegun = false;
    const take = messages((message) => this.#send(client, message));
    socket.on('data', (data) => {
      if (hasBegun) return take(data);
      if (Buffer.from(data).readInt32BE(LENGTH_BYTES) === SSL_REQUEST) return socket.write('N');
      hasBegun = true;
      return socket.write(this.#sessions[0]?.greeting ?? '');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#clients.delete(client);
      this.#release(client);
    });
  }

  #send(client: Client, message: Buffer): void {
    const kind = String.fromCharCode(message[0] ?? 0);
    if (kind === 'X') {
      client.socket.destroy();
      return;
    }
    if (kind === 'S' || kind === 'Q') client.pending += 1;
    client.waiting.push(message);
    this.#handOn(client);
  }

  // By turns, and to a client that has none and waits: there is no more order to it than in a busy pooler.
  #handOn(client: Client): void {
    const count = this.#sessions.length;
    for (let tries = 0; client.session === null && tries < count; tries += 1) {
      const session = this.#sessions[this.#turn++ % count];
      if (session === undefined || session.client !== null) continue;
      session.client = client;
      client.session = session;
    }
    if (client.session !== null)
      for (const message of client.waiting.splice(0)) client.session.socket.write(message);
  }

  #serve(session: Session): void {
    const take = messages((message) => {
      const { client } = session;
      client?.socket.write(message);
      if (client === null || !isReady(message)) return;
      client.pending -= 1;
      if (this.#mode === 'transaction' && client.pending === 0 && isIdle(message)) this.#release(client);
    });
    session.socket.on('data', take);
  }

  #release(client: Client): void {
    if (client.session !== null) client.session.client = null;
    client.session = null;
    for (const other of this.#clients) if (other.waiting.length > 0) this.#handOn(other);
  }
}

async function openSession(port: number, database: string): Promise<Session> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const body = Buffer.from(`user\0crm\0database\0${database}\0\0`);
  const head = Buffer.alloc(2 * LENGTH_BYTES);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(PROTOCOL, LENGTH_BYTES);
  socket.write(Buffer.concat([head, body]));
  const greeting: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const take = messages((message) => {
      greeting.push(message);
      if (isReady(message)) resolve();
    });
    socket.on('data', take);
    socket.once('close', () => reject(new Error(Buffer.concat(greeting).toString())));
  });
  socket.removeAllListeners('data');
  return { socket, client: null, greeting: Buffer.concat(greeting) };
}

const isReady = (message: Buffer) => message[0] === 'Z'.charCodeAt(0);
const isIdle = (message: Buffer) => message.at(-1) === 'I'.charCodeAt(0);

/** Cuts what comes into messages: a letter, four bytes of length, the rest. */
function messages(onMessage: (message: Buffer) => void): (data: Buffer | string) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, Buffer.from(data)]);
    while (rest.length > LENGTH_BYTES) {
      const end = 1 + rest.readInt32BE(1);
      if (rest.length < end) return;
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}
