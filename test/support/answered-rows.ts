// Counts the rows of an organization's tables that databases answer with, for all who ask.
import { spyOn } from 'bun:test';
import { PostgresConnection } from '../../db/postgres/connection.ts';
import { Connection } from '../../db/sqlite/connection.ts';

export interface AnsweredRows {
  /** So many until now. */
  count: number;
  [Symbol.dispose](): void;
}

// Not the looks whether others have written, which every store takes now and then.
const isCounted = (text: string) => text.includes('org_id') && !text.includes('org_clocks');

/** Counts those of every connection of this process, by statements that are not prepared yet, until it is disposed of. */
export function countAnsweredRows(): AnsweredRows {
  const { bind } = Connection.prototype;
  const { ask } = PostgresConnection.prototype;
  const counted: AnsweredRows = {
    count: 0,
    [Symbol.dispose]: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
  const spies = [
    spyOn(Connection.prototype, 'bind').mockImplementation(function (this: Connection, query) {
      const run = bind.call(this, query);
      return (values, takes) => {
        const rows = run(values, takes as never) as never[];
        if (isCounted(query.sql)) counted.count += rows.length;
        return rows;
      };
    }),
    spyOn(PostgresConnection.prototype, 'ask').mockImplementation(function (
      this: PostgresConnection,
      question,
      values,
    ) {
      const asking = ask.call(this, question, values) as Promise<readonly unknown[]>;
      const count = (rows: readonly unknown[]) => {
        if (isCounted(question.text)) counted.count += rows.length;
      };
      asking.then(count, () => undefined);
      return asking as never;
    }),
  ];
  return counted;
}
