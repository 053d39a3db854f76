// Step 8, execution: a read on the reader; a write in one transaction with the stored answer to its key.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import { attempt } from '../../db/engine/savepoint.ts';
import type { Db, RecordKey } from '../../db/engine/schema.ts';
import { secondsUntilRoomIn } from '../../db/engine/stored-response-bytes.ts';
import { takeInstant } from '../../db/engine/write-instant.ts';
import type { ReadStore, Store } from '../../db/store.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { findStoredResponse } from '../../db/tables/idempotency.ts';
import { touchKey } from '../../db/tables/keys.ts';
import { ApiError } from '../errors.ts';
import type { Answer, Call, Operation } from '../operation.ts';
import type { Asked, Exchange } from './exchange.ts';
import { type Exports, Once, type Told } from './export-audit.ts';
import type { WriteObserver } from './observer.ts';
import { type KeyedRequest, storeAnswer } from './replay.ts';
import { type Rendered, renderAnswer, renderError, renderPage } from './respond.ts';
import { bytesToSend, type Room } from './response-reservation.ts';

/** A request that has passed every check. */
export interface Executable {
  operation: Operation;
  call: Omit<Call, 'db' | 'now'>;
  exchange: Asked & Pick<Exchange, 'givenUp'>;
  keyed: KeyedRequest | null;
  /** For its answer. */
  room: Room;
}

/**
 * The answer to a request; null where nothing was done, or nothing is left of it, because there was no room for the answer,
 * or because, since its key was looked at, another request was answered under it or stored answers took the last of their
 * room: it is to be looked at again.
 */
export type Executed = Rendered | null;

/** Carries out what requests write: on the store, or by asking the thread that has it. */
export interface Executor {
  write(executable: Executable): Promise<Executed>;
  /** Notes when a key was last used, in Unix milliseconds; not waited for, nor sure. */
  noteUse(key: RecordKey, at: number): void;
  /** Adds to the audit log what nothing writes but that; once, of what is told again. */
  record(told: Told): Promise<void>;
}

/** Runs the operation of a request and gives its answer. */
export function execute(
  { store, executor, exports }: { store: Pick<ReadStore, 'read'>; executor: Executor; exports: Exports },
  executable: Executable & { exchange: Exchange },
): Eventually<Executed> {
  const { operation, call, exchange, room } = executable;
  if (operation.isWrite) return executor.write(executable);
  const answered = operation.run({ ...call, db: store.read, now: exchange.now });
  return andThen(answered, (answer) => {
    if (answer.status === 204 || answer.object !== 'list')
      return fitting(room, renderAnswer(exchange, answer));
    const page = renderPage(exchange, answer);
    const rendered = fitting(room, page.rendered);
    if (rendered !== null) exports.note(operation, call, exchange, page);
    return rendered;
  });
}

/**
 * What carries out writes on a store.
 * @param options the clock, Unix milliseconds, is asked when the turn of an operation has come
 */
export function storeExecutor(
  store: Store,
  { clock = Date.now, observer }: { clock?: () => number; observer?: WriteObserver | undefined } = {},
): Executor {
  const once = new Once();
  return {
    write: async (executable) => {
      const { answer, executed } = await write(store, clock, executable).catch((error) => {
        if (error instanceof NoRoomError) return NOTHING_DONE;
        throw error;
      });
      if (answer !== null) observer?.wrote(executable.operation, answer);
      return executed;
    },
    record: ({ name, entry }) =>
      once.do(name, () =>
        store.write(entry.orgId ?? 'accounts', (trx) => recordAudit(trx, { ...entry, now: clock() })),
      ),
    noteUse: ({ orgId, id }, at) => {
      // A request is answered without it, and the next minute makes up for a failure.
      store.write('accounts', (trx) => touchKey(trx, { org_id: orgId, id }, at)).catch(() => undefined);
    },
  };
}

function fitting(room: Room, rendered: Rendered): Executed {
  return room.take(bytesToSend(rendered.body)) ? rendered : null;
}

/** Undoes a write for whose answer there is no room. */
class NoRoomError extends Error {}

const NOTHING_DONE: CarriedOut = { answer: null, executed: null };

/** What was written, null where nothing was or it failed, and what becomes of the request. */
interface CarriedOut {
  answer: Answer | null;
  executed: Executed;
}

async function write(store: Store, clock: () => number, executable: Executable): Promise<CarriedOut> {
  const { operation, call, exchange, keyed, room } = executable;
  const { now } = exchange;
  const { orgId } = call.access;
  const run = async (db: Db) => {
    if (exchange.givenUp !== null) throw exchange.givenUp;
    return operation.run({ ...call, db, now: await takeInstant(db, orgId, clock()) });
  };
  // Before the commit: what was done is undone where the answer cannot be given.
  const checked = (rendered: Rendered) => {
    if (!room.take(bytesToSend(rendered.body))) throw new NoRoomError();
    return rendered;
  };
  if (keyed === null) {
    return store.write(orgId, async (db): Promise<CarriedOut> => {
      const answer = await run(db);
      return { answer, executed: checked(renderAnswer(exchange, answer)) };
    });
  }
  return store.write(orgId, async (db): Promise<CarriedOut> => {
    // Nobody else writes to the organization now, so what another node or thread has done by now is there to be seen;
    // and copies that came to this one wait for each other before they come here.
    const isAnswered = store.isShared && (await findStoredResponse(db, keyed, now)).stored !== null;
    if (isAnswered || (await secondsUntilRoomIn(db, orgId, now)) > 0) return NOTHING_DONE;
    const { answer, rendered } = await attempt(db, () => run(db)).then(
      (answer) => ({ answer, rendered: renderAnswer(exchange, answer) }),
      (error) => ({ answer: null, rendered: renderStorable(exchange, error) }),
    );
    await storeAnswer(db, keyed, checked(rendered), now);
    return { answer, executed: rendered };
  });
}

// Of what fails, only "not found" and "conflict" are answers that a repeat of the request must get again.
function renderStorable(asked: Asked, error: unknown): Rendered {
  if (error instanceof ApiError && (error.status === 404 || error.status === 409))
    return renderError(asked, error);
  throw error;
}
