// A way to a database server that can be made a black hole: connections stay open, and nothing comes through any more.
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Which of the two ways swallows what comes. */
export type Hole = 'none' | 'both' | 'answers';

// Messages that prepare a statement, with its name and its text, and that run one.
const PREPARES = /P\0\0.{2}(P\d+)\0([^\0]*)\0/gs;
const RUNS = /B\0\0.{2}\0(P\d+)\0/gs;
const ENDS = /\b(?:commit|rollback)\b/i;

export class DatabaseProxy {
  hole: Hole = 'none';
  /**
   * Sees what a client sends before it goes on or is swallowed: with the texts of the prepared statements in it, after all that
   * the client sent since the end of its last transaction.
   */
  onSent: (text: string, transaction: string) => void = () => undefined;
  /** The port of this machine to which connections go that are made from now on. */
  port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** Starts a proxy to that port of this machine. */
  static async start(port: number): Promise<DatabaseProxy> {
    const server = createServer();
    const proxy = new DatabaseProxy(server, port);
    server.on('connection', (client) => proxy.#join(client, connect(proxy.port, '127.0.0.1')));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  /** The address, with this proxy's port for that of the server. */
  through(address: string): string {
    const listening = this.#server.address();
    const port = typeof listening === 'object' && listening !== null ? listening.port : 0;
    return address.replace(/:\d+\//, `:${port}/`);
  }

  /** Ends every connection. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await new Promise((done) => this.#server.close(done));
  }

  #join(client: Socket, server: Socket): void {
    const prepared = new Map<string, string>();
    let transaction = '';
    client.on('data', (data) => {
      const text = data.toString('latin1');
      for (const [, name = '', statement = ''] of text.matchAll(PREPARES)) prepared.set(name, statement);
      const names = [...text.matchAll(RUNS)].map(([, name = '']) => prepared.get(name));
      const sent = [text, ...names].join('\n');
      transaction += sent;
      this.onSent(sent, transaction);
      if (ENDS.test(sent)) transaction = '';
      if (this.hole !== 'both') server.write(data);
    });
    server.on('data', (data) => {
      if (this.hole === 'none') client.write(data);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
