// The log of `crm serve`: no line is lost when it ends, and nobody who reads it slowly, or not at all, holds the server up.
import { afterAll, describe, expect, test } from 'bun:test';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { Sandbox } from '../support/command.ts';
import { freePort } from '../support/ports.ts';
import { roundThat } from '../support/rounds.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

const CHILD = join(import.meta.dir, '../support/logging-child.ts');

/** Sends so many requests, one after another, and gives the ids of the answers. */
async function ask(url: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    ids.push((await fetch(`${url}/api/v2/contacts`)).headers.get('X-Request-Id') ?? '');
  }
  return ids;
}

const idsIn = (stderr: string) => [...stderr.matchAll(/"request_id":"(req_[^"]+)"/g)].map(([, id]) => id);

/** A pipe for stderr that nobody reads until asked to. */
async function unreadPipe(name: string) {
  const path = sandbox.path(name);
  await Bun.spawn(['mkfifo', path]).exited;
  // Open at both ends, so that neither side waits for the other to come.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const bytes = Buffer.alloc(64 * 1024);
  const readSome = () => {
    try {
      return bytes.toString('utf8', 0, readSync(fd, bytes));
    } catch {
      return '';
    }
  };
  return {
    fd,
    async readUntil(isEnough: (text: string) => boolean): Promise<string> {
      let text = '';
      while (!isEnough(text)) {
        text += readSome();
        await Bun.sleep(2);
      }
      return text;
    },
    close: () => closeSync(fd),
  };
}

describe('all lines are written', () => {
  test('by every thread, whole, when SIGTERM ends it', async () => {
    await using other = new Sandbox();
    const server = await other.serve(['--log', 'json', '--readers', '2']);
    const ids = (await Promise.all(Array.from({ length: 20 }, () => ask(server.url, 50)))).flat();
    const { code, stderr } = await server.stop();
    expect([code, idsIn(stderr).toSorted()]).toEqual([0, ids.toSorted()]);
    const lines = stderr.split('\n').filter((line) => line.includes('request_id'));
    expect(lines.every(isJson)).toBe(true);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)(
    'when %s ends it, before its last words',
    async (signal) => {
      await using other = new Sandbox();
      const server = await other.serve(['--log', 'json']);
      const ids = await ask(server.url, 30);
      const { code, stderr } = await server.stop(signal);
      expect([code, idsIn(stderr)]).toEqual([0, ids]);
      expect(stderr).toEndWith('}\nShutting down: finishing open requests.\n');
    },
  );

  test.each([
    ['exit', 7, ''],
    ['error', 1, 'an error that nobody catches'],
    ['rejection', 1, 'a rejection that nobody catches'],
  ])('when it ends by %s', async (how, code, words) => {
    const child = Bun.spawn([process.execPath, CHILD, sandbox.path(`${how}.db`), how], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const said = child.stderr.text();
    const { value } = await child.stdout.getReader().read();
    const ids = await ask(
      Buffer.from(value ?? [])
        .toString()
        .trim(),
      30,
    );
    child.kill('SIGUSR2');
    const stderr = await said;
    expect([await child.exited, idsIn(stderr)]).toEqual([code, ids]);
    expect(stderr).toContain(words);
  });
});

describe('stderr that', () => {
  test('nobody reads for a while gets every line in order, and no request waits', async () => {
    const pipe = await unreadPipe('slow');
    const server = await serveInto(pipe.fd, 'slow.db');
    // Some times what a pipe holds.
    const ids = await ask(server.url, 1_500);
    const text = await pipe.readUntil((soFar) => idsIn(soFar).length >= ids.length);
    expect(idsIn(text)).toEqual(ids);
    expect(
      text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .every(isJson),
    ).toBe(true);
    await server.stop();
    pipe.close();
  });

  test('nobody reads any more does not keep the server from ending', async () => {
    const pipe = await unreadPipe('stuck');
    const server = await serveInto(pipe.fd, 'stuck.db');
    await ask(server.url, 1_000);
    const startedAt = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    pipe.close();
  });

  test('is a terminal that is paused holds nothing up', async () => {
    const [pause, resume, interrupt] = ['\x13', '\x11', '\x03'];
    const linesOf = async (round: number) => {
      const db = `paused-${round}.db`;
      const port = await freePort();
      const asked = Promise.withResolvers<number>();
      const { code, output } = await sandbox.onTerminal(
        ['serve', '--db', db, '--port', String(port), '--log', 'pretty'],
        {
          when: 'Next: crm init',
          during: async (type) => {
            type(pause);
            asked.resolve((await ask(`http://127.0.0.1:${port}`, 1_000)).length);
            type(resume);
            type(interrupt);
          },
        },
      );
      expect([code, await asked.promise]).toEqual([0, 1_000]);
      return output.match(/GET \/api\/v2\/contacts/g)?.length ?? 0;
    };
    // At its end it waits half a second for a reader, in which this process does not always read on a busy machine.
    expect(await roundThat((lines) => lines === 1_000, linesOf, 4)).toBe(1_000);
  });

  test('is closed costs its lines, and no more', async () => {
    const pipe = await unreadPipe('closed');
    const writing = openSync(sandbox.path('closed'), constants.O_WRONLY);
    pipe.close();
    const server = await serveInto(writing, 'closed.db');
    closeSync(writing);
    expect(await ask(server.url, 500)).toHaveLength(500);
    expect(await server.stop()).toBe(0);
  });
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Starts `crm serve` with its stderr going to an open file. */
async function serveInto(stderr: number, db: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = sandbox.spawn(['serve', '--db', db, '--port', String(port), '--log', 'json'], stderr);
  while ((await fetch(`${url}/healthz`).catch(() => undefined)) === undefined) await Bun.sleep(20);
  return {
    url,
    stop: () => {
      server.kill('SIGTERM');
      return server.exited;
    },
  };
}
