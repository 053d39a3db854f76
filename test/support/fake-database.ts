// Servers that stand where a PostgreSQL server is expected: one that refuses with a code, one that keeps silent, one that hangs up.
import { createServer, type Socket } from 'node:net';

export interface FakeDatabase extends AsyncDisposable {
  address: string;
}

const SSL_REQUEST = 80_877_103;

async function listen(onData: (socket: Socket, data: Buffer) => void): Promise<FakeDatabase> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => onData(socket, Buffer.from(data)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const at = server.address();
  return {
    address: `postgres://ada:hunter2@127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}/crm`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A server that answers every connection with an error of that code. */
export function refusing(code: string, message: string): Promise<FakeDatabase> {
  return listen((socket, data) => {
    if (data.readInt32BE(4) === SSL_REQUEST) {
      socket.write('N');
      return;
    }
    const fields = ['SFATAL', 'VFATAL', `C${code}`, `M${message}`].map((field) => `${field}\0`);
    const body = Buffer.from(`${fields.join('')}\0`);
    const head = Buffer.alloc(5, 'E');
    head.writeInt32BE(body.length + 4, 1);
    socket.end(Buffer.concat([head, body]));
  });
}

/** A server that takes connections and says nothing. */
export function silentServer(): Promise<FakeDatabase> {
  return listen(() => undefined);
}

/** A server of something else. */
export function webServer(): Promise<FakeDatabase> {
  return listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
}
