// A store beside the one that writes: it sees each commit of the other thread at once, in the midst of a turn too.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitCount, createSharedMemory } from '../../db/counters/shared-memory.ts';
import { statement } from '../../db/engine/statement.ts';
import { openThreadStore } from '../../db/store.ts';
import type { WritingOptions } from '../support/writing-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
const db = join(folder, 'crm.db');
const common = createSharedMemory();
const writer = new Worker(new URL('../support/writing-thread.ts', import.meta.url));

beforeAll(() => {
  const opened = new Promise((resolve) => {
    writer.onmessage = resolve;
  });
  writer.postMessage({ db, common } satisfies WritingOptions);
  return opened as Promise<void>;
});
afterAll(() => {
  writer.terminate();
  rmSync(folder, { recursive: true, force: true });
});

const named = statement<{ value: string }>((read, param) =>
  read.selectFrom('settings').select('value').where('name', '=', param('name')),
);

test('reads what was committed since the turn began, and tells that keys may have changed', () => {
  const store = openThreadStore(db, common, {
    ready: async () => undefined,
    signals: { wait: async () => undefined },
  });
  const commits = new CommitCount(common);
  for (let round = 0; round < 20; round++) {
    const name = `round-${round}`;
    const mark = store.keyVersion();
    expect(named(store.read, { name })).toEqual([]);
    const before = commits.value;
    writer.postMessage(name);
    // No turn of this thread goes by.
    while (commits.value === before) Bun.sleepSync(1);
    expect(named(store.read, { name })).toEqual([{ value: name }]);
    expect(store.keyVersion()).not.toBe(mark);
  }
  store.close();
});
