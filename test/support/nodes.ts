// Several nodes on one database, in one process: each with a store, and so with connections and locks, of its own.
import { openStore, type Store } from '../../db/store.ts';
import {
  appOn,
  type Harness,
  type HarnessOptions,
  onClock,
  type Send,
  sender,
  startHarness,
} from './harness.ts';

export interface Node {
  store: Store;
  send: Send;
}

export interface Nodes {
  /** The first node, which made the database. */
  first: Harness;
  all: readonly [Node, Node];
  close(): Promise<void>;
}

/** Starts two nodes, which share a clock. */
export async function startNodes(options: HarnessOptions = {}): Promise<Nodes> {
  const first = await startHarness(options);
  const { dbPath, clock, v1, v2 } = first;
  const store = await openStore(dbPath, { clock: () => clock.now });
  const app = await appOn(store, clock, options);
  const second = { store, send: sender(onClock(app, clock), { v1, v2 }) };
  return {
    first,
    all: [first, second],
    close: async () => {
      await store.close();
      await first.close();
    },
  };
}
