// How changes that other processes write into a file are noticed: by looking whether they have committed anything.
import type { ChangeSource } from '../engine/change-signals.ts';
import { statement } from '../engine/statement.ts';
import type { Connection, ReadConnection } from './connection.ts';
import { dataVersionOf } from './data-version.ts';

const LOOK_EVERY_MS = 250;

const lastChange = statement<{ last_change: number }>((db, param) =>
  db.selectFrom('org_clocks').select('last_change').where('org_id', '=', param('org')),
);

/** Looks with the connections of the process that writes. */
export function fileChanges(writer: Connection, reader: ReadConnection): ChangeSource {
  const dataVersion = dataVersionOf(writer);
  return {
    findLast: async (orgNumbers) => {
      // The reads of this turn share a snapshot, which could be older.
      reader.endSnapshot();
      const last = new Map<number, number>();
      for (const org of orgNumbers) {
        const [row] = await lastChange(reader.db, { org });
        if (row !== undefined) last.set(org, row.last_change);
      }
      reader.endSnapshot();
      return last;
    },
    watch: (listener) => {
      let seen = dataVersion();
      const timer = setInterval(() => {
        const version = dataVersion();
        if (version === seen) return;
        seen = version;
        listener.look();
      }, LOOK_EVERY_MS);
      return () => clearInterval(timer);
    },
  };
}
