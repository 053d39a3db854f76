// The very end of a listener: what comes while its thread is busy is answered, and a late stop warns of nothing.
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextTurn } from '../../db/event-loop.ts';
import { Listener } from '../../server/lifecycle/listener.ts';
import { TurnedClock } from '../support/wait-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-drain-race-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** Files that tell the client to send, and that it has sent. */
const [send, sent] = [join(folder, 'send'), join(folder, 'sent')];

const CLIENT = `
const { existsSync, writeFileSync } = require('node:fs');
const { HttpConnection } = require(${JSON.stringify(join(import.meta.dir, '../support/http-connection.ts'))});
const connection = await HttpConnection.open(process.argv[1]);
await connection.ask({ method: 'GET', path: '/' });
console.log('kept');
while (!existsSync(${JSON.stringify(send)})) await Bun.sleep(10);
const answer = connection.ask({ method: 'GET', path: '/' });
writeFileSync(${JSON.stringify(sent)}, '');
console.log(await answer.then(({ status }) => status, String));`;

const listen = () =>
  new Listener({ host: '127.0.0.1', port: 0, isPortShared: false, fetch: () => new Response('ok') });

test('a request on a kept connection, sent while the thread was busy', async () => {
  const listener = listen();
  const url = `http://127.0.0.1:${listener.port}`;
  const client = Bun.spawn([process.execPath, '-e', CLIENT, url], { stdout: 'pipe', stderr: 'inherit' });
  const told = client.stdout.getReader();
  await told.read();
  await listener.drain(0);
  writeFileSync(send, '');
  for (let left = 6_000; left > 0 && !existsSync(sent); left--) Bun.sleepSync(10);
  await listener.stop();
  expect(new TextDecoder().decode((await told.read()).value).trim()).toBe('200');
});

test('a stop that has no time left warns of no negative timeout', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  using clock = new TurnedClock();
  const listener = listen();
  await listener.drain(0);
  clock.skip(10_000);
  await listener.stop();
  await nextTurn();
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
