// A way to a database server that can be made a black hole: connections stay open, and nothing comes through any more.
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Which of the two ways swallows what comes. */
export type Hole = 'none' | 'both' | 'answers';

export class DatabaseProxy {
  hole: Hole = 'none';
  /** Sees what clients send, before it goes on or is swallowed. */
  onSent: (text: string) => void = () => undefined;
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
    client.on('data', (data) => {
      this.onSent(data.toString('latin1'));
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
