// A database connection that tells of every statement it runs.
import type { SQLQueryBindings } from 'bun:sqlite';
import type { CompiledQuery } from 'kysely';
import type { Bound } from '../../db/engine.ts';
import { Connection } from '../../db/sqlite/connection.ts';

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
