// An app as a reader thread has it, in the thread of the test: its own connection, and writes that go by text.
import type { SharedMemory } from '../../db/counters/shared-memory.ts';
import { openThreadStore, type ReadStore, type Store } from '../../db/store.ts';
import type { Executor } from '../../server/pipeline/execute.ts';
import { Channel } from '../../server/readers/channel.ts';
import { remoteSignals, type WaitKind, waitHandlers } from '../../server/readers/forwarded-waits.ts';
import { remoteExecutor, type WriteKind, writeHandlers } from '../../server/readers/forwarded-writes.ts';
import type { ThreadKind } from '../../server/readers/thread.ts';

/** Whether the tests that have a harness run on such an app. */
export const usesReaderThread = process.env.CRM_TEST_READERS !== undefined;

export interface ReaderApp {
  store: ReadStore & { close(): void };
  executor: Executor;
}

/** What such an app answers from, and how it writes to a store that was opened with that memory. */
export function readerApp(
  main: Store,
  given: { db: string; common: SharedMemory; clock: () => number },
): ReaderApp {
  const { db, common, clock } = given;
  const writer: Channel<ThreadKind> = new Channel(
    { post: (messages) => thread.receive(messages), gather: queueMicrotask },
    { ...writeHandlers(main, { clock }), ...waitHandlers(main.signals) },
  );
  const thread: Channel<WriteKind | WaitKind> = new Channel(
    { post: (messages) => writer.receive(messages), gather: queueMicrotask },
    {},
  );
  const store = openThreadStore(db, common, {
    clock,
    ready: async () => void (await thread.ask('ready')),
    signals: remoteSignals(thread),
  });
  return { store, executor: remoteExecutor(thread) };
}
