// What is asked of databases: every statement and command, in order.

import type { SQLQueryBindings } from 'bun:sqlite';
import { spyOn } from 'bun:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { CompiledQuery } from 'kysely';
import type { PreparedQuery } from '../../db/engine/engine.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { Connection } from '../../db/sqlite/connection.ts';

export interface Observed {
  /** The text of each statement and command, in the order in which they are sent. */
  asked: string[];
  /**
   * Those of them that were sent to PostgreSQL over a connection on which nothing was under way: whatever follows before
   * their answer is there shares the way to the server and back.
   */
  trips: string[];
  /** @throws if nothing was noted, as when connections are asked otherwise than is looked at here */
  [Symbol.dispose](): void;
}

/** Notes what every connection of this process is asked, those to be made included, until it is disposed of. */
export function observeConnections(): Observed {
  const asked: string[] = [];
  const trips: string[] = [];
  let isUsed = false;
  const note = (text: string) => {
    isUsed = true;
    asked.push(text);
  };
  const { bind, prepare, post } = Connection.prototype;
  const { ask } = PostgresConnection.prototype;
  const spies = [
    spyOn(Connection.prototype, 'bind').mockImplementation(function (this: Connection, query) {
      const run = bind.call(this, query);
      return (values, takes) => {
        note(query.sql);
        return run(values, takes as never) as never;
      };
    }),
    spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection, sql) {
      note(sql);
      return prepare.call(this, sql) as never;
    }),
    spyOn(Connection.prototype, 'post').mockImplementation(function (this: Connection, sql) {
      note(sql);
      post.call(this, sql);
    }),
    spyOn(PostgresConnection.prototype, 'ask').mockImplementation(function (
      this: PostgresConnection,
      question,
      values,
    ) {
      if (this.load === 0) trips.push(question.text);
      note(question.text);
      return ask.call(this, question, values) as never;
    }),
  ];
  const dispose = () => {
    for (const spy of spies) spy.mockRestore();
    if (!isUsed) throw new Error('no connection was seen to be asked anything');
  };
  return { asked, trips, [Symbol.dispose]: dispose };
}

const ofWork = new AsyncLocalStorage<string[][]>();

/**
 * What some work asks of PostgreSQL, in waves: what is asked before an answer to the wave before is there belongs to that.
 * What others ask meanwhile, such as jobs in the background, does not count.
 */
export async function wavesOf(work: () => Promise<unknown>): Promise<string[][]> {
  const waves: string[][] = [];
  let answered = 0;
  const { ask } = PostgresConnection.prototype;
  const spy = spyOn(PostgresConnection.prototype, 'ask').mockImplementation(async function (
    this: PostgresConnection,
    question,
    values,
  ) {
    if (ofWork.getStore() !== waves) return (await ask.call(this, question, values)) as never;
    const wave = answered;
    waves[wave] = [...(waves[wave] ?? []), question.text];
    try {
      return (await ask.call(this, question, values)) as never;
    } finally {
      answered = Math.max(answered, wave + 1);
    }
  });
  try {
    await ofWork.run(waves, work);
  } finally {
    spy.mockRestore();
  }
  return waves;
}

export class ObservedConnection extends Connection {
  /** The text of each statement that was run, in order. */
  readonly asked: string[] = [];

  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string) {
    this.asked.push(sql);
    return super.prepare<R, P>(sql);
  }

  override bind<R>(query: CompiledQuery<R>): PreparedQuery<R> {
    const run = super.bind(query);
    return (values, takes) => {
      this.asked.push(query.sql);
      return run(values, takes);
    };
  }

  override post(sql: string): void {
    this.asked.push(sql);
    super.post(sql);
  }
}
