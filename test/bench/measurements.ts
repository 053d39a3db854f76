// What is measured once a build rather than by operations: how it starts, its memory, its file.
import { Database } from 'bun:sqlite';
import type { BuildName } from './servers.ts';
import { type Spread, spread } from './statistics.ts';

/** What a run has found out about a build. */
export interface Facts {
  /** Milliseconds from each start to the first answer. */
  starts: number[];
  bytesPerContact: number;
  /** Bytes of resident memory, before the first operation and after the last one. */
  memoryAtRest: number;
  memoryAfter: number;
}

export interface Measurement {
  name: string;
  label: string;
  unit: string;
  servers: Partial<Record<BuildName, Spread>>;
}

type Row = Omit<Measurement, 'servers'> & { values: (facts: Facts) => readonly number[] };

const MIB = 2 ** 20;

export const MEASUREMENTS: readonly Row[] = [
  { name: 'start', label: 'from the start to /readyz', unit: 'ms', values: ({ starts }) => starts },
  {
    name: 'memory',
    label: 'memory at rest (RSS)',
    unit: 'MiB',
    values: ({ memoryAtRest }) => [memoryAtRest / MIB],
  },
  {
    name: 'memory-after',
    label: 'memory after the run (RSS)',
    unit: 'MiB',
    values: ({ memoryAfter }) => [memoryAfter / MIB],
  },
  {
    name: 'disk',
    label: 'a contact on disk, with its indexes',
    unit: 'bytes',
    values: ({ bytesPerContact }) => [bytesPerContact],
  },
];

/** What the facts of each build come to. */
export function measured({ values, ...row }: Row, facts: ReadonlyMap<BuildName, Facts>): Measurement {
  const servers = [...facts].map(([name, ofBuild]) => [name, spread(values(ofBuild))]);
  return { ...row, servers: Object.fromEntries(servers) };
}

// The table, what is beside it, and the indexes of both.
const SIZE = `SELECT sum(pgsize) AS bytes, (SELECT count(*) FROM contacts) AS contacts FROM dbstat
  WHERE aggregate = TRUE
    AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name IN ('contacts', 'contact_emails'))`;

/** Bytes that contacts take in a database file, for each of them. */
export function bytesPerContact(path: string): number {
  using db = new Database(path, { readonly: true });
  const row = db.query<{ bytes: number; contacts: number }, []>(SIZE).get();
  return row === null ? 0 : row.bytes / row.contacts;
}
