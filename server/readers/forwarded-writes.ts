// Sends writes from the thread that checked them to the thread that executes them, and their responses back.

import type { RecordKey } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { allOperations } from '../interface.ts';
import type { Call, TransactionOperation } from '../operation.ts';
import type { RequestMeta } from '../pipeline/exchange.ts';
import { type Executable, type Executed, type Executor, storeExecutor } from '../pipeline/execute.ts';
import type { AuditEvent } from '../pipeline/export-audit.ts';
import type { KeyedRequest } from '../pipeline/replay.ts';
import { publicError, type Rendered } from '../pipeline/respond.ts';
import { bytesToSend, GrantedReservation } from '../pipeline/response-reservation.ts';
import { signingOf } from '../signing/signing.ts';
import type { Channel, Handler } from './channel.ts';

/** What a thread can ask the writing thread. */
export type WriteKind = 'write' | 'updateIndex' | 'noteUse' | 'record' | 'ready';

/** A write as it is sent. */
interface ForwardedWrite {
  operation: string;
  meta: RequestMeta;
  /** Without what the other thread has itself, and with an empty set of scopes. */
  call: Pick<Call, 'access' | 'origin' | 'params' | 'query' | 'body' | 'itemFaults' | 'ifMatch'>;
  scopes: string[];
  keyed: KeyedRequest | null;
  isDryRun: boolean;
  /** Bytes that its response can have. */
  roomBytes: number;
}

// Larger than any record: the size of a change to one record is unknown here.
const ROOM_BYTES = 1024 * 1024;

/** Executes writes in the thread at the other end. */
export function remoteExecutor(channel: Pick<Channel<WriteKind>, 'ask' | 'tell'>): Executor {
  return {
    write: async (executable) => {
      const { reservation } = executable;
      reservation.widen(ROOM_BYTES);
      const executed = decodeExecuted(await channel.ask('write', encode(executable)));
      if (typeof executed === 'number') reservation.lack(executed);
      else if (executed !== null) reservation.take(bytesToSend(executed.body));
      return typeof executed === 'number' ? null : executed;
    },
    updateIndex: async (orgNumber) => void (await channel.ask('updateIndex', String(orgNumber))),
    record: async (event) => void (await channel.ask('record', JSON.stringify(event))),
    noteUse: (key, at) => channel.tell('noteUse', JSON.stringify({ key, at })),
  };
}

/**
 * Executes on the store what other threads ask for.
 * @param options of the executor
 */
export function writeHandlers(
  store: Store,
  options?: Parameters<typeof storeExecutor>[1],
): Record<WriteKind, Handler> {
  const executor = storeExecutor(store, options);
  const operations = new Map(
    allOperations(signingOf(store), store.counters).map((operation) => [operation.id, operation]),
  );
  const decode = (text: string): Executable<TransactionOperation> & { reservation: GrantedReservation } => {
    const write = JSON.parse(text) as ForwardedWrite;
    const operation = operations.get(write.operation);
    if (operation === undefined || !(operation.isWrite || operation.isLookup))
      throw new Error(`unknown write ${write.operation}`);
    const { meta, keyed, isDryRun } = write;
    const access = { ...write.call.access, scopes: new Set(write.scopes) };
    const call = { ...write.call, access, baseUrl: meta.baseUrl };
    const reservation = new GrantedReservation(write.roomBytes);
    return { operation, call, exchange: { ...meta, givenUp: null }, keyed, isDryRun, reservation };
  };
  return {
    write: async (text) => {
      try {
        const executable = decode(text);
        const executed = await executor.write(executable);
        return encodeExecuted(executed ?? (executable.reservation.lacking || null));
      } catch (error) {
        // Here, where the engine's error objects are still intact.
        throw publicError(error);
      }
    },
    noteUse: (text) => {
      const { key, at } = JSON.parse(text) as { key: RecordKey; at: number };
      executor.noteUse(key, at);
    },
    updateIndex: async (text) => {
      try {
        await executor.updateIndex(Number(text));
      } catch (error) {
        throw publicError(error);
      }
    },
    record: (text) => executor.record(JSON.parse(text) as AuditEvent),
    ready: () => store.ready(),
  };
}

// A long body would grow as JSON inside JSON, so it follows the one-line rest.
function encodeExecuted(executed: Executed | number): string {
  if (executed === null) return '';
  if (typeof executed === 'number') return String(executed);
  const { body, ...rest } = executed;
  return `${JSON.stringify(rest)}\n${body}`;
}

// A number means that many bytes for which there was no room.
function decodeExecuted(text: string): Executed | number {
  if (text === '') return null;
  const end = text.indexOf('\n');
  if (end < 0) return Number(text);
  const rest = JSON.parse(text.slice(0, end)) as Omit<Rendered, 'body'>;
  return { ...rest, body: text.slice(end + 1) };
}

function encode({ operation, call, exchange, keyed, isDryRun, reservation }: Executable): string {
  const { access, params, query, body, itemFaults, ifMatch } = call;
  const { api, requestId, now, baseUrl } = exchange;
  const origin = { requestId, address: call.origin.address };
  const write: ForwardedWrite = {
    operation: operation.id,
    meta: { api, requestId, now, baseUrl },
    call: { access, origin, params, query, body, itemFaults, ifMatch },
    scopes: [...access.scopes],
    keyed,
    isDryRun,
    roomBytes: reservation.granted,
  };
  return JSON.stringify(write);
}
