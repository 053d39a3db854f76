// What goes wrong with a server of several threads: one fails, all are killed.
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { createSharedMemory } from '../../db/counters/shared-memory.ts';
import { openStore } from '../../db/store.ts';
import { ReaderThreads } from '../../server/readers/reader-threads.ts';
import { KeyedLoad } from '../soak/keyed-load.ts';
import { Sandbox } from '../support/command.ts';
import { freePort } from '../support/ports.ts';

const LONG = 300_000;

test(
  'a thread that fails is reported once, when every line of the log is there',
  async () => {
    using sandbox = new Sandbox();
    const common = createSharedMemory();
    const store = await openStore(sandbox.database, { common });
    const port = await freePort();
    const lines: string[] = [];
    const failed = Promise.withResolvers<unknown>();
    let failures = 0;
    const options = {
      ...{ count: 2, db: sandbox.database, common },
      ...{ host: '127.0.0.1', port, isPortShared: true, log: 'json' as const },
      addLine: (line: string) => lines.push(line),
      onFailure: (error: unknown) => {
        failures += 1;
        failed.resolve(error);
      },
      lastLinesMs: LONG,
    };
    const entry = new URL('../support/failing-thread.ts', import.meta.url);
    const [first, second] = await new ReaderThreads(options, entry).start(store);
    const ids: (string | null)[] = [];
    for (let count = 0; count < 200; count++) {
      const headers = { Connection: 'close' };
      const answer = await fetch(`http://127.0.0.1:${port}/api/v2/contacts`, { headers });
      ids.push(answer.headers.get('X-Request-Id'));
    }
    void first?.drain();
    expect(await failed.promise).toMatchObject({ message: 'an error that nobody catches' });
    expect(lines.map((line) => JSON.parse(line).request_id).toSorted()).toEqual(ids.toSorted());
    await second?.stop();
    expect(failures).toBe(1);
    await store.close();
  },
  LONG,
);

test(
  'what keeps a thread from listening is thrown, and the others end',
  async () => {
    using sandbox = new Sandbox();
    const common = createSharedMemory();
    const store = await openStore(sandbox.database, { common });
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
    const failures: unknown[] = [];
    const threads = new ReaderThreads({
      ...{ count: 2, db: sandbox.database, common },
      ...{ host: '127.0.0.1', port: other.port ?? 0, isPortShared: true, log: 'off' },
      addLine: () => undefined,
      onFailure: (error) => failures.push(error),
    });
    expect(await threads.start(store).catch((error) => error.code)).toBe('EADDRINUSE');
    expect(failures).toEqual([]);
    await other.stop(true);
    await store.close();
  },
  LONG,
);

test(
  'kill -9 under load loses nothing that was acknowledged, and doubles nothing',
  async () => {
    using sandbox = new Sandbox();
    const key = await sandbox.ok(['init', '--org', 'Example']);
    const serve = () => sandbox.serve(['--readers', '2', '--key-limit', '1000000', '--org-limit', '1000000']);
    let server = await serve();
    const node = { url: server.url };
    const load = new KeyedLoad({ nodes: [node], key });
    for (let round = 0; round < 3; round++) {
      const before = load.acknowledged;
      while (load.acknowledged < before + 150) await Bun.sleep(5);
      await server.stop('SIGKILL');
      server = await serve();
      node.url = server.url;
    }
    using file = new Database(sandbox.database, { readonly: true });
    const ledger = await load.end(async (text) => file.query<Record<string, unknown>, []>(text).all());
    expect(ledger).toMatchObject({ lost: 0, doubled: 0, unexpected: [] });
    expect(ledger.repeated).toBeGreaterThan(0);
    expect((await server.stop()).code).toBe(0);
  },
  LONG,
);
