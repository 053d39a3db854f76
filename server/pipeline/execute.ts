// Step 8, execution: a read on the reader; a write in one transaction with the stored answer to its key.
import { attempt } from '../../db/savepoint.ts';
import type { Store } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { Call, Operation } from '../operation.ts';
import { ConflictError } from '../records/conflict.ts';
import type { Exchange } from './exchange.ts';
import type { KeyedRequest, Replays } from './replay.ts';
import { type Rendered, renderAnswer, renderError } from './respond.ts';

/** Runs an operation whose request has passed every check. */
export async function execute(
  operation: Operation,
  call: Omit<Call, 'db'>,
  exchange: Exchange,
  store: Store,
  keyed: KeyedRequest | null,
  replays: Replays,
): Promise<Rendered> {
  if (!operation.isWrite) return renderAnswer(exchange, await operation.run({ ...call, db: store.read }));
  if (keyed === null) {
    const answer = await store
      .write((db) => operation.run({ ...call, db }))
      .catch((error) => {
        throw located(error, call.baseUrl);
      });
    return renderAnswer(exchange, answer);
  }
  return store.write(async (db) => {
    const rendered = await attempt(db, () => operation.run({ ...call, db })).then(
      (answer) => renderAnswer(exchange, answer),
      (error) => renderStorable(exchange, located(error, call.baseUrl)),
    );
    await replays.store(db, keyed, rendered, call.now);
    return rendered;
  });
}

// Of what fails, only "not found" and "conflict" are answers that a repeat of the request must get again.
function renderStorable(exchange: Exchange, error: unknown): Rendered {
  if (error instanceof ApiError && (error.status === 404 || error.status === 409))
    return renderError(exchange, error);
  throw error;
}

// A conflict points to the record that is in the way, where the key may see it.
function located(error: unknown, baseUrl: string): unknown {
  if (error instanceof ConflictError && error.existingId !== null) {
    error.headers.Location = `${baseUrl}/api/v2/${error.resource}/${error.existingId}`;
  }
  return error;
}
