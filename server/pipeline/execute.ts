// Step 8, execution: a read on the reader; a write in one transaction together with its stored response.

import { touchKey } from '../../db/accounts/keys.ts';
import { actingAs } from '../../db/engine/acting.ts';
import { keyAuthor } from '../../db/engine/author.ts';
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { RecordKey, Trx } from '../../db/engine/schema.ts';
import { secondsUntilRoomIn } from '../../db/engine/stored-response-bytes.ts';
import { rehearse, withSavepoint } from '../../db/engine/transaction.ts';
import { takeInstant } from '../../db/engine/write-instant.ts';
import type { ReadStore, Store } from '../../db/store.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { findStoredResponse } from '../../db/tables/idempotency.ts';
import { ApiError } from '../errors.ts';
import { IndexUpdates } from '../index-updates.ts';
import type { Answer, Call, EventFeed, Operation, StreamCall, TransactionOperation } from '../operation.ts';
import { Cursors } from '../signing/cursors.ts';
import { signingOf } from '../signing/signing.ts';
import type { Exchange, RequestMeta } from './exchange.ts';
import { type AuditEvent, type ExportAudit, OncePerName } from './export-audit.ts';
import type { WriteObserver } from './observer.ts';
import { isKnownVersion } from './preconditions.ts';
import { type KeyedRequest, saveStoredResponse } from './replay.ts';
import { type Rendered, renderAnswer, renderError, renderPage } from './respond.ts';
import { bytesToSend, type Reservation } from './response-reservation.ts';

/** A request that has passed every check. */
export interface Executable<O extends Operation = Operation> {
  operation: O;
  call: Omit<Call, 'db' | 'now'>;
  exchange: RequestMeta & Pick<Exchange, 'givenUp'>;
  keyed: KeyedRequest | null;
  /** Whether a write is undone once its response is known. */
  isDryRun: boolean;
  /** For its response. */
  reservation: Reservation;
}

/**
 * The response to a request; null if it must be checked again: nothing was done, or everything was undone, because the
 * response had no room, or because another request with the same key was answered, or stored responses reached their
 * limit, since the key was checked.
 */
export type Executed = Rendered | null;

/** Executes the writes of requests, and reads whose response is stored, on the store or through the thread that owns it. */
export interface Executor {
  write(executable: Executable<TransactionOperation>): Promise<Executed>;
  /** Notes when a key was last used, in Unix milliseconds; not awaited, and not guaranteed. */
  noteUse(key: RecordKey, at: number): void;
  /** Brings the search index of an organization up to date with its records. */
  updateIndex(orgNumber: number): Promise<void>;
  /** Adds an entry to the audit log that no other write adds; a repeated fact is added once. */
  record(event: AuditEvent): Promise<void>;
}

interface ExecutionServices {
  store: Pick<ReadStore, 'read'>;
  executor: Executor;
  exportAudit: ExportAudit;
  cursors: Cursors;
}

/** How a request is held open. */
export interface Holding extends Pick<StreamCall, 'wait' | 'lastEventId'> {
  /** The response with the events of a feed; @throws ApiError 429 */
  openStream(feed: EventFeed): Rendered;
}

/** Runs the operation of a request and returns its response. */
export function execute(
  { store, executor, exportAudit, cursors }: ExecutionServices,
  executable: Executable & { exchange: Exchange; holding: Holding },
): Eventually<Executed> {
  const { operation, call, exchange, reservation, holding } = executable;
  const { wait } = holding;
  if (operation.isWrite || (operation.isLookup && executable.keyed !== null))
    return executor.write({ ...executable, operation });
  const updateIndex = () => executor.updateIndex(call.access.orgNumber);
  const reading = { ...call, db: store.read, now: exchange.now, cursors, wait, updateIndex };
  if (operation.answerKind === 'stream') {
    return andThen(operation.run({ ...reading, lastEventId: holding.lastEventId }), holding.openStream);
  }
  return andThen(operation.run(reading), (answer) => {
    if (answer.status === 204 || answer.object !== 'list')
      return andThen(renderAnswer(exchange, answer), (rendered) =>
        withVersion(exchange, answer, fitting(reservation, rendered)),
      );
    const page = renderPage(exchange, answer);
    const rendered = fitting(reservation, page.rendered);
    if (rendered !== null) exportAudit.note(operation, call, exchange, page);
    return rendered;
  });
}

// Adds the version of a record, and sends nothing else to a client that has it.
function withVersion(exchange: Exchange, answer: Answer, rendered: Executed): Executed {
  if (rendered === null || !('version' in answer) || answer.version === undefined) return rendered;
  const { etag, json } = answer.version;
  exchange.headers.ETag = etag;
  return json !== null && isKnownVersion(exchange.request, etag) ? NOT_MODIFIED : rendered;
}

