// Step 8, execution: a read on the reader; a write in one transaction with the stored answer to its key.

import { takeInstant } from '../../db/instants.ts';
import { attempt } from '../../db/savepoint.ts';
import type { Db } from '../../db/schema.ts';
import type { Store } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { Call, Operation } from '../operation.ts';
import type { Exchange } from './exchange.ts';
import type { KeyedRequest, Replays, StoredAnswer } from './replay.ts';
import { type Rendered, renderAnswer, renderError } from './respond.ts';

/** A request that has passed every check. */
export interface Executable {
  operation: Operation;
  call: Omit<Call, 'db' | 'now'>;
  exchange: Exchange;
  keyed: KeyedRequest | null;
  /** Unix milliseconds, asked when the operation's turn has come. */
  clock: () => number;
}

/** What becomes of a request: an answer of its own, or the one that another node has stored under its key meanwhile. */
export type Executed = { rendered: Rendered } | { stored: StoredAnswer };

/** Runs the operation of a request and gives its answer. */
export async function execute(store: Store, replays: Replays, executable: Executable): Promise<Executed> {
  const { operation, call, exchange, keyed, clock } = executable;
  const { now } = exchange;
  const { orgId } = call.access;
  if (!operation.isWrite)
    return { rendered: renderAnswer(exchange, await operation.run({ ...call, db: store.read, now })) };
  const write = async (db: Db) => {
    if (exchange.givenUp !== null) throw exchange.givenUp;
    return operation.run({ ...call, db, now: await takeInstant(db, orgId, clock()) });
  };
  if (keyed === null) return { rendered: renderAnswer(exchange, await store.write(orgId, write)) };
  return store.write(orgId, async (db) => {
    // Nobody else writes to the organization now, so what another node has done by now is there to be seen; and copies
    // that came to this one wait for each other before they come here.
    const stored = store.isShared ? await replays.find(db, keyed, now) : undefined;
    if (stored !== undefined) return { stored };
    const rendered = await attempt(db, () => write(db)).then(
      (answer) => renderAnswer(exchange, answer),
      (error) => renderStorable(exchange, error),
    );
    await replays.store(db, keyed, rendered, now);
    return { rendered };
  });
}

// Of what fails, only "not found" and "conflict" are answers that a repeat of the request must get again.
function renderStorable(exchange: Exchange, error: unknown): Rendered {
  if (error instanceof ApiError && (error.status === 404 || error.status === 409))
    return renderError(exchange, error);
  throw error;
}
