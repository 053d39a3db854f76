// What is asked of databases: every statement and command, in order.

import type { SQLQueryBindings } from 'bun:sqlite';
import { spyOn } from 'bun:test';
import type { CompiledQuery } from 'kysely';
import type { Bound } from '../../db/engine.ts';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { Connection } from '../../db/sqlite/connection.ts';

/** Notes what every connection of this process is asked, those to be made included, until it is told to stop. */
export function observeConnections(): { asked: string[]; stop(): void } {
  const asked: string[] = [];
  const { bind, prepare, post } = Connection.prototype;
  const { ask } = PostgresConnection.prototype;
  const spies = [
    spyOn(Connection.prototype, 'bind').mockImplementation(function (this: Connection, query) {
      const run = bind.call(this, query);
      return (values) => {
        asked.push(query.sql);
        return run(values) as never;
      };
    }),
    spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection, sql) {
      asked.push(sql);
      return prepare.call(this, sql) as never;
    }),
    spyOn(Connection.prototype, 'post').mockImplementation(function (this: Connection, sql) {
      asked.push(sql);
      post.call(this, sql);
    }),
    spyOn(PostgresConnection.prototype, 'ask').mockImplementation(function (
      this: PostgresConnection,
      question,
      values,
    ) {
      asked.push(question.text);
      return ask.call(this, question, values) as never;
    }),
  ];
  return { asked, stop: () => spies.forEach((spy) => void spy.mockRestore()) };
}

export class ObservedConnection extends Connection {
  /** The text of each statement that was run, in order. */
  readonly asked: string[] = [];

  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string) {
    this.asked.push(sql);
    return super.prepare<R, P>(sql);
  }

  override bind<R>(query: CompiledQuery<R>): Bound<R> {
    const run = super.bind(query);
    return (values) => {
      this.asked.push(query.sql);
      return run(values);
    };
  }

  override post(sql: string): void {
    this.asked.push(sql);
    super.post(sql);
  }
}
