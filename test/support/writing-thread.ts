// A thread that has a file open to write, and commits whatever it is sent.
import type { SharedMemory } from '../../db/counters/shared-memory.ts';
import { openStore } from '../../db/store.ts';

export interface WritingOptions {
  db: string;
  common: SharedMemory;
}

declare const self: Worker;

let store: Awaited<ReturnType<typeof openStore>> | undefined;

self.onmessage = async ({ data }: MessageEvent<WritingOptions | string>) => {
  if (typeof data === 'object') store = await openStore(data.db, { common: data.common });
  else
    await store?.write('accounts', (trx) =>
      trx.insertInto('settings').values({ name: data, value: data }).execute(),
    );
  self.postMessage('done');
};