/**
 * Executes writes on a store.
 * @param options its clock, in Unix milliseconds, is read when an operation runs
 */
export function storeExecutor(
  store: Store,
  { clock = Date.now, observer }: { clock?: () => number; observer?: WriteObserver | undefined } = {},
): Executor {
  const once = new OncePerName();
  const cursors = new Cursors(signingOf(store));
  const index = new IndexUpdates(store);
  return {
    updateIndex: (orgNumber) => index.update(orgNumber),
    write: async (executable) => {
      const { answer, executed } = await write({ store, cursors }, clock, executable).catch((error) => {
        if (error instanceof NoRoomError) return NOTHING_DONE;
        throw error;
      });
      if (answer !== null && executable.operation.isWrite) observer?.wrote(executable.operation, answer);
      return executed;
    },
    record: ({ name, entry }) =>
      once.do(name, () =>
        store.write(entry.orgNumber ?? 'accounts', (trx) => recordAudit(trx, { ...entry, now: clock() })),
      ),
    noteUse: ({ orgNumber, id }, at) => {
      // The request does not depend on it, and the next minute makes up for a failure.
      store.write('accounts', (trx) => touchKey(trx, { org_id: orgNumber, id }, at)).catch(() => undefined);
    },
  };
}

function fitting(reservation: Reservation, rendered: Rendered): Executed {
  return reservation.take(bytesToSend(rendered.body)) ? rendered : null;
}

/** Undoes a write if there is no room for its response. */
class NoRoomError extends Error {}

const NOT_MODIFIED: Rendered = { status: 304, location: null, body: '' };
const NOTHING_DONE: CarriedOut = { answer: null, executed: null };

/** What was written (null if nothing was, or it failed), and the result for the request. */
interface CarriedOut {
  answer: Answer | null;
  executed: Executed;
}

async function write(
  { store, cursors }: { store: Store; cursors: Cursors },
  clock: () => number,
  executable: Executable<TransactionOperation>,
): Promise<CarriedOut> {
  const { operation, call, exchange, keyed, isDryRun, reservation } = executable;
  const { now } = exchange;
  const { orgNumber } = call.access;
  const run = async (db: Trx) => {
    if (exchange.givenUp !== null) throw exchange.givenUp;
    const trx = actingAs(db, keyAuthor(call.access.keyNumber, exchange.requestId));
    return operation.run({ ...call, db: trx, now: await takeInstant(db, orgNumber, clock()), cursors });
  };
  // Before the commit, so that a write is undone if its response cannot be given.
  const checked = (rendered: Rendered) => {
    if (!reservation.take(bytesToSend(rendered.body))) throw new NoRoomError();
    return rendered;
  };
  if (isDryRun) {
    return store.write(orgNumber, async (db): Promise<CarriedOut> => {
      const answer = await rehearse(db, () => run(db));
      return { answer: null, executed: checked(await renderAnswer(exchange, answer)) };
    });
  }
  if (keyed === null) {
    return store.write(orgNumber, async (db): Promise<CarriedOut> => {
      const answer = await run(db);
      return { answer, executed: checked(await renderAnswer(exchange, answer)) };
    });
  }
  return store.write(orgNumber, async (db): Promise<CarriedOut> => {
    // Under the organization's lock, this sees what other nodes and threads have committed; repeated requests on this node
    // have already waited for each other.
    const isAnswered = store.isShared && (await findStoredResponse(db, keyed, now)).stored !== null;
    if (isAnswered || (await secondsUntilRoomIn(db, orgNumber, now)) > 0) return NOTHING_DONE;
    const { answer, rendered } = await withSavepoint(db, () => run(db)).then(
      async (answer) => ({ answer, rendered: await renderAnswer(exchange, answer) }),
      (error) => ({ answer: null, rendered: renderStorable(exchange, error) }),
    );
    await saveStoredResponse(db, keyed, await withoutSecrets(exchange, answer, checked(rendered)), now);
    return { answer, executed: rendered };
  });
}

function withoutSecrets(asked: RequestMeta, answer: Answer | null, rendered: Rendered): Eventually<Rendered> {
  if (answer === null || !('stored' in answer) || answer.stored === undefined) return rendered;
  return renderAnswer(asked, { ...answer, data: answer.stored });
}

// Of all failures, only "not found" and "conflict" are stored for a repeated request.
function renderStorable(asked: RequestMeta, error: unknown): Rendered {
  if (error instanceof ApiError && (error.status === 404 || error.status === 409))
    return renderError(asked, error);
  throw error;
}
