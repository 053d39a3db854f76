// What comes while a thread is busy in the very moment of its end is answered before the connection is closed.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Listener } from '../../server/lifecycle/listener.ts';

const CLIENT = `
const { HttpConnection } = require(${JSON.stringify(join(import.meta.dir, '../support/http-connection.ts'))});
const connection = await HttpConnection.open(process.argv[1]);
await connection.ask({ method: 'GET', path: '/' });
console.log('kept');
await Bun.sleep(300);
console.log(await connection.ask({ method: 'GET', path: '/' }).then(({ status }) => status, String));`;

test('a request on a kept connection, sent while the thread was busy', async () => {
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    isPortShared: false,
    fetch: () => new Response('ok'),
  });
  const url = `http://127.0.0.1:${listener.port}`;
  const client = Bun.spawn([process.execPath, '-e', CLIENT, url], { stdout: 'pipe', stderr: 'inherit' });
  const told = client.stdout.getReader();
  await told.read();
  await listener.drain(0);
  Bun.sleepSync(1_000);
  await listener.stop();
  expect(new TextDecoder().decode((await told.read()).value).trim()).toBe('200');
});
