// Sends writes from the thread that checked them to the thread that executes them, and their responses back.

import type { RecordKey } from '../../db/engine/schema.ts';
import type { Fault } from '../../db/model/faults.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Store } from '../../db/store.ts';
import type { Access } from '../access.ts';
import { allOperations } from '../interface.ts';
import type { WriteOperation } from '../operation.ts';
import type { RequestMeta } from '../pipeline/exchange.ts';
import { type Executable, type Executed, type Executor, storeExecutor } from '../pipeline/execute.ts';
import type { AuditEvent } from '../pipeline/export-audit.ts';
import type { KeyedRequest } from '../pipeline/replay.ts';
import { publicError, type Rendered } from '../pipeline/respond.ts';
import { bytesToSend, GrantedReservation } from '../pipeline/response-reservation.ts';
import type { RequestOrigin } from '../request-origin.ts';
import { signingOf } from '../signing/signing.ts';
import type { Channel, Handler } from './channel.ts';

/** What a thread can ask the writing thread. */
export type WriteKind = 'write' | 'noteUse' | 'record' | 'ready';

interface Written {
  operation: string;
  asked: RequestMeta;
  access: Omit<Access, 'scopes'>;
  scopes: string[];
  origin: RequestOrigin;
  params: Record<string, string>;
  query: Record<string, JsonValue>;
  body: JsonValue;
  itemFaults: readonly Fault[][];
  keyed: KeyedRequest | null;
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
  const decode = (text: string): Executable<WriteOperation> & { reservation: GrantedReservation } => {
    const { asked, access, scopes, origin, params, query, body, itemFaults, ...rest } = JSON.parse(
      text,
    ) as Written;
    const operation = operations.get(rest.operation);
    if (!operation?.isWrite) throw new Error(`unknown write ${rest.operation}`);
    const { baseUrl } = asked;
    const whole = { ...access, scopes: new Set(scopes) };
    const call = { access: whole, origin, params, query, body, itemFaults, baseUrl };
    const reservation = new GrantedReservation(rest.roomBytes);
    return { operation, call, exchange: { ...asked, givenUp: null }, keyed: rest.keyed, reservation };
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

function encode({ operation, call, exchange, keyed, reservation }: Executable): string {
  const { access, origin, params, query, body, itemFaults } = call;
  const { api, requestId, now, baseUrl } = exchange;
  const written: Written = {
    operation: operation.id,
    asked: { api, requestId, now, baseUrl },
    access,
    scopes: [...access.scopes],
    origin: { requestId, address: origin.address },
    params,
    query,
    body,
    itemFaults,
    keyed,
    roomBytes: reservation.granted,
  };
  return JSON.stringify(written);
}
