// Several connections for independent statements: each statement goes to the connection with the least to do.
import type { CompiledQuery } from 'kysely';
import { type Engine, type PreparedQuery, takeWhile } from '../engine/engine.ts';
import type { Db, Pipelining } from '../engine/schema.ts';
import type { PoolStats } from '../engine/store-stats.ts';
import { dbOf, type PostgresConnection } from './connection.ts';
import {
  bytePairs,
  firstRows,
  isAmong,
  isAmongNumbers,
  isIn,
  isPairAmong,
  now,
  opaque,
  rowVersion,
  texts,
  uuidBytes,
  within,
} from './expressions.ts';
import { PreparedStatement, type Rows, rowsOnly } from './prepared-query.ts';

export class PostgresPool implements Engine, Pipelining {
  readonly isAmong = isAmong;
  readonly isAmongNumbers = isAmongNumbers;
  readonly firstRows = firstRows;
  readonly isPairAmong = isPairAmong;
  readonly isIn = isIn;
  readonly answersAtOnce = false;
  readonly texts = texts;
  readonly bytePairs = bytePairs;
  readonly uuidBytes = uuidBytes;
  readonly opaque = opaque;
  readonly rowVersion = rowVersion;
  readonly now = now;
  readonly limitText = within;
  readonly db: Db = dbOf(this);
  readonly #connections: readonly PostgresConnection[];

  constructor(connections: readonly PostgresConnection[]) {
    this.#connections = connections;
  }

  pipelined(): Db {
    return this.#leastLoaded().db;
  }

  bind<R>({ sql: text }: CompiledQuery<R>): PreparedQuery<R> {
    const question = new PreparedStatement<R[]>(text, rowsOnly);
    return (values, takes) => {
      const asking = this.#leastLoaded().ask(question, values);
      return takes === undefined ? asking : asking.then((rows) => takeWhile(rows, takes));
    };
  }

  /** Runs a statement and returns its rows; integers are numbers, whatever their size. */
  run(text: string, values: readonly unknown[] = []): Promise<Rows> {
    return this.#leastLoaded().run(text, values);
  }

  /** The state of its connections, under the name of their purpose. */
  stats(purpose: string): PoolStats {
    const waiting = this.#connections.reduce((sum, { load }) => sum + Math.max(0, load - 1), 0);
    return { ...poolStats(purpose, this.#connections), waiting };
  }

  #leastLoaded(): PostgresConnection {
    let [least] = this.#connections;
    if (least === undefined) throw new Error('the pool is empty');
    for (const connection of this.#connections) if (connection.load < least.load) least = connection;
    return least;
  }
}

/** The state of connections for one purpose, each of which does one thing at a time. */
export function poolStats(
  purpose: string,
  connections: readonly PostgresConnection[],
): Omit<PoolStats, 'waiting'> {
  const sessions = connections.map((connection) => connection.sessions);
  return {
    purpose,
    size: connections.length,
    open: sessions.filter(({ isOpen }) => isOpen).length,
    busy: connections.filter(({ load }) => load > 0).length,
    opened: sessions.reduce((sum, { opened }) => sum + opened, 0),
    failed: sessions.reduce((sum, { failed }) => sum + failed, 0),
  };
}
