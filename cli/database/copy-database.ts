// Carries out `crm migrate`: opens and locks both databases, copies the tables, then compares them.

import { copyTable, countAllRows, tablesToCopy } from '../../db/copy/copy.ts';
import { atDatabase, type CopySource, type CopyTarget, DatabaseErrorAt } from '../../db/copy/database.ts';
import { digestOf, type TableDigest } from '../../db/copy/digest.ts';
import { beginCopy, endCopy } from '../../db/copy/readiness.ts';
import type { CopiedTable } from '../../db/copy/rows.ts';
import {
  analyzeDatabase,
  connectedProcesses,
  databaseIdentity,
  databaseLabel,
  openSnapshot,
  openStore,
} from '../../db/store.ts';
import { CliError, usageError, withStep } from '../errors.ts';
import { formatCount } from '../terminal/format.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { withProgress } from '../terminal/progress.ts';
import { note } from '../terminal/streams.ts';
import { recordAction } from './audit.ts';
import { databaseError, lockDatabase } from './database.ts';

export interface CopyRequest {
  from: string;
  to: string;
  quiet?: boolean;
}

/** The content of a table and of its copy. */
export interface ComparedTable extends TableDigest {
  table: string;
  is_same: boolean;
  copy: TableDigest;
}

export interface CopySummary {
  /** The databases, without passwords. */
  from: string;
  to: string;
  rows: number;
  /** Rows that this run copied; an earlier, interrupted run may have copied others. */
  rows_copied: number;
  seconds: number;
  is_same: boolean;
  tables: ComparedTable[];
}

const AGAIN = 'run the same command again to continue.';

/** Copies a database into an empty one, or continues an interrupted copy, and compares the two. */
export async function copyDatabase(request: CopyRequest): Promise<CopySummary> {
  await refuseWrongUse(request);
  if (!request.quiet) await tellOfUsers(request.from);
  return withSource(request.from, (from) => withTarget(request.to, (to) => fill(from, to, request)));
}

async function refuseWrongUse({ from, to }: CopyRequest): Promise<void> {
  const identity = (db: string) =>
    databaseIdentity(db).catch((error: unknown) => {
      throw databaseError(db, error);
    });
  const source = await identity(from);
  if (source === '') {
    throw new CliError(`No database found at ${from}.`, {
      nextSteps: ['choose the database to copy with --from.'],
    });
  }
  if (source !== (await identity(to))) return;
  throw usageError(
    `--from and --to name the same database, ${databaseLabel(from)}.`,
    'choose another database with --to: a new file, or an empty PostgreSQL database.',
  );
}

// A server would write to rows that are copied already, or serve a copy that is not complete.
async function withSource<T>(db: string, job: (from: CopySource) => Promise<T>): Promise<T> {
  return withDatabase(db, async (closing) => {
    const snapshot = await openSnapshot(db, note);
    closing.push(() => snapshot.close());
    closing.push(lockDatabase(db, 'crm migrate'));
    return job({ db, read: snapshot.read });
  });
}

async function withTarget<T>(db: string, job: (to: CopyTarget) => Promise<T>): Promise<T> {
  return withDatabase(db, async (closing) => {
    closing.push(lockDatabase(db, 'crm migrate'));
    await refuseUsed(db);
    const store = await openStore(db, { isBeingFilled: true, onWarning: note });
    closing.push(() => store.close());
    return job({ db, read: store.read, write: store.write });
  });
}

type Closing = (() => void | Promise<void>)[];

// Errors name the database in which they occurred.
async function withDatabase<T>(db: string, job: (closing: Closing) => Promise<T>): Promise<T> {
  const closing: Closing = [];
  try {
    return await job(closing);
  } catch (error) {
    if (error instanceof DatabaseErrorAt) throw withStep(databaseError(error.db, error.cause), AGAIN);
    throw databaseError(db, error);
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

// Any number of servers can share a PostgreSQL database, so no lock tells that one runs.
async function refuseUsed(db: string): Promise<void> {
  const users = await usersOf(db);
  if (users === null) return;
  throw new CliError(users, {
    nextSteps: ['stop each "crm serve" and any other command that uses it, then run the same command again.'],
  });
}

async function tellOfUsers(db: string): Promise<void> {
  const users = await usersOf(db);
  if (users !== null) note(`${users} The copy will not contain what it writes from now on.`);
}

async function usersOf(db: string): Promise<string | null> {
  const hosts = await connectedProcesses(db).catch((error: unknown) => {
    throw databaseError(db, error);
  });
  return hosts.length === 0
    ? null
    : `Another crm process uses the database ${databaseLabel(db)}, from ${hosts.join(', ')}.`;
}

async function fill(from: CopySource, to: CopyTarget, { quiet = false }: CopyRequest): Promise<CopySummary> {
  const startedAt = performance.now();
  const tables = await tablesToCopy();
  await begin(from, to, tables);
  const counts = await countAllRows(from, to, tables);
  const total = `${formatCount(counts.done)} of ${formatCount(counts.total)} rows`;
  if (counts.done > 0 && !quiet) note(`Continuing an interrupted copy: ${total} are already copied.`);
  const work = async (): Promise<ComparedTable[]> => {
    const shown = { unit: 'rows', total: counts.total, quiet };
    await withProgress({ ...shown, label: 'Copying', startAt: counts.done }, async (add) => {
      for (const table of tables) await copyTable(from, to, table, add);
    });
    return withProgress({ ...shown, label: 'Comparing' }, (add) =>
      Array.fromAsync(tables, (table) => compare(from, to, table, add)),
    );
  };
  const compared = await unlessInterrupted(work(), () => ({
    message: 'Interrupted. The rows copied so far are kept.',
    nextSteps: [AGAIN],
  }));
  const isSame = compared.every((table) => table.is_same);
  if (isSame) {
    await atDatabase(to, () => analyzeDatabase(to.db));
    const details = { from: databaseLabel(from.db), rows: counts.total };
    await endCopy(to, (trx) =>
      recordAction(trx, { action: 'data.migrated', orgNumber: null, target: null, details }),
    );
  }
  return {
    from: databaseLabel(from.db),
    to: databaseLabel(to.db),
    rows: counts.total,
    rows_copied: counts.total - counts.done,
    seconds: Math.round(performance.now() - startedAt) / 1_000,
    is_same: isSame,
    tables: compared,
  };
}

async function begin(from: CopySource, to: CopyTarget, tables: readonly CopiedTable[]): Promise<void> {
  const readiness = await beginCopy(from, to, tables);
  if (readiness === 'empty' || readiness === 'begun') return;
  const what = readiness === 'not empty' ? 'is not empty' : 'holds an incomplete copy of another database';
  throw new CliError(`The database ${databaseLabel(to.db)} ${what}.`, {
    nextSteps: ['choose a new file or an empty database with --to (createdb NAME).'],
  });
}

async function compare(
  from: CopySource,
  to: CopySource,
  table: CopiedTable,
  onRows: (count: number) => void,
): Promise<ComparedTable> {
  const [source, copy] = await Promise.all([
    digestOf(from, table, onRows),
    digestOf(to, table, () => undefined),
  ]);
  const isSame = source.rows === copy.rows && source.digest === copy.digest;
  return { table: table.name, ...source, is_same: isSame, copy };
}
